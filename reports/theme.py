"""How every figure looks: one theme, colours that colour-blind readers can tell, labels that are safe."""

from __future__ import annotations

import math
from collections import UserList
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import plotnine as p9

from maskedadv.words.distinct import shorten_distinct
from maskedadv.words.terminal import clean, shorten

INK = "#1f2933"
MUTED = "#5f6b7a"
GRID = "#e4e7eb"
PAPER = "#ffffff"
CELL_INK = "#1e2832"  # text on a coloured cell: dark in the dark page as well

NEGATIVE, ZERO, POSITIVE = "#b35806", "#8a94a3", "#2166ac"
"""Clearly below zero, not clear, clearly above: orange and blue differ for every kind of colour vision."""

DIVERGING = ("#b35806", "#e08214", "#fdb863", "#f7f7f7", "#92c5de", "#4393c3", "#2166ac")
"""Orange to blue through near-white (after ColorBrewer PuOr and RdBu)."""

CATEGORIES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7a5195", "#6b6b6b")
"""After Okabe and Ito; the last one is for "other"."""

MANY = 600
"""Marks in a layer; beyond it the layer is a bitmap, so that a page stays small."""


class theme_maskedadv(p9.theme_minimal):  # noqa: N801 - as plotnine names its themes
    """The plotnine theme of all figures.

    Parameters
    ----------
    width, height
        Inches.
    families
        Font families in order of preference; see `maskedadv.reports.fonts.fonts_for`.
    base_size
        Points.
    """

    def __init__(
        self,
        width: float = 7.0,
        height: float = 4.0,
        families: Sequence[str] = ("DejaVu Sans",),
        base_size: float = 9,
    ) -> None:
        super().__init__(base_size)
        self += p9.theme(
            figure_size=(width, height),
            # A list or tuple as long as there are labels would be dealt out among them, a family each.
            text=p9.element_text(color=INK, family=UserList(families)),
            plot_title=p9.element_text(size=base_size + 2, weight="bold", ha="left"),
            plot_title_position="plot",
            axis_title=p9.element_text(color=MUTED, size=base_size),
            axis_text=p9.element_text(color=INK, size=base_size - 1),
            strip_text=p9.element_text(weight="bold", size=base_size, ha="left"),
            strip_background=p9.element_blank(),
            panel_grid_major=p9.element_line(color=GRID, size=0.6),
            panel_grid_minor=p9.element_blank(),
            panel_border=p9.element_blank(),
            plot_background=p9.element_rect(fill=PAPER, color=PAPER),
            panel_background=p9.element_blank(),
            legend_position="bottom",
            legend_title=p9.element_text(color=MUTED, size=base_size - 1),
            legend_text=p9.element_text(size=base_size - 1),
            legend_key=p9.element_blank(),
        )


def label(text: Any, width: int = 30) -> str:
    """An id as it may stand in a figure: one line, no control characters, short, and `$` not mathtext."""
    return shorten(clean(str(text)), width).replace("$", r"\$")


def labels(values: Iterable[Any]) -> list[str]:
    """`label` of each value, those that differ staying different: what a discrete scale wants."""
    return distinct_labels(values)


def named_or_not(close: bool) -> dict[str, Any]:
    """Arguments of a discrete scale whose values stand too close for names, or have them."""
    return {"breaks": []} if close else {"labels": labels}


def distinct_labels(values: Iterable[Any], width: int = 30) -> list[str]:
    """`label` of each value; values that differ have labels that differ."""
    texts = [clean(str(value)) for value in values]
    shown = shorten_distinct(texts, width)
    return [shown[text].replace("$", r"\$") for text in texts]


def label_inches(values: Iterable[Any], size: float = 8) -> float:
    """About how wide the longest label is, in inches, at `size` points."""
    from maskedadv.words.terminal import display_width

    return max((display_width(label(v)) for v in values), default=0) * size * 0.6 / 72


def diverging_fill(limit: float, name: str) -> p9.scale_fill_gradientn:
    """Colours from −limit to limit with zero in the middle, grey-white; beyond the limit the end colours."""
    top = max(math.ceil(10 * limit) / 10, 0.1)
    return p9.scale_fill_gradientn(
        colors=list(DIVERGING), limits=(-top, top), oob=_squish, labels=axis_number, name=name, guide=_guide()
    )


def _guide() -> Any:
    """Plain rectangles: a smooth gradient takes a megabyte of SVG."""
    return p9.guide_colorbar(display="rectangles", nbin=41)


def _squish(values: Any, range: Sequence[float] = (0, 1)) -> Any:
    return np.clip(values, range[0], range[1])


def axis_number(values: Iterable[float]) -> list[str]:
    """Tick labels with a real minus sign."""
    return [f"{v:g}".replace("-", "−") for v in values]
