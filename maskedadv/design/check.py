"""`maskedadv.check`: what a response table holds and whether it can be fitted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from maskedadv.design.accuracy_filter import Dropped
from maskedadv.design.blocks import Block, shared_items
from maskedadv.design.components import find_components
from maskedadv.design.prepare import open_table, prepare_locales
from maskedadv.errors import NoSharedItem, NothingLeft
from maskedadv.maximum_likelihood.block_estimate import alike
from maskedadv.maximum_likelihood.estimators import choose_estimator
from maskedadv.responses import Responses, open_responses
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
    estimator: str | None = None,
    min_accuracy: float = 0.35,
    min_accuracy_on: str = "all",
    guessing: str | float = "auto",
    options: int | None = None,
) -> Check:
    """Read a response table and say what it holds and what `fit` could fit, without fitting anything.

    Parameters
    ----------
    responses, locale, pivot, estimator, min_accuracy, min_accuracy_on, guessing, options
        As in `maskedadv.fit`.
    response
        `binary`, `soft` or `crm`; None takes `binary` where the table has a `correct` column.

    Returns
    -------
    Check

    Raises
    ------
    InputError
        The table itself is refused, or the settings do not go with it, as `fit` would refuse them.
    """
    table = open_responses(responses)
    settings = Settings(
        response=response or ("binary" if "correct" in table.columns else "soft"),
        estimator=estimator,  # type: ignore[arg-type]  # the checks bring these to one form
        locale=locale,  # type: ignore[arg-type]
        pivot=pivot,
        min_accuracy=min_accuracy,
        min_accuracy_on=min_accuracy_on,
        guessing=guessing,  # type: ignore[arg-type]
        options=options,
    )
    opened = open_table(table, settings)
    blocks: list[dict[str, Any]] = []
    cells: list[pd.DataFrame] = []
    dropped: list[Dropped] = []
    for name in opened.locales:
        rows = opened.rows([name])
        own: dict[int, Block] = {}
        reason = ""
        try:
            design = prepare_locales(opened, [name], rows)
            own = design.of_locale(name)
            dropped += design.dropped
        except NoSharedItem:
            reason = f"no item is shared with {pivot}"
        except NothingLeft as error:
            reason = str(error).rstrip(".")
        both = shared_items(rows.values, name, pivot)
        for subset in range(len(SUBSETS)):
            row, frame = _describe(own.get(subset), name, subset)
            why = reason or _undetermined(own.get(subset), settings)
            blocks.append(row | {"shared_items": int(both[subset]), "fittable": not why, "reason": why})
            cells.append(frame)
    count = np.bincount(table.item_subset, minlength=len(SUBSETS))
    return Check(
        answers=table.count(settings.response),
        models=len(table.models),
        items={s: int(n) for s, n in zip(SUBSETS, count, strict=True)},
        languages=[str(k) for k in table.languages],
        pivot=pivot,
        response=settings.response,
        blocks=pd.DataFrame(blocks),
        cells=pd.concat(cells, ignore_index=True),
        dropped=dropped,
        notes=[*table.notes, *table.uneven],
    )


def _undetermined(block: Block | None, settings: Settings) -> str:
    """Why no model of a block can have a finite gap; empty if one can."""
    if block is None:
        return "no answers"
    parts = choose_estimator(block.answers, settings).parts(block.answers)
    local = block.language != block.pivot
    known = [dict(zip(block.model[at], parts[at], strict=True)) for at in (local, ~local)]
    if any(part >= 0 and known[1].get(model) == part for model, part in known[0].items()):
        return ""
    if not local.any() or local.all():
        return f"no answers in {'the pivot' if local.any() else 'the local language'}"
    return "the answers determine no gap of any model"


def _describe(block: Block | None, locale: str, subset: int) -> tuple[dict[str, Any], pd.DataFrame]:
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
    local = block.language != block.pivot
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
            "model": block.model,
            "subset": SUBSETS[subset],
            "language": block.language,
            "items": answers.shape[1],
            "answers": count,
            "missing": 1.0 - count / answers.shape[1],
            "accuracy": np.nanmean(answers, axis=1),
            "pivot": ~local,
        }
    )
    return row, frame


def _mean(answers: NDArray[np.float64]) -> float:
    return float(np.nanmean(answers)) if answers.size else float("nan")
