"""Does the result hang on one family or one model? The extended model refitted without each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from maskedadv.errors import NotEstimable
from maskedadv.validity.regression import proxy_coefficient

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Refit:
    """The extended model without one group of models; it passes with beta > 0 and p below alpha."""

    left_out: str
    n_models: int
    beta: float
    p: float
    passes: bool
    reason: str = ""


def leave_one_out(
    native: Floats,
    controls: Floats,
    proxy: Floats,
    groups: Sequence[str],
    alpha: float = 0.05,
    controls_called: Sequence[str] = (),
) -> tuple[Refit, ...]:
    """Refit without each group (a model family, or a model), in sorted order of the groups.

    A refit that cannot be estimated does not pass, and has a reason.

    Raises
    ------
    NotEstimable
        There is only one group, so that nothing would be left.
    """
    labels = np.asarray(groups, dtype=object)
    names = sorted(set(groups))
    if len(names) < 2:
        raise NotEstimable(f"all models are of one family ({names[0]}), so none can be left out")
    return tuple(
        _refit(native, controls, proxy, labels != name, name, alpha, controls_called) for name in names
    )


def _refit(
    native: Floats,
    controls: Floats,
    proxy: Floats,
    keep: NDArray[np.bool_],
    name: str,
    alpha: float,
    called: Sequence[str],
) -> Refit:
    try:
        beta, p = proxy_coefficient(native[keep], controls[keep], proxy[keep], called)
    except NotEstimable as error:
        return Refit(name, int(keep.sum()), np.nan, np.nan, passes=False, reason=str(error))
    return Refit(name, int(keep.sum()), beta, p, passes=bool(beta > 0 and p < alpha))
