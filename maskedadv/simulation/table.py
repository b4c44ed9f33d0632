"""A simulated response table with its truth beside it."""

from __future__ import annotations

import inspect
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from maskedadv import __version__
from maskedadv.errors import BadSetting
from maskedadv.files.atomic import write_table
from maskedadv.files.folders import check_folder, whole_folder
from maskedadv.result.fit_result import Fit
from maskedadv.simulation.answers import draw_answers
from maskedadv.simulation.likeness import world_of_fit
from maskedadv.simulation.plan import Plan, plan_docs
from maskedadv.simulation.world import World, draw_world
from maskedadv.vocabulary import GAPS, SUBSETS, gaps_of

Array = NDArray[np.float64]

MARKER = "simulation.json"
ON_TOP = ("knowledge_gap", "dif_share", "dif_size", "missing", "seed")
"""What of a plan may go on top of a result; all else is the result's."""


@dataclass(frozen=True)
class Simulation:
    """Simulated answers and the truth behind them.

    Attributes
    ----------
    responses : a response table: model, subset, language, item, correct, and n_options with a floor
    truth : the true gaps of every model: locale, model, gap, truth (logit); NaN where a model was not asked
    cells : model, subset, language, ability (logit)
    items : item, subset, language, difficulty (logit, in that language), discrimination, dif (logit: how much
        harder than in the pivot)
    models : model, family
    settings : the plan's numbers, and what the tables were made from
    """

    responses: pd.DataFrame
    truth: pd.DataFrame
    cells: pd.DataFrame
    items: pd.DataFrame
    models: pd.DataFrame
    settings: dict[str, Any]

    def save(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write responses.csv, truth.csv, cells.csv, items.csv, models.csv and simulation.json to a folder.

        Raises
        ------
        OutputExists
            The folder holds something else, or `overwrite` is not given.
        """
        path = Path(path)
        check_folder(path, MARKER, None, overwrite=overwrite)
        names = ("responses", "truth", "cells", "items", "models")
        with whole_folder(path, lambda name: name in {*(f"{n}.csv" for n in names), MARKER}) as folder:
            for name in names:
                write_table(getattr(self, name), folder / f"{name}.csv")
            text = json.dumps(self.settings, indent=1, ensure_ascii=False)
            (folder / MARKER).write_text(text + "\n", "utf-8")
        return path


def simulate(plan: Plan | None = None, *, result: Fit | None = None, **numbers: Any) -> Simulation:
    """A response table with a known truth, from plain numbers or in the likeness of a result.

    Parameters
    ----------
    plan
        The numbers; default: those of `Plan()`.
    result
        A fit whose models, items, abilities and missing answers are taken for the truth (its plain gaps, best
        those of the marginal estimator). Of the numbers, only knowledge_gap (of every model, in place of the
        fitted ones), dif_share, dif_size, missing and seed may then be given.
    PLAN

    Raises
    ------
    BadSetting
        A number is outside its range, or does not go with a result.

    Examples
    --------
    >>> from maskedadv.simulation import simulate
    >>> made = simulate(models=3, items_ca=20, items_cs=20, seed=4)
    >>> len(made.responses), made.truth["truth"].tolist()[:3]
    (240, [-1.0, -0.7, 0.3])
    """
    unknown = [name for name in numbers if name not in Plan.__dataclass_fields__]
    if unknown:
        raise TypeError(f"simulate() got an unexpected keyword argument {unknown[0]!r}")
    plan = replace(plan or Plan(), **numbers)
    rng = np.random.default_rng(plan.seed)
    about: dict[str, Any]
    if result is None:
        world, about = draw_world(plan, rng), {"plan": plan.as_json()}
    else:
        given = {name: getattr(plan, name) for name in ON_TOP}
        wrong = [
            n for n in Plan.__dataclass_fields__ if n not in ON_TOP and getattr(plan, n) != getattr(Plan(), n)
        ]
        if wrong:
            raise BadSetting(
                f"{wrong[0]} is the result's own; on top of a result go {', '.join(ON_TOP)} only."
            )
        own = plan.knowledge_gap if "knowledge_gap" in numbers else None
        world = world_of_fit(result, plan, rng, knowledge_gap=own)
        about = {"plan": given | {"knowledge_gap": own}, "result": result.info.fingerprint}
    return _tables(world, draw_answers(world, rng), {"fingerprint": "", "maskedadv": __version__, **about})


simulate.__doc__ = inspect.cleandoc(simulate.__doc__ or "").replace("PLAN", plan_docs())


def _tables(world: World, answers: Array, settings: dict[str, Any]) -> Simulation:
    frames = []
    subsets = np.array(SUBSETS, dtype=object)
    for k, language in enumerate(world.languages):
        j, i = np.nonzero(~np.isnan(answers[k]))
        columns: dict[str, Any] = {
            "model": world.models[j],
            "subset": subsets[world.subset[i]],
            "language": language,
            "item": world.items[i],
            "correct": answers[k, j, i].astype(np.int64),
        }
        if world.chance:
            columns["n_options"] = round(1.0 / world.chance)
        frames.append(pd.DataFrame(columns))
    return Simulation(
        responses=pd.concat(frames, ignore_index=True),
        truth=_truth(world),
        cells=_cells(world),
        items=_items(world),
        models=pd.DataFrame({"model": world.models, "family": world.families}),
        settings=settings,
    )


def _truth(world: World) -> pd.DataFrame:
    """The gaps of the abilities, locale by locale."""
    with np.errstate(invalid="ignore"):
        gaps = gaps_of(world.ability[1:] - world.ability[0])
    k, j, g = np.indices(gaps.shape).reshape(3, -1)
    return pd.DataFrame(
        {
            "locale": np.array(world.languages[1:], dtype=object)[k],
            "model": world.models[j],
            "gap": np.array(GAPS, dtype=object)[g],
            "truth": np.round(gaps.ravel(), 12),
        }
    )


def _cells(world: World) -> pd.DataFrame:
    k, j, s = np.indices(world.ability.shape).reshape(3, -1)
    return pd.DataFrame(
        {
            "model": world.models[j],
            "subset": np.array(SUBSETS, dtype=object)[s],
            "language": np.array(world.languages, dtype=object)[k],
            "ability": world.ability.ravel(),
        }
    )


def _items(world: World) -> pd.DataFrame:
    k, i = np.nonzero(world.asked)
    return pd.DataFrame(
        {
            "item": world.items[i],
            "subset": np.array(SUBSETS, dtype=object)[world.subset[i]],
            "language": np.array(world.languages, dtype=object)[k],
            "difficulty": world.difficulty[i] + world.dif[k, i],
            "discrimination": world.slope[i],
            "dif": world.dif[k, i],
        }
    )
