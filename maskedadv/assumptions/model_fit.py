"""Does the Rasch model fit a table? Items, models, reliabilities, Andersen's tests, dimensions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from maskedadv import __version__
from maskedadv.assumptions import dimensions
from maskedadv.assumptions.block_fit import BlockFit, fit_block
from maskedadv.assumptions.files import read_folder, write_folder
from maskedadv.checks import Number, Whole
from maskedadv.design.prepare import Design, prepare
from maskedadv.errors import WrongResponse
from maskedadv.files.digests import fingerprint_of
from maskedadv.files.folders import check_folder
from maskedadv.linear_algebra import one_thread
from maskedadv.responses import Responses, read_responses
from maskedadv.settings import Settings
from maskedadv.words.lists import first_few
from maskedadv.words.numbers import number, plural

Progress = Callable[[str], None]

MARK = "fit-check.json"
_TEXTS = {
    "items": ("locale", "subset", "item"),
    "cells": ("locale", "subset", "model", "language"),
    "blocks": ("locale", "subset"),
    "andersen": ("locale", "subset", "split", "groups"),
    "dimensions": ("locale", "language", "reason"),
}


@dataclass(frozen=True)
class FitCheck:
    """How well the Rasch model fits.

    Attributes
    ----------
    items
        A row an item of each locale: difficulty (logit), infit and outfit mean squares, p values given the
        item's total; with `cells`, the data of a Wright map.
    cells
        A row for each model and language: ability (logit, sums to zero in its block), mean squares, p values
        from tables drawn from the fitted model.
    blocks
        A row for each locale and subset: items and cells flagged, separation reliabilities.
    andersen
        A row a test: items split by difficulty, cells by language, by ability, by family.
    dimensions
        CA against CS abilities in each language.
    notes, settings, data, fingerprint
        As in `Dif`.
    """

    items: pd.DataFrame
    cells: pd.DataFrame
    blocks: pd.DataFrame
    andersen: pd.DataFrame
    dimensions: pd.DataFrame
    notes: tuple[str, ...]
    settings: dict[str, Any]
    data: str
    fingerprint: str

    def save(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write a CSV of every table and `fit-check.json`.

        Raises
        ------
        OutputExists
        """
        path = Path(path)
        check_folder(path, MARK, self.fingerprint, overwrite=overwrite)
        content = {
            "fingerprint": self.fingerprint,
            "data": self.data,
            "settings": self.settings,
            "notes": list(self.notes),
        }
        write_folder(path, MARK, content, {name: getattr(self, name) for name in _TEXTS})
        return path


def load_fit_check(path: str | Path) -> FitCheck:
    """What `FitCheck.save` wrote.

    Raises
    ------
    NotAResult
    """
    content, tables = read_folder(Path(path), MARK, "fit-check", _TEXTS)
    own: dict[str, Any] = {**tables, **{k: content[k] for k in ("settings", "data", "fingerprint")}}
    return FitCheck(notes=tuple(content["notes"]), **own)


@one_thread
def fit_check(
    responses: str | Path | pd.DataFrame | Responses,
    *,
    families: Mapping[str, str] | None = None,
    replicates: int = 200,
    alpha: float = 0.05,
    progress: Progress = lambda _: None,
    begin: Progress = lambda _: None,
    **arguments: Any,
) -> FitCheck:
    """Check the fit of the Rasch model to every locale and subset.

    Parameters
    ----------
    responses
        A response table: path, DataFrame or `Responses`; right and wrong answers.
    families
        Family of each model, for Andersen's test by family.
    replicates
        Tables drawn from the fitted model, for the references of cells.
    alpha
        False discovery rate of the flags, in each block.
    progress
        Called with a line of text as parts are done.
    begin
        Called with the fingerprint of the result when everything asked for was checked, before the work; it
        may refuse it by an exception.
    arguments
        Settings of the fit: locale, pivot, min_accuracy, seed.

    Returns
    -------
    FitCheck

    Raises
    ------
    InputError
        One of its named kinds.
    """
    Number(0.0, 1.0)("alpha", alpha)
    Whole(20, 10**6)("replicates", replicates)
    fixed = {"response": "binary", "scope": "locale", "variants": "none"}
    if other := [name for name, value in fixed.items() if arguments.get(name) not in (None, "", value)]:
        raise WrongResponse(
            f"fit-check looks at right and wrong answers, locale by locale; leave out {other[0]}."
        )
    settings = Settings(**(arguments | fixed))
    design = prepare(read_responses(responses), settings)
    asked = {"replicates": replicates, "alpha": alpha, "families": dict(families or {})}
    whole = {**settings.as_json(), **asked}
    fingerprint = fingerprint_of([design.fingerprint, whole, __version__])
    begin(fingerprint)
    fits: list[BlockFit] = []
    rows: list[dict[str, object]] = []
    for locale in design.locales:
        blocks = design.of_locale(locale)
        own = {}
        for subset, block in blocks.items():
            own[subset] = fit_block(
                block, replicates=replicates, seed=settings.seed, alpha=alpha, families=families
            )
            progress(f"{block.name}: {len(block.model)} cells, {len(block.item)} items")
        fits += own.values()
        rows += dimensions.compare_dimensions(blocks, own)
    blocks_table = pd.DataFrame([f.summary for f in fits])
    tests = pd.DataFrame([row for f in fits for row in f.andersen])
    return FitCheck(
        items=pd.concat([f.items for f in fits], ignore_index=True),
        cells=pd.concat([f.cells for f in fits], ignore_index=True),
        blocks=blocks_table,
        andersen=tests,
        dimensions=dimensions.table(rows),
        notes=tuple(
            [w.text for w in design.notes] + _family_notes(design, families) + _notes(blocks_table, tests)
        ),
        settings=whole,
        data=design.fingerprint,
        fingerprint=fingerprint,
    )


def _family_notes(design: Design, families: Mapping[str, str] | None) -> list[str]:
    """Models of which no family is known; whether there was anything to compare."""
    if families is None:
        return []
    models = list(dict.fromkeys(str(m) for b in design.blocks for m in b.model))
    lacking = [m for m in models if not families.get(m)]
    if len({families[m] for m in models if families.get(m)}) < 2:
        return [
            "no test by family: the model table names fewer than two families of the models in the table of "
            "answers"
        ]
    if not lacking:
        return []
    return [
        f"no family is known of {plural(len(lacking), 'model')} ({first_few(lacking, 3)}): in the tests by "
        "family they count among the others"
    ]


def _notes(blocks: pd.DataFrame, tests: pd.DataFrame) -> list[str]:
    out = []
    largest = float(tests["inflation"].max()) if len(tests) else 1.0
    if largest > 1.0:
        out.append(
            "references take models as independent: where they are relatives, misfit is to be expected, and "
            "Andersen's tests reject too often (deviates of most items have up to "
            f"{number(largest, 1)} times the variance)"
        )
    low = blocks[blocks["reliability_items"] < 0.5]
    if len(low):
        names = [f"{r.locale} {r.subset}" for r in low.itertuples()]
        out.append(
            f"the answers tell the items' difficulties apart badly in {first_few(names, 4)} (separation "
            "reliability below .5)"
        )
    with np.errstate(invalid="ignore"):
        models = blocks[["reliability_local", "reliability_pivot"]].min(axis=1)
    if (models < 0.5).any():
        out.append(
            f"the models' abilities are told apart badly in {int((models < 0.5).sum())} of {len(blocks)} "
            "blocks (separation reliability below .5 in one of the languages): rankings of models mean "
            "little there, mean gaps may still be clear"
        )
    return out
