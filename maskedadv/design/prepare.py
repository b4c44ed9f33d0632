"""The one front door: from a response table and settings to labelled blocks, complete for all that follows.

Nothing behind it sees the response table. `fit`, `check` and the export of Stan's data come in here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from maskedadv.design.accuracy_filter import Dropped, cell_accuracy, filter_models
from maskedadv.design.blocks import (
    Block,
    build_block,
    choose_locales,
    observed_values,
    require_shared_items,
)
from maskedadv.design.logits import clipped_note, rated_values
from maskedadv.design.missing import uneven_cells
from maskedadv.design.options import chance_of_items, options_notes
from maskedadv.responses import Responses
from maskedadv.settings import Settings
from maskedadv.warnings.kinds import Warned

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Cells:
    """What is known of one locale's cells before anything is fitted.

    Attributes
    ----------
    keep : models that count in the locale, shape (J,)
    accuracy, n_items : share of right answers and number of answers, shape (J, 2 subsets, 2 queries)
    n_paired : items answered in both languages, shape (J, 2 subsets)
    """

    keep: NDArray[np.bool_]
    accuracy: Array
    n_items: NDArray[np.intp]
    n_paired: NDArray[np.intp]


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

    def of_locale(self, locale: str) -> dict[int, Block]:
        """The blocks that serve a locale, by subset index."""
        return {b.subset: b for b in self.blocks if locale in b.locales}


@dataclass(frozen=True)
class Opened:
    """A table with what every locale's preparation needs of it; see `open_table`."""

    responses: Responses
    settings: Settings
    values: Array
    rated: Array
    chance: Array | None
    locales: tuple[str, ...]


def prepare(responses: Responses, settings: Settings) -> Design:
    """Everything that a fit needs of a table; see `Settings.missing` for the design at the other end.

    Raises
    ------
    WrongResponse, PivotMissing, UnknownLocale, NoSharedItem, NothingLeft, NoOptions, BadValue
        What was asked for does not go with the table.
    """
    opened = open_table(responses, settings)
    design = prepare_locales(opened, opened.locales)
    if settings.method != "optimize" or settings.response == "crm":
        return design
    if settings.missing == "wrong" or (settings.missing == "auto" and uneven_cells(design)):
        end = "left-out" if settings.missing == "wrong" else "wrong"
        other = prepare_locales(replace(opened, settings=replace(settings, missing=end)), opened.locales)
        return replace(design, other=other)
    return design


def open_table(responses: Responses, settings: Settings) -> Opened:
    """The part of the preparation that is the same for every locale.

    Raises
    ------
    WrongResponse, PivotMissing, UnknownLocale, NoOptions, BadValue
    """
    floor = settings.response == "binary" and settings.variants != "none"
    return Opened(
        responses=responses,
        settings=settings,
        values=observed_values(responses, settings.response),
        rated=rated_values(responses, settings.response),
        chance=chance_of_items(responses, settings.guessing, settings.options) if floor else None,
        locales=tuple(choose_locales(responses, settings.locale, settings.pivot)),
    )


def prepare_locales(opened: Opened, locales: Sequence[str]) -> Design:
    """The design of some of the table's locales.

    Raises
    ------
    NoSharedItem, NothingLeft
    """
    responses, settings, values = opened.responses, opened.settings, opened.values
    pivot = settings.pivot
    require_shared_items(responses, values, locales, pivot)
    keep, dropped = filter_models(
        responses, opened.rated, locales, pivot, settings.min_accuracy, settings.min_accuracy_on
    )
    blocks = []
    for subset, served in _tasks(locales, settings.scope):
        rows = keep[[locales.index(k) for k in served]]
        block = build_block(
            responses,
            values,
            subset=subset,
            locales=served,
            pivot=pivot,
            keep_model=rows,
            chance=opened.chance,
            wrong_if_missing=settings.missing == "wrong",
        )
        if block is not None:
            blocks.append(block)
    used = np.isin(responses.models, np.concatenate([b.model for b in blocks])) if blocks else keep[0]
    cells = {}
    for k, locale in enumerate(locales):
        own = [b for b in blocks if locale in b.locales]
        found = count_cells(own, responses.models[used], locale, keep[k, used])
        if settings.response == "crm":  # the blocks' answers are logits
            accuracy, _ = cell_accuracy(responses, opened.rated, locale, pivot)
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
        rows=len(responses),
        answers=_count_answers(responses, blocks),
    )


def _tasks(locales: Sequence[str], scope: str) -> list[tuple[int, tuple[str, ...]]]:
    """(subset, locales served) of every block."""
    if scope == "joint":
        first: list[tuple[int, tuple[str, ...]]] = [(0, tuple(locales))]
        return first + [(1, (k,)) for k in locales]
    return [(subset, (k,)) for k in locales for subset in (0, 1)]


def count_cells(
    blocks: Sequence[Block], models: NDArray[np.object_], locale: str, keep: NDArray[np.bool_]
) -> Cells:
    """Accuracies and counts of one locale's cells, from the blocks that serve it."""
    shape = (len(models), 2, 2)
    accuracy, n_items = np.full(shape, np.nan), np.zeros(shape, dtype=np.intp)
    n_paired = np.zeros(shape[:2], dtype=np.intp)
    for block in blocks:
        index = block.cells(locale, models)
        index[~keep] = -1
        seen = ~np.isnan(block.answers)
        count, mean = seen.sum(axis=1), np.nanmean(block.answers, axis=1)
        model, query = np.nonzero(index >= 0)
        accuracy[model, block.subset, query] = mean[index[model, query]]
        n_items[model, block.subset, query] = count[index[model, query]]
        both = np.flatnonzero((index >= 0).all(axis=1))
        n_paired[both, block.subset] = (seen[index[both, 0]] & seen[index[both, 1]]).sum(axis=1)
    return Cells(keep, accuracy, n_items, n_paired)


def _notes(opened: Opened) -> list[Warned]:
    s = opened.settings
    out = [Warned("lookalike ids", text) for text in opened.responses.notes]
    if s.missing == "wrong":
        out.append(Warned("missing counted wrong", "answers that are missing are counted wrong."))
    else:
        out += [Warned("uneven missing", text) for text in opened.responses.uneven]
    out += [Warned("clipped probabilities", text) for text in clipped_note(opened.responses, s.response)]
    if s.response == "binary" and s.variants != "none":
        out += [Warned("floor left out", t) for t in options_notes(opened.responses, s.guessing, s.options)]
    return out


def _count_answers(responses: Responses, blocks: Sequence[Block]) -> int:
    """Observed answers that any block holds; those in the pivot serve several locales and count once."""
    shared = np.zeros((len(responses.models), len(responses.items)), dtype=bool)
    own = 0
    for b in blocks:
        seen, common = ~np.isnan(b.answers), b.language == b.pivot
        own += int(seen[~common].sum())
        row = np.searchsorted(responses.models, b.model[common])
        shared[row[:, None], b.place] |= seen[common]
    return own + int(shared.sum())
