"""Fit every candidate on what every fold leaves, predict what it holds out, and score the predictions."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from maskedadv.cross_validation.candidates import DRAWS, Candidate
from maskedadv.cross_validation.comparison import Comparison, make_tables
from maskedadv.cross_validation.folds import NEVER
from maskedadv.cross_validation.kept import Kept, Unit
from maskedadv.cross_validation.plan import Plan
from maskedadv.cross_validation.training import base_rates
from maskedadv.engines import Engine, choose_engine
from maskedadv.errors import EngineFailed, NotConverged, NotEstimable
from maskedadv.launchers.kinds import Launcher, Local
from maskedadv.launchers.launching import complete
from maskedadv.launchers.unit import Unit as Launched
from maskedadv.vocabulary import SUBSETS

Array = NDArray[np.float64]
Tell = Callable[[str], None]
Task = tuple[Candidate, str, int]

QUIET = 3.0
"""Seconds between lines of progress while folds take less."""


def run_plan(
    plan: Plan,
    *,
    how: Launcher = Local(),  # noqa: B008 (it cannot be changed)
    progress: Tell = lambda _: None,
    folder: Path | None = None,
) -> Comparison:
    """Fit, predict and score; see `maskedadv.cross_validation.compare`.

    Parameters
    ----------
    how : where folds are fitted
    folder : where finished folds are kept, and taken from if they lie there

    Raises
    ------
    NotEstimable
        No answer can be held out.
    """
    frame = _held_out(plan)
    engine = choose_engine(next(iter(plan.settings.values())).engine)
    notes = list(plan.chosen.notes)
    units = _units(plan, engine, how, Kept(folder, plan.locales), progress)
    for (name, locale, fold), unit in units.items():
        if unit.trouble:
            notes.append(f"{name}, {locale}, fold {fold + 1}: {unit.trouble}; the base rate stands in")
    names = [c.name for c in plan.chosen.candidates]
    base = np.concatenate(_ordered(plan, lambda k, f: _base(plan, k, f)))
    fallback = {}
    for name in names:
        own = {(k, f): units[name, k, f].predicted for k in plan.locales for f in range(plan.folds.count)}
        p = np.concatenate(_ordered(plan, lambda k, f, own=own: own[k, f]))  # type: ignore[misc]
        fallback[name] = int(np.isnan(p).sum())
        frame[name] = np.where(np.isnan(p), base, p)
    table, by_fold, by_group, calibration = make_tables(frame, names, plan.folds.scheme)
    seconds = {n: sum(u.seconds for key, u in units.items() if key[0] == n) for n in names}
    table["fallback"] = [fallback[n] for n in table["candidate"]]
    table["seconds"] = [round(seconds[n], 2) for n in table["candidate"]]
    spared = sum(int((f == NEVER).sum()) for f in plan.fold.values())
    if spared:
        notes.append(
            f"{spared:,} answers stay in every training set and are not predicted: without them an ability "
            "or a difficulty would have no answer left"
        )
    info = {
        **plan.describe(),
        "answers": len(frame),
        "spared": spared,
        "locales": plan.locales,
        "models": int(frame["model"].nunique()),
        "items": int(frame["item"].nunique()),
        "engine": engine.version,
    }
    return Comparison(table, by_fold, by_group, calibration, tuple(notes), info, frame)


def _places(plan: Plan) -> list[tuple[str, int, int]]:
    """Locale, subset and fold of every stretch of predictions, in their order."""
    return [
        (k, s, f) for k in plan.locales for s in plan.target.of_locale(k) for f in range(plan.folds.count)
    ]


def _ordered(plan: Plan, predicted: Callable[[str, int], Mapping[int, Array]]) -> list[Array]:
    """Predictions by locale and fold in the order of `_places`, NaN where there are none."""
    out = []
    for k, s, f in _places(plan):
        found = predicted(k, f).get(s)
        n = int((plan.fold[k, s] == f).sum())
        out.append(np.full(n, np.nan) if found is None else found)
    return out


def _base(plan: Plan, locale: str, fold: int) -> dict[int, Array]:
    own = plan.training("binary", locale, fold)
    return {s: base_rates(t)[plan.fold[locale, s] == fold] for s, t in own.items()}


def _held_out(plan: Plan) -> pd.DataFrame:
    """Labels of every held-out answer, in the order of `_places`, then of cells and items."""
    rows: list[dict[str, Any]] = []
    for locale, s, f in _places(plan):
        block = plan.target.of_locale(locale)[s]
        cell, item = np.nonzero(plan.fold[locale, s] == f)
        rows.append(
            {
                "locale": np.full(len(cell), locale, dtype=object),
                "subset": np.full(len(cell), SUBSETS[s], dtype=object),
                "model": block.model[cell],
                "language": block.language[cell],
                "item": block.item[item],
                "fold": np.full(len(cell), f + 1),
                "correct": block.answers[cell, item].astype(np.int8),
            }
        )
    if not sum(len(r["fold"]) for r in rows):
        raise NotEstimable(
            f"scheme '{plan.folds.scheme}' with {plan.folds.count} folds holds out no answer of this table: "
            "an ability or an item would lose all of its answers each time. It takes more models or items, "
            "or another scheme."
        )
    frame = pd.DataFrame({k: np.concatenate([r[k] for r in rows]) for k in rows[0]})
    labels = ("locale", "subset", "model", "language", "item")
    return frame.assign(**{k: frame[k].astype("category") for k in labels})


def _units(
    plan: Plan, engine: Engine, how: Launcher, kept: Kept, tell: Tell
) -> dict[tuple[str, str, int], Unit]:
    """Every candidate, locale and fold, kept as it is done; maximum likelihood first."""
    tasks: list[Task] = [
        (c, k, f) for c in plan.chosen.candidates for k in plan.locales for f in range(plan.folds.count)
    ]
    tasks.sort(key=lambda task: task[0].method == DRAWS)
    found = {task: unit for task in tasks if (unit := kept.get(task[0].name, task[1], task[2])) is not None}
    if found:
        tell(f"{len(found)} of {len(tasks)} folds are kept from the earlier run")
    todo = [task for task in tasks if task not in found]
    # Stan's own threads use the cores of this machine: one posterior after the other.
    alone = [t for t in todo if t[0].method == DRAWS] if isinstance(how, Local) else []
    told = time.monotonic()

    def keep(task: Task, unit: Unit) -> None:
        nonlocal told
        candidate, locale, fold = task
        kept.put(candidate.name, locale, fold, unit)
        found[task] = unit
        if candidate.method == DRAWS:
            tell(f"{candidate.name}: {locale}, fold {fold + 1} of {plan.folds.count}, {unit.seconds:.0f} s")
            return
        last = all(t in found for t in tasks if t[0] is candidate)
        if last or time.monotonic() - told > QUIET:
            tell(f"{candidate.name}: " + ("done" if last else f"{locale}, fold {fold + 1}"))
            told = time.monotonic()

    here = isinstance(how, Local) and how.jobs == 1
    for chosen, by in (
        ([t for t in todo if t not in alone], how),
        (alone, Local(ledger=how.ledger)),
    ):
        units = [
            Launched(
                f"{t[0].name}, {t[1]}, fold {t[2] + 1}",
                partial(_unit, plan if here or chosen is alone else _only(plan, t), engine, t),
            )
            for t in chosen
        ]
        complete(units, by, keep=lambda n, unit, own=chosen: keep(own[n], unit), tell=tell)  # type: ignore[misc]
    return {(c.name, k, f): found[c, k, f] for c, k, f in tasks}


def _only(plan: Plan, task: Task) -> Plan:
    """The part of a plan that one fold needs, to be sent to another process."""
    candidate, locale, _ = task
    design = plan.designs[candidate.response]
    own = replace(design, blocks=tuple(design.of_locale(locale).values()), cells={}, notes=())
    fold = {key: v for key, v in plan.fold.items() if key[0] == locale}
    nothing = replace(plan.folds, fold=np.zeros((0, 0, 0), dtype=np.int8))
    return replace(plan, designs={candidate.response: own}, target=own, folds=nothing, fold=fold)


def _unit(plan: Plan, engine: Engine, task: Task, _: Tell) -> Unit:
    candidate, locale, fold = task
    start = time.perf_counter()
    own = plan.training(candidate.response, locale, fold)
    usable = {s: t for s, t in own.items() if len(t.cells)}
    try:
        found = candidate.predict(usable, plan.settings[candidate.name], engine) if usable else {}
    except (NotConverged, EngineFailed, np.linalg.LinAlgError) as error:
        # One fold of one candidate must not cost all others; the notes say which and why.
        return Unit({}, time.perf_counter() - start, str(error).rstrip("."))
    held = {s: p[plan.fold[locale, s] == fold] for s, p in found.items()}
    return Unit(held, time.perf_counter() - start)
