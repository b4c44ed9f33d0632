"""Blocks: the answers of one subset in one locale (or of several locales at once) as cells × items."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from maskedadv.design.answered import Answered, Answers
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


def build_block(
    answered: Answered,
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
    answered
        Observed answers, of `observed_values`.
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
    table = answered.responses
    asked = np.logical_or.reduce([answered.asked(k) for k in locales]) & (table.item_subset == subset)
    if keep_model is None:
        keep_model = np.ones((len(locales), len(table.models)), dtype=bool)
    kept = dict(zip(locales, keep_model, strict=True)) | {pivot: keep_model.any(axis=0)}
    parts = {k: _of_models(answered.of_items(k, asked), kept[k]) for k in sorted(kept, key=answered.code)}
    present = np.zeros(len(table.items), dtype=bool)
    for part in parts.values():
        present[part.item] = True
    items = np.flatnonzero(present)
    if not len(items):
        return None
    answers = np.full((sum(len(part.model) for part in parts.values()), len(items)), np.nan)
    first = 0
    for language, part in parts.items():
        rows = slice(first, first := first + len(part.model))
        answers[rows, np.searchsorted(items, part.item)] = part.values
        if wrong_if_missing:
            put = answered.asked(language)[items]
            answers[rows] = np.where(np.isnan(answers[rows]) & put, 0.0, answers[rows])
    return Block(
        subset=subset,
        locales=tuple(locales),
        pivot=pivot,
        model=table.models[np.concatenate([part.model for part in parts.values()])],
        language=np.repeat(np.array(list(parts), dtype=object), [len(part.model) for part in parts.values()]),
        item=table.items[items],
        place=items,
        answers=answers,
        chance=None if chance is None else chance[items],
    )


def _of_models(answers: Answers, keep: NDArray[np.bool_]) -> Answers:
    """Those of some models, and the items that they answered."""
    own = keep[answers.model]
    if own.all():
        return answers
    values = answers.values[own]
    there = (~np.isnan(values)).any(axis=0)
    return Answers(answers.model[own], answers.item[there], values[:, there])


def shared_items(answered: Answered, locale: str, pivot: str) -> NDArray[np.intp]:
    """How many items of each subset were asked in the locale's language and in the pivot, shape (2,)."""
    both = answered.asked(locale) & answered.asked(pivot)
    return np.bincount(answered.responses.item_subset[both], minlength=2)


def require_shared_items(answered: Answered, locales: Sequence[str], pivot: str) -> None:
    """Refuse locales that share no item with the pivot.

    Raises
    ------
    NoSharedItem
    """
    alone = [k for k in locales if not shared_items(answered, k, pivot).any()]
    if alone:
        raise NoSharedItem(
            f"{len(alone)} locales share no item id with {pivot!r} ({_listed(alone)}); an item keeps one id "
            "in every language it is asked in. Mend the ids, or choose others with --locale."
        )
