"""Where labels go so that they do not cover each other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


Box = tuple[float, float, float, float]
"""Left, right, lower and upper edge."""


def beside_points(
    x: Array, y: Array, texts: Sequence[str], inches: float, span: float, avoid: Sequence[Box] = ()
) -> tuple[Array, Array]:
    """Centres of labels next to points, greedily away from points, lines and earlier labels.

    Parameters
    ----------
    x, y : shape (n,), data units, both axes alike
    texts : n labels
    inches, span : length of either axis in inches and in data units
    avoid : boxes that are better not covered, such as lines

    Returns
    -------
    Two arrays of shape (n,) in data units.
    """
    unit = span / inches
    half_height = 0.065 * unit
    taken: list[Box] = []
    out_x, out_y = np.array(x, dtype=float), np.array(y, dtype=float)
    for k, text in enumerate(texts):
        half_width = (0.034 * len(text) + 0.02) * unit
        best, least = (0.0, 0.0), np.inf
        for ring in (1.0, 2.0, 3.2):
            for dx, dy in ((1, 1), (1, -1), (-1, 1), (-1, -1), (1, 0), (0, 1), (-1, 0), (0, -1)):
                at_x = x[k] + dx * (half_width + 0.06 * unit * ring)
                at_y = y[k] + dy * (half_height + 0.06 * unit * ring)
                box = (at_x - half_width, at_x + half_width, at_y - half_height, at_y + half_height)
                cost = 0.05 * ring + sum(_overlap(box, other) for other in taken)
                cost += 0.3 * sum(_overlap(box, other) for other in avoid)
                near = (np.abs(x - at_x) < half_width + 0.03 * unit) & (
                    np.abs(y - at_y) < half_height + 0.03 * unit
                )
                cost += 0.7 * near.sum()
                if cost < least:
                    best, least = (at_x, at_y), cost
        out_x[k], out_y[k] = best
        taken.append(
            (best[0] - half_width, best[0] + half_width, best[1] - half_height, best[1] + half_height)
        )
    return out_x, out_y


def _overlap(a: Box, b: Box) -> float:
    return float(a[0] < b[1] and b[0] < a[1] and a[2] < b[3] and b[2] < a[3])


def spread(values: Array, distance: float) -> Array:
    """The values moved as little as a single pass needs so that neighbours keep a distance, order kept."""
    order = np.argsort(values, kind="stable")
    placed = np.array(values, dtype=float)[order]
    for k in range(1, len(placed)):
        placed[k] = max(placed[k], placed[k - 1] + distance)
    placed -= (placed - values[order]).mean() if len(placed) else 0.0
    out = np.empty_like(placed)
    out[order] = placed
    return out
