"""`maskedadv.check`: what a response table holds and whether it can be fitted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from maskedadv.design.accuracy_filter import Dropped, apply_floor
from maskedadv.design.blocks import (
    Block,
    build_block,
    choose_locales,
    language_code,
    observed_values,
    shared_items,
)
from maskedadv.design.components import find_components
from maskedadv.errors import NothingLeft
from maskedadv.maximum_likelihood.block_estimate import alike
from maskedadv.responses import Responses, read_responses
from maskedadv.settings import Settings
from maskedadv.vocabulary import SUBSETS


@dataclass(frozen=True)
class Check:
    """What was found in a response table.

    Attributes
    ----------
    answers, models, items, languages
        Observed answers, number of models, number of items per subset, language codes.
    blocks
        One row per locale and subset: cells, items, shared items, answers, missing share, accuracy local and
        pivot, connected components, items that carry no information, fittable, reason.
    cells
        One row per locale, model, subset and language: items, answers, missing share, accuracy.
    dropped
        Models left out for the accuracy floor.
    notes
        Things worth a look.
    """

    answers: int
    models: int
    items: dict[str, int]
    languages: list[str]
    pivot: str
    response: str
    blocks: pd.DataFrame
    cells: pd.DataFrame
    dropped: list[Dropped]
    notes: list[str]

    @property
    def fittable(self) -> bool:
        """Whether every locale can be fitted, as `fit` without a choice of locales would ask."""
        return bool(self.blocks.groupby("locale")["fittable"].any().all())

    def locales(self) -> dict[str, str]:
        """Empty text for every locale that can be fitted, else the reason why not."""
        out = {}
        for locale, rows in self.blocks.groupby("locale", sort=False):
            out[str(locale)] = "" if rows["fittable"].any() else "; ".join(dict.fromkeys(rows["reason"]))
        return out


def check(
    responses: str | Path | pd.DataFrame | Responses,
    *,
    locale: str | Sequence[str] | None = None,
    pivot: str = "en",
    response: str | None = None,
    min_accuracy: float = 0.35,
) -> Check:
    """Read a response table and describe it, without fitting anything.

    Parameters
    ----------
    responses, locale, pivot, min_accuracy
        As in `maskedadv.fit`.
    response
        `binary`, `soft` or `crm`; None takes `binary` where the table has a `correct` column.

    Returns
    -------
    Check

    Raises
    ------
    InputError
        The table itself is refused; see `read_responses`.
    """
    chosen = (locale,) if isinstance(locale, str) else locale
    Settings(
        response=response or "binary",
        locale=None if chosen is None else tuple(chosen),
        pivot=pivot,
        min_accuracy=min_accuracy,
    )
    table = read_responses(responses)
    response = response or ("binary" if table.correct is not None else "soft")
    values = observed_values(table, response)
    locales = choose_locales(table, locale, pivot)
    rated = table.correct if table.correct is not None else values
    blocks: list[dict[str, Any]] = []
    cells: list[pd.DataFrame] = []
    dropped: list[Dropped] = []
    for name in locales:
        keep, reason = np.ones((1, len(table.models)), dtype=bool), ""
        try:
            keep, out = apply_floor(table, rated, [name], pivot, min_accuracy)
            dropped += out
        except NothingLeft:
            reason = f"every model is at or under the accuracy floor {min_accuracy:g}"
        shared = shared_items(table, values, name, pivot)
        if not shared.any():
            reason = f"no item is shared with {pivot}"
        for subset in (0, 1):
            block = build_block(table, values, subset=subset, locales=[name], pivot=pivot, keep_model=keep)
            row, frame = _describe(table, block, name, pivot, subset)
            row["shared_items"] = int(shared[subset])
            why = reason or ("" if shared[subset] else "no shared items") or _undetermined(table, block, name)
            blocks.append({**row, "fittable": not why, "reason": why})
            cells.append(frame)
    observed = ~np.isnan(values)
    count = np.bincount(table.item_subset, minlength=2)
    return Check(
        answers=int(observed.sum()),
        models=len(table.models),
        items={s: int(n) for s, n in zip(SUBSETS, count, strict=True)},
        languages=[str(k) for k in table.languages],
        pivot=pivot,
        response=response,
        blocks=pd.DataFrame(blocks),
        cells=pd.concat(cells, ignore_index=True),
        dropped=dropped,
        notes=list(table.notes),
    )


def _undetermined(table: Responses, block: Block | None, locale: str) -> str:
    """Why no model of a block can have a finite gap; empty if one can."""
    if block is None:
        return "no answers"
    components = find_components(block.answers)
    mean = np.nanmean(block.answers, axis=1)
    inside = (mean > 0) & (mean < 1)
    local = block.language == language_code(table, locale)
    weak: dict[bool, dict[int, int]] = {True: {}, False: {}}
    for cell in np.flatnonzero(inside):
        weak[bool(local[cell])][int(block.model[cell])] = int(components.cell_weak[cell])
    paired = [m for m, part in weak[True].items() if weak[False].get(m) == part]
    if not paired or not components.finite_parts():
        return "the answers determine no gap of any model"
    return ""


def _describe(
    table: Responses, block: Block | None, locale: str, pivot: str, subset: int
) -> tuple[dict[str, Any], pd.DataFrame]:
    empty = np.full((0, 0), np.nan)
    answers: NDArray[np.float64] = empty if block is None else block.answers
    seen = ~np.isnan(answers)
    row: dict[str, Any] = {
        "locale": locale,
        "subset": SUBSETS[subset],
        "models": 0,
        "cells": len(answers),
        "items": answers.shape[1],
        "answers": int(seen.sum()),
        "missing": np.nan,
        "accuracy_local": np.nan,
        "accuracy_pivot": np.nan,
        "components": 0,
        "uninformative": 0,
    }
    if block is None:
        return row, pd.DataFrame()
    components = find_components(answers)
    local = block.language == language_code(table, locale)
    row |= {
        "models": len(np.unique(block.model)),
        "missing": 1.0 - float(seen.mean()),
        "accuracy_local": _mean(answers[local]),
        "accuracy_pivot": _mean(answers[~local]),
        "components": len(np.unique(components.cell_weak)),
        "uninformative": int(alike(answers).sum()),
    }
    count = seen.sum(axis=1)
    frame = pd.DataFrame(
        {
            "locale": locale,
            "model": table.models[block.model],
            "subset": SUBSETS[subset],
            "language": table.languages[block.language],
            "items": answers.shape[1],
            "answers": count,
            "missing": 1.0 - count / answers.shape[1],
            "accuracy": np.nanmean(answers, axis=1),
            "pivot": block.language == language_code(table, pivot),
        }
    )
    return row, frame


def _mean(answers: NDArray[np.float64]) -> float:
    return float(np.nanmean(answers)) if answers.size else float("nan")
