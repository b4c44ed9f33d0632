"""What an engine can do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

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


class Engine(Protocol):
    """Runs a Stan program by name (`rasch_joint`, ...)."""

    @property
    def name(self) -> str:
        """`embedded` or `cmdstan`."""

    @property
    def version(self) -> str:
        """Version of what computes."""

    def optimize(self, program: str, data: Data, inits: Values, *, seed: int) -> Optimum:
        """Maximise the program's log density by L-BFGS from `inits`.

        Raises
        ------
        EngineFailed
            The engine gave no usable point.
        """

    def log_density(self, program: str, data: Data, values: Values) -> tuple[float, NDArray[np.float64]]:
        """Log density and its gradient on the unconstrained scale at constrained `values`."""
