"""Blocks: the answers of one subset in one locale (or of several locales at once) as cells × items."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from maskedadv.errors import NoSharedItem, PivotMissing, UnknownLocale, WrongResponse
from maskedadv.vocabulary import SUBSETS
from maskedadv.words.lists import first_few

if TYPE_CHECKING:  # a result is read without what reads tables
    from maskedadv.responses import Responses
    from maskedadv.responses.stored import StoredResponses


@dataclass(frozen=True)
class Block:
    """Answers of one subset, with their labels.

    Attributes
    ----------
    subset
        Index into `SUBSETS`.
    locales, pivot
        The locales that the block serves, and the language that they are compared with.
    model, language
        Every cell's model and query language, shape (C,).
    item
        Ids of the items, shape (I,).
    place
        Place of every item among all of the table, which bootstrap weights go by, shape (I,).
    answers
        Shape (C, I): 0 to 1 (logits for continuous responses), NaN where not observed.
    chance
        Guessing floor of every item, shape (I,); None where there is to be none.
    """

    subset: int
    locales: tuple[str, ...]
    pivot: str
    model: NDArray[np.object_]
    language: NDArray[np.object_]
    item: NDArray[np.object_]
    place: NDArray[np.intp]
    answers: NDArray[np.float64]
    chance: NDArray[np.float64] | None = None

    @property
    def locale(self) -> str:
        """The locale that the block serves, or `all` where it serves several."""
        return self.locales[0] if len(self.locales) == 1 else "all"

    @property
    def name(self) -> str:
        """What progress lines and warnings call it: `zh CA`."""
        place = self.locale if len(self.locales) == 1 else f"{len(self.locales)} locales"
        return f"{place} {SUBSETS[self.subset]}"

    @property
    def pairs(self) -> NDArray[np.intp]:
        """Cells (local, pivot) of one model, whose difference is a gap; shape (K, 2)."""
        at_pivot = {m: c for c, m in enumerate(self.model) if self.language[c] == self.pivot}
        local = [c for c, k in enumerate(self.language) if k != self.pivot and self.model[c] in at_pivot]
        return np.array([(c, at_pivot[self.model[c]]) for c in local], dtype=np.intp).reshape(-1, 2)

    def cells(self, locale: str, models: NDArray[np.object_]) -> NDArray[np.intp]:
        """Cell of every (model, query), -1 where there is none, shape (J, 2); `models` sorted."""
        index = np.full((len(models), 2), -1, dtype=np.intp)
        for query, language in enumerate((locale, self.pivot)):
            cells = np.flatnonzero(self.language == language)
            index[np.searchsorted(models, self.model[cells]), query] = cells
        return index

    def in_both(
        self, locale: str, models: NDArray[np.object_], keep: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Local and pivot answers of every model, shapes (J, I); NaN throughout where `keep` is False."""
        index = self.cells(locale, models)
        index[~keep] = -1
        padded = np.vstack([self.answers, np.full((1, self.answers.shape[1]), np.nan)])
        return padded[index[:, 0]], padded[index[:, 1]]


def observed_values(responses: Responses, response: str) -> NDArray[np.float64]:
    """The answers a response type is fitted to, shape (N,), NaN where not observed.

    Raises
    ------
    WrongResponse
        `binary` without a `correct` column, `soft` without `p_correct`, `crm` without a logit.
    """
    require_response(responses.columns, response)
    values = values_of(responses, response)
    if np.isnan(values).all():
        what = "response" if response == "crm" else f"value of '{COLUMN_OF[response]}'"
        raise WrongResponse(f"response '{response}': every {what} is empty; nothing can be fitted.")
    return values


COLUMN_OF = {"binary": "correct", "soft": "p_correct"}
"""The column that a response type is fitted to; `crm` has two."""


def require_response(columns: Collection[str], response: str) -> None:
    """Refuse a response type that the table has no column for.

    Raises
    ------
    WrongResponse
    """
    if response == "crm":
        if not {"p_correct", "crm_logit"} & set(columns):
            raise WrongResponse(
                "response 'crm' needs the column 'p_correct' or 'crm_logit', which the table lacks; use "
                "'binary'."
            )
    elif COLUMN_OF[response] not in columns:
        other = "soft" if response == "binary" else "binary"
        raise WrongResponse(
            f"response '{response}' needs the column '{COLUMN_OF[response]}', which the table lacks; use "
            f"'{other}'."
        )


def values_of(responses: Responses, response: str) -> NDArray[np.float64]:
    """`observed_values` of some of a table's rows, which may all be empty."""
    if response == "crm":
        from maskedadv.design.logits import logit_values

        return logit_values(responses)
    return np.asarray(getattr(responses, COLUMN_OF[response]))


def language_code(responses: Responses, language: str) -> int:
    """Code of a language, -1 if the table does not hold it."""
    found = np.flatnonzero(responses.languages == language)
    return int(found[0]) if len(found) else -1


