"""The one front door: from a response table and settings to labelled blocks, complete for all that follows.

Nothing behind it sees the response table. `fit`, `check` and the export of Stan's data come in here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from maskedadv.design.accuracy_filter import Dropped, cell_accuracy, filter_models
from maskedadv.design.answered import Answered
from maskedadv.design.blocks import (
    Block,
    build_block,
    choose_locales,
    observed_values,
    require_response,
    require_shared_items,
    values_of,
)
from maskedadv.design.cells import Cells, Counted, count_cells, of_models
from maskedadv.design.logits import clipped_note, rated_values
from maskedadv.design.missing import UnevenCell, uneven_cells
from maskedadv.design.options import chance_of_items, options_notes
from maskedadv.responses import Responses
from maskedadv.responses.stored import StoredResponses
from maskedadv.settings import Settings
from maskedadv.warnings.kinds import Warned

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Design:
    """A table made ready to be fitted.

    Attributes
    ----------
    pivot : language to compare with
    locales : in the order asked for
    models : ids of the models that any block holds, sorted, shape (J,)
    blocks : labelled answers of every subset and locale; a subset without answers has none
    cells : of every locale
    n_items : items of the whole table, which bootstrap weights are drawn for
    has_floor : whether blocks hold a guessing floor for every item
    dropped : models left out of a locale for their accuracy
    notes : what a reader should know of the data
    fingerprint, rows, answers : of the table; answers that any block holds, each counted once
    other : with missing answers treated the other way, where that is to be fitted, too
    among : all locales of the run, where these are some of them; files of locales are named by their place
    """

    pivot: str
    locales: tuple[str, ...]
    models: NDArray[np.object_]
    blocks: tuple[Block, ...]
    cells: Mapping[str, Cells]
    n_items: int
    has_floor: bool
    dropped: tuple[Dropped, ...]
    notes: tuple[Warned, ...]
    fingerprint: str
    rows: int
    answers: int
    other: Design | None = None
    among: tuple[str, ...] = ()

    def in_both(self, locale: str, block: Block) -> tuple[Array, Array]:
        """Local and pivot answers of every model to a block's items, (J, I); NaN where one does not count."""
        return block.in_both(locale, self.models, self.cells[locale].keep)

    def of_locale(self, locale: str) -> dict[int, Block]:
        """The blocks that serve a locale, by subset index."""
        return {b.subset: b for b in self.blocks if locale in b.locales}


Table = Responses | StoredResponses


@dataclass(frozen=True)
class Rows:
    """Answers in memory: at least those that the locales asked for rest on.

    Attributes
    ----------
    values : what is fitted, with the codes and ids of the whole table
    rated : what accuracy is the mean of
    """

    values: Answered
    rated: Answered


@dataclass(frozen=True)
class Opened:
    """A table with what every locale's preparation needs of it; see `open_table`.

    Attributes
    ----------
    chance : guessing floor of every item, shape (I,); None for none
    locales : that are to be fitted
    whole : all rows; None for a table that stays in its files
    """

    table: Table
    settings: Settings
    chance: Array | None
    locales: tuple[str, ...]
    whole: Rows | None

    def rows(self, locales: Sequence[str]) -> Rows:
        """What the preparation of some locales is made from."""
        if self.whole is not None:
            return self.whole
        own, response = self.table.of_locales(locales, self.settings.pivot), self.settings.response
        return _rows(own, values_of(own, response), response)


def prepare(table: Table, settings: Settings) -> Design:
    """Everything that a fit needs of a table; see `Settings.missing` for the design at the other end.

    Raises
    ------
    WrongResponse, PivotMissing, UnknownLocale, NoSharedItem, NothingLeft, NoOptions, BadValue
        What was asked for does not go with the table.
    """
    opened = open_table(table, settings)
    design = prepare_locales(opened, opened.locales)
    end = other_end(settings, uneven_cells(design))
    if not end:
        return design
    other = prepare_locales(replace(opened, settings=replace(settings, missing=end)), opened.locales)
    return replace(design, other=other)


def other_end(settings: Settings, uneven: Sequence[UnevenCell]) -> str:
    """How missing answers are treated in a second fit, where there is to be one; else empty."""
    if settings.method != "optimize" or settings.response == "crm":
        return ""
    if settings.missing == "wrong":
        return "left-out"
    return "wrong" if settings.missing == "auto" and uneven else ""


def open_table(table: Table, settings: Settings) -> Opened:
    """The part of the preparation that is the same for every locale.

    Raises
    ------
    WrongResponse, PivotMissing, UnknownLocale, NoOptions, BadValue
    """
    floor = settings.response == "binary" and settings.variants != "none"
    whole = None
    if isinstance(table, Responses):
        values = observed_values(table, settings.response)
        whole = _rows(table, values, settings.response)
    else:
        require_response(table.columns, settings.response)
    return Opened(
        table=table,
        settings=settings,
        chance=chance_of_items(table, settings.guessing, settings.options) if floor else None,
        locales=tuple(choose_locales(table, settings.locale, settings.pivot)),
        whole=whole,
    )


