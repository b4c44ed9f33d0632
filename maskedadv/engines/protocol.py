"""What an engine can do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from maskedadv.settings import Sampler

Data = Mapping[str, Any]
Values = Mapping[str, NDArray[np.float64] | float]


@dataclass(frozen=True)
class Optimum:
    """Where an optimiser stopped.

    Attributes
    ----------
    variables
        Every variable of the program by name, at its declared shape (generated quantities too).
    log_density
        Log density there, up to Stan's constants.
    """

    variables: dict[str, NDArray[np.float64]]
    log_density: float


STATS = ("lp", "acceptance_rate", "step_size", "tree_depth", "n_steps", "diverging", "energy")
"""ArviZ's names of Stan's sampler columns, in Stan's order: lp__, accept_stat__, stepsize__, ..."""


@dataclass(frozen=True)
class Chains:
    """Draws after warmup.

    Attributes
    ----------
    variables
        Every variable of the program by name, shape chains × draws × the declared shape.
    stats
        `STATS`, shape (chains, draws).
    """

    variables: dict[str, NDArray[np.float64]]
    stats: dict[str, NDArray[np.float64]]


class Engine(Protocol):
    """Runs a Stan program by name (`ml_joint`, ...)."""

    @property
    def name(self) -> str:
        """Its name in `maskedadv.engines.table`."""

    @property
    def version(self) -> str:
        """Version of what computes."""

    def require(self) -> None:
        """See whether what computes is there.

        Raises
        ------
        EngineMissing
            It is not installed, or too old.
        """

    def optimize(self, program: str, data: Data, inits: Values, *, seed: int) -> Optimum:
        """Maximise the program's log density by L-BFGS from `inits`.

        Raises
        ------
        NotConverged
            The optimiser gave no usable point.
        EngineFailed
            The program could not be compiled, or does not take these data.
        """

    def log_density(self, program: str, data: Data, values: Values) -> tuple[float, NDArray[np.float64]]:
        """Log density and its gradient on the unconstrained scale at constrained `values`."""

    def sample(
        self,
        program: str,
        data: Data,
        inits: Sequence[Values],
        sampler: Sampler,
        *,
        seed: int,
        threads: int | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> Chains:
        """Draw from the program's posterior by NUTS, one chain from each of `inits`.

        Parameters
        ----------
        threads
            Chains run at the same time; None for one a core. Changes no number.
        progress
            Called with a line of text now and then, per chain.

        Raises
        ------
        EngineFailed
            A chain could not be started or stopped early.
        """
