"""What an exhibit is, what it is made from, and what stands in the place of one that is not there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from maskedadv.errors import MissingFacts, NothingToDraw
from maskedadv.result.fit_result import Fit
from maskedadv.summaries import Joint

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Marks:
    """Places of a figure, each a row of a table on the page, which tells of it under the pointer or by keys.

    Attributes
    ----------
    table
        Name of the table.
    row
        Rows of the table as it is displayed, counted from 0; shape (M,).
    panel
        Index of the panel of each place; shape (M,).
    x, y
        Centres in the panel's data; the values of a discrete axis count from 1. Shape (M,).
    width, height
        In the panel's data; 0 for a disc about a point.
    gaps
        Which column each panel is about, by heading; empty for all.
    """

    table: str
    row: NDArray[np.intp]
    panel: NDArray[np.intp]
    x: Array
    y: Array
    width: float = 0.0
    height: float = 0.0
    gaps: tuple[str, ...] = ()


@dataclass(frozen=True)
class Exhibit:
    """One thing to show.

    Attributes
    ----------
    name
        Stem of its files, unique, letters and dashes.
    title, caption, alt
        Heading; how to read it and what it shows; the same for those who cannot see the figure.
    figure
        A plotnine figure, or None where a table says it all.
    tables
        Tidy tables by name (stem of their files).
    folded
        Whether the page shows it only when asked.
    marks
        What its places tell, from below to above.
    """

    name: str
    title: str
    caption: str
    alt: str = ""
    figure: Any = None
    tables: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    folded: bool = False
    marks: tuple[Marks, ...] = ()


@dataclass(frozen=True)
class Omitted:
    """An exhibit that is not there, and what would bring it."""

    title: str
    reason: str


@dataclass(frozen=True)
class Source:
    """What exhibits are made from: the fit, its joint uncertainty, facts, and a posterior's own tables.

    `checks` holds results of other commands on the same data, by the command's name.
    """

    fit: Fit
    joint: Joint
    models: pd.DataFrame | None
    locales: pd.DataFrame
    pivot: str
    families: tuple[str, ...]
    posterior: Mapping[str, pd.DataFrame]
    checks: Mapping[str, Any] = field(default_factory=dict)

    def model_table(self) -> pd.DataFrame:
        """The facts about the models.

        Raises
        ------
        MissingFacts
        """
        if self.models is None:
            raise MissingFacts("no model table was given; write models.csv and give it with --models.")
        return self.models


Make = Callable[[Source, str], list[Exhibit]]
"""From a source and a title to exhibits: none where there is nothing to say of such a result."""


def build(source: Source, exhibits: Sequence[tuple[str, Make]]) -> tuple[list[Exhibit], list[Omitted]]:
    """Every exhibit that the result and the facts allow, in the order given, and what was left out."""
    made: list[Exhibit] = []
    left: list[Omitted] = []
    for title, make in exhibits:
        try:
            made += make(source, title)
        except (MissingFacts, NothingToDraw) as error:
            left.append(Omitted(title, str(error)))
    return made, left


def by_reason(omitted: Sequence[Omitted]) -> list[tuple[str, str]]:
    """Titles that share a reason, together: (titles, reason)."""
    titles: dict[str, list[str]] = {}
    for one in omitted:
        titles.setdefault(one.reason, []).append(one.title)
    return [(", ".join(names), reason) for reason, names in titles.items()]