def _rows(responses: Responses, values: Array, response: str) -> Rows:
    rated = rated_values(responses, response)
    answered = Answered(responses, values)
    return Rows(answered, answered if rated is values else Answered(responses, rated))


def prepare_locales(
    opened: Opened, locales: Sequence[str], rows: Rows | None = None, counted: Counted | None = None
) -> Design:
    """The design of some of the table's locales.

    Parameters
    ----------
    rows : of these locales, where they were read already
    counted : pivot answers that designs of other locales of the table hold, to which those of this one are
        added; the design then has all models of the table, so that designs can be joined. None for a design
        that stands alone.

    Raises
    ------
    NoSharedItem, NothingLeft
    """
    rows = rows or opened.rows(locales)
    responses, settings = rows.values.responses, opened.settings
    pivot = settings.pivot
    require_shared_items(rows.values, locales, pivot)
    keep, dropped = filter_models(rows.rated, locales, pivot, settings.min_accuracy, settings.min_accuracy_on)
    blocks = []
    for subset, served in _tasks(locales, settings.scope):
        kept = keep[[locales.index(k) for k in served]]
        block = build_block(
            rows.values,
            subset=subset,
            locales=served,
            pivot=pivot,
            keep_model=kept,
            chance=opened.chance,
            wrong_if_missing=settings.missing == "wrong",
        )
        if block is not None:
            blocks.append(block)
    used = np.isin(responses.models, np.concatenate([b.model for b in blocks])) if blocks else keep[0]
    if counted is not None:
        used = np.ones(len(responses.models), dtype=bool)
    cells = {}
    for k, locale in enumerate(locales):
        own = [b for b in blocks if locale in b.locales]
        found = count_cells(own, responses.models[used], locale, keep[k, used])
        if settings.response == "crm":  # the blocks' answers are logits
            accuracy, _ = cell_accuracy(rows.rated, locale, pivot)
            accuracy = np.where(found.n_items > 0, accuracy[used], np.nan)
            found = Cells(found.keep, accuracy, found.n_items, found.n_paired)
        cells[locale] = found
    return Design(
        pivot=pivot,
        locales=tuple(locales),
        models=responses.models[used],
        blocks=tuple(blocks),
        cells=cells,
        n_items=len(responses.items),
        has_floor=opened.chance is not None,
        dropped=tuple(dropped),
        notes=tuple(_notes(opened)),
        fingerprint=responses.fingerprint,
        rows=len(opened.table),
        among=() if counted is None else opened.locales,
        answers=(counted or Counted(len(responses.models), len(responses.items))).add(
            responses.models, blocks
        ),
    )


def join_designs(parts: Sequence[Design]) -> tuple[Design, NDArray[np.bool_]]:
    """All locales of one table, from some each, without answers; and which of the parts' models it has."""
    first = parts[0]
    used = np.ones(len(first.models), dtype=bool)
    if len(parts) > 1:  # they have all models of the table
        cells = [own for part in parts for own in part.cells.values()]
        used = np.logical_or.reduce([(own.n_items > 0).any(axis=(1, 2)) for own in cells])
    joined = replace(
        first,
        models=first.models[used],
        locales=tuple(k for part in parts for k in part.locales),
        blocks=(),
        cells={k: of_models(own, used) for part in parts for k, own in part.cells.items()},
        dropped=tuple(d for part in parts for d in part.dropped),
        answers=sum(part.answers for part in parts),
        other=None,
    )
    return joined, used


def _tasks(locales: Sequence[str], scope: str) -> list[tuple[int, tuple[str, ...]]]:
    """(subset, locales served) of every block."""
    if scope == "joint":
        first: list[tuple[int, tuple[str, ...]]] = [(0, tuple(locales))]
        return first + [(1, (k,)) for k in locales]
    return [(subset, (k,)) for k in locales for subset in (0, 1)]


def _notes(opened: Opened) -> list[Warned]:
    s = opened.settings
    out = [Warned("lookalike ids", text) for text in opened.table.notes]
    if s.missing == "wrong":
        out.append(Warned("missing counted wrong", "answers that are missing are counted wrong."))
    else:
        out += [Warned("uneven missing", text) for text in opened.table.uneven]
    out += [Warned("clipped probabilities", text) for text in clipped_note(opened.table, s.response)]
    if s.response == "binary" and s.variants != "none":
        out += [Warned("floor left out", t) for t in options_notes(opened.table, s.guessing, s.options)]
    return out
