"""What Stan's optimiser finds, and whether the program's own gaps are those of the polished optimum."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskedadv.engines import Engine
from maskedadv.errors import NotConverged, OptimaDiffer

Array = NDArray[np.float64]
Pairs = NDArray[np.intp]

APART = 1e-3
"""Largest difference (logit) allowed between a gap at Stan's optimum and at the polished one."""
DOUBTED = APART / 2
"""Difference from which Stan is asked again, from the polished optimum: a direction is flat."""

NO_PAIRS: Pairs = np.zeros((0, 2), dtype=np.intp)


@dataclass(frozen=True)
class StanOptimum:
    """Where Stan stopped.

    Attributes
    ----------
    variables : the program's parameters there; the start's where Stan gave no point
    gap : the program's own gaps (generated quantities), shape (K,); NaN where Stan gave no point
    trouble : why Stan gave no point, in words; empty if it did
    """

    variables: dict[str, Array]
    gap: Array
    trouble: str = ""


def find_optimum(
    engine: Engine, program: str, data: Mapping[str, Any], start: Mapping[str, Array | float], seed: int
) -> StanOptimum:
    """Maximise a program; where the optimiser fails, the start is what Newton's method goes on from."""
    try:
        stop = engine.optimize(program, data, start, seed=seed)
    except NotConverged as error:
        held = {name: np.atleast_1d(np.asarray(v, dtype=np.float64)) for name, v in start.items()}
        return StanOptimum(held, np.full(int(data["K"]), np.nan), str(error))
    variables = {name: np.atleast_1d(stop.variables[name]) for name in start}
    return StanOptimum(variables, np.atleast_1d(stop.variables["gap"]) if data["K"] else np.zeros(0))


def contrast_data(pairs: Pairs) -> dict[str, Any]:
    """Data of `stan/blocks/contrasts.stan` from pairs of cells, shape (K, 2)."""
    return {"K": len(pairs), "first": pairs[:, 0] + 1, "second": pairs[:, 1] + 1}


def pairs_among(pairs: Pairs, cells: NDArray[np.intp], n_cells: int) -> Pairs:
    """The pairs whose two cells are among `cells`, as places there, shape (K', 2)."""
    place = np.full(n_cells, -1, dtype=np.intp)
    place[cells] = np.arange(len(cells))
    inside = place[pairs]
    return np.asarray(inside[(inside >= 0).all(axis=1)])


def largest_difference(stop: StanOptimum, ability: Array, pairs: Pairs) -> float:
    """Between the program's own gaps and those of polished abilities (C,), logit; NaN where Stan has none.

    Of gaps beyond 1 logit in their own units: with an ability that hardly any answer bounds, digits run out.
    """
    if not len(pairs):
        return 0.0
    polished = ability[pairs[:, 0]] - ability[pairs[:, 1]]
    return float((np.abs(stop.gap - polished) / np.maximum(1.0, np.abs(polished))).max())


def require_agreement(program: str, apart: float) -> None:
    """Refuse an optimum whose gaps are not the program's own.

    Raises
    ------
    OptimaDiffer
    """
    if apart > APART:
        raise OptimaDiffer(
            f"a gap at Stan's optimum of '{program}' differs by {apart:.2g} logit from the polished one (at "
            f"most {APART:g} is allowed): one of the two is no maximum. Please report this table."
        )