def choose_locales(
    responses: Responses | StoredResponses, locale: Sequence[str] | None, pivot: str
) -> list[str]:
    """The locales to fit, in the order asked for, or all languages but the pivot, sorted.

    Raises
    ------
    PivotMissing
        The pivot language has no row.
    UnknownLocale
        A locale asked for is the pivot, is asked for twice or is not in the table, or there is none.
    """
    have = [str(k) for k in responses.languages]
    if pivot not in have:
        raise PivotMissing(
            f"no row has the pivot language {pivot!r} (found: {_listed(have)}); name yours with --pivot."
        )
    others = [k for k in have if k != pivot]
    if not others:
        raise UnknownLocale(
            f"the table holds only the pivot language {pivot!r}; a gap needs a local one beside it."
        )
    if locale is None:
        return others
    if isinstance(locale, str):
        locale = [locale]
    for k in locale:
        if k == pivot:
            raise UnknownLocale(f"locale {k!r} is the pivot itself; choose from {_listed(others)}.")
        if k not in others:
            raise UnknownLocale(f"locale {k!r} is not in the table; choose from {_listed(others)}.")
    if len(set(locale)) < len(locale):
        raise UnknownLocale("a locale is named twice; name each once.")
    if not len(locale):
        raise UnknownLocale("no locale is named; leave the argument out to fit all.")
    return list(locale)


def _listed(names: Sequence[str]) -> str:
    return first_few(names, 12)


def rows_of_language(responses: Responses, code: int) -> slice:
    """Rows are sorted by language, so a language is one slice."""
    ends = np.array([code, code + 1], dtype=responses.language.dtype)  # another type would copy the column
    start, stop = np.searchsorted(responses.language, ends)
    return slice(int(start), int(stop))


def asked_items(responses: Responses, values: NDArray[np.float64], code: int) -> NDArray[np.bool_]:
    """Which items have an observed answer in a language, shape (I,)."""
    rows = rows_of_language(responses, code)
    asked = np.zeros(len(responses.items), dtype=bool)
    item, seen = responses.item[rows], ~np.isnan(values[rows])
    asked[item if seen.all() else item[seen]] = True  # to choose rows is dearer than to look at all
    return asked


def build_block(
    responses: Responses,
    values: NDArray[np.float64],
    *,
    subset: int,
    locales: Sequence[str],
    pivot: str,
    keep_model: NDArray[np.bool_] | None = None,
    chance: NDArray[np.float64] | None = None,
    wrong_if_missing: bool = False,
) -> Block | None:
    """The answers in the locales' languages and the pivot to items asked in any of the locales.

    Parameters
    ----------
    values
        Observed answers per row, shape (N,), from `observed_values`.
    keep_model
        Shape (n_locales, J): which models count in which locale; a pivot answer counts if its model is
        kept in any of them. None keeps all.
    chance
        Guessing floor of every item of the table, shape (n_items,), if there is to be one.
    wrong_if_missing
        Count the answers that a cell lacks, to items that any model answered in its language, as wrong.

    Returns
    -------
    Block, or None if no answer is left.
    """
    codes = [language_code(responses, k) for k in locales]
    pivot_code = language_code(responses, pivot)
    asked = np.zeros(len(responses.items), dtype=bool)
    for code in codes:
        asked |= asked_items(responses, values, code)
    asked &= responses.item_subset == subset
    if keep_model is None:
        keep_model = np.ones((len(codes), len(responses.models)), dtype=bool)
    parts = []
    for code, keep in [*zip(codes, keep_model, strict=True), (pivot_code, keep_model.any(axis=0))]:
        rows = rows_of_language(responses, code)
        use = asked[responses.item[rows]]
        use &= ~np.isnan(values[rows])
        if not keep.all():
            use &= keep[responses.model[rows]]
        parts.append(np.flatnonzero(use) + rows.start)
    chosen = np.concatenate(parts)
    if not len(chosen):
        return None
    n_models = len(responses.models)
    cell_key, cell = _codes(responses.language[chosen] * n_models + responses.model[chosen])
    item_key, item = _codes(responses.item[chosen])
    answers = np.full((len(cell_key), len(item_key)), np.nan)
    answers[cell, item] = values[chosen]
    if wrong_if_missing:
        language = cell_key // n_models
        for code in np.unique(language):
            put = asked_items(responses, values, code)[item_key]
            own = np.flatnonzero(language == code)
            lacking = np.isnan(answers[own]) & put
            answers[own] = np.where(lacking, 0.0, answers[own])
    return Block(
        subset=subset,
        locales=tuple(locales),
        pivot=pivot,
        model=responses.models[cell_key % n_models],
        language=responses.languages[cell_key // n_models],
        item=responses.items[item_key],
        place=item_key.astype(np.intp),
        answers=answers,
        chance=None if chance is None else chance[item_key],
    )


def _codes(values: NDArray[np.integer]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Distinct small whole numbers in order, and the place of each value among them: a sort is dearer."""
    present = np.bincount(values) > 0
    place = np.cumsum(present) - 1
    return np.flatnonzero(present), place[values]


def shared_items(
    responses: Responses, values: NDArray[np.float64], locale: str, pivot: str
) -> NDArray[np.intp]:
    """How many items of each subset were asked in the locale's language and in the pivot, shape (2,)."""
    both = asked_items(responses, values, language_code(responses, locale))
    both &= asked_items(responses, values, language_code(responses, pivot))
    return np.bincount(responses.item_subset[both], minlength=2)


def require_shared_items(
    responses: Responses, values: NDArray[np.float64], locales: Sequence[str], pivot: str
) -> None:
    """Refuse locales that share no item with the pivot.

    Raises
    ------
    NoSharedItem
    """
    alone = [k for k in locales if not shared_items(responses, values, k, pivot).any()]
    if alone:
        raise NoSharedItem(
            f"{len(alone)} locales share no item id with {pivot!r} ({_listed(alone)}); an item keeps one id "
            "in every language it is asked in. Mend the ids, or choose others with --locale."
        )
