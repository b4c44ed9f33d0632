"""An analysis and all others beside it: one table, and what changes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from maskedadv.design.prepare import prepare
from maskedadv.errors import BadSetting, MissingColumn
from maskedadv.files.journal import Journal
from maskedadv.fitting import fit_design
from maskedadv.launchers.kinds import Launcher, Local
from maskedadv.launchers.launching import complete
from maskedadv.launchers.unit import Unit
from maskedadv.models_table import read_models
from maskedadv.responses import Responses, read_responses
from maskedadv.sensitivity.estimate import estimate
from maskedadv.sensitivity.specifications import (
    FIRST,
    Known,
    Specification,
    guess_subjects,
    make_specifications,
)
from maskedadv.settings import Settings

COLUMNS = (
    "kind",
    "name",
    "variant",
    "locale",
    "gap",
    "estimate",
    "sd",
    "lower",
    "upper",
    "p_positive",
    "n_models",
    "note",
)


@dataclass(frozen=True)
class Sensitivity:
    """Mean gaps under every specification.

    Attributes
    ----------
    table : kind, name, variant, locale ("(all locales)" for the mean over them), gap, estimate, sd, lower,
        upper (logit), p_positive, n_models, note (why there is nothing)
    headline : variant that is spoken of first: `plain` or `paired`
    notes : what was not varied, and why
    settings : of the first analysis
    """

    table: pd.DataFrame
    headline: str
    notes: tuple[str, ...]
    settings: Settings


def vary(
    responses: str | Path | pd.DataFrame | Responses,
    *,
    settings: Settings | None = None,
    models: str | Path | pd.DataFrame | None = None,
    subject: str | None = None,
    others: Mapping[str, str | Path | pd.DataFrame | Responses] | None = None,
    jobs: int = 1,
    launcher: Launcher | None = None,
    tell: Callable[[str], None] = lambda _: None,
    journal: Path | None = None,
) -> Sensitivity:
    """Mean gaps under other variants, estimators and data.

    Parameters
    ----------
    responses
        A response table; see `read_responses`.
    settings
        Of the first analysis, by `optimize`; default: the estimator `auto`.
    models
        Model table whose column `family` says who is left out together.
    subject
        Column of the response table that names an item's subject; default: `subject`, if there is such a
        column, else what stands before the first slash of ids such as `astronomy/test/107`.
    others
        The same study under another letter form, prompt or reading, as response tables by name.
    jobs
        Processes; they change no number.
    launcher
        Where specifications are estimated, in the place of `jobs`; see `maskedadv.launchers`.
    tell
        Called with a line as specifications are done.
    journal
        File that keeps finished specifications, so that the same call completes an interrupted one.

    Returns
    -------
    Sensitivity

    Raises
    ------
    InputError
        As for `maskedadv.fit`; a method other than `optimize`; a column or a family that there is not.
    """
    settings = settings or Settings(estimator="auto")
    if settings.method != "optimize":
        raise BadSetting("sensitivity goes with method 'optimize' only; nuts would take hours.")
    if settings.interval == "bootstrap":
        raise BadSetting("sensitivity goes with interval robust or information, not with the bootstrap.")
    if settings.missing == "auto":  # the other end is one of the specifications
        settings = replace(settings, missing="left-out")
    table, extra = _read(responses, subject)
    notes: list[str] = []
    families = _families(table, models, notes)
    subjects = extra or guess_subjects(table.items)
    if not extra:
        notes.append(
            "Subjects are what stands before the first slash of an item's id."
            if subjects
            else "No subject was left out: the table has no column subject (--subject names another)."
        )
    if not others:
        notes.append("No other table (letter form, prompt, reading) was given.")
    read = {name: read_responses(own) for name, own in (others or {}).items()}
    known = Known(table, settings, families, subjects, read)
    specs = make_specifications(known)
    design = prepare(table, settings)
    headline = fit_design(design, settings, bases=("plain", "paired")).headline
    about = {
        "settings": settings.as_json(),
        "tables": [table.fingerprint, *(own.fingerprint for own in read.values())],
        "specifications": [[s.kind, s.name] for s in specs],
        "families": hashlib.sha256(json.dumps(sorted(families.items())).encode()).hexdigest(),
        "subjects": hashlib.sha256(json.dumps(sorted(subjects.items())).encode()).hexdigest(),
    }
    rows = _run(specs, launcher or Local(jobs), tell, journal, about)
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    floats = dict.fromkeys(("estimate", "sd", "lower", "upper", "p_positive"), "float64")
    return Sensitivity(frame.astype(floats), headline, tuple(notes), settings)


def _run(
    specs: list[Specification],
    how: Launcher,
    tell: Callable[[str], None],
    journal: Path | None,
    about: Mapping[str, Any],
) -> list[dict[str, Any]]:
    keys = [f"{s.kind}: {s.name}" for s in specs]
    with Journal.open(journal, about) as kept:
        todo = [(key, spec) for key, spec in zip(keys, specs, strict=True) if kept.get(key) is None]

        def keep(k: int, rows: list[dict[str, Any]]) -> None:
            kept.add(todo[k][0], rows)
            tell(f"{len(kept.values)} of {len(specs)}: {todo[k][0]}")

        units = [Unit(key, partial(_estimate, spec)) for key, spec in todo]
        complete(units, how, keep=keep, tell=tell)
        return [row for key in keys for row in kept.get(key)]


def _estimate(spec: Specification, _: Callable[[str], None]) -> list[dict[str, Any]]:
    return estimate(spec)


def _read(source: Any, subject: str | None) -> tuple[Responses, dict[str, str]]:
    """The table, and the subject of every item where a column names it.

    Raises
    ------
    MissingColumn
        The column asked for is not there.
    """
    table = read_responses(source, extras=True)
    extra = table.extra
    name = subject or "subject"
    if extra is None or name not in extra:
        if subject is not None:
            raise MissingColumn(f"the table has no column {subject!r}; name the column of subjects.")
        return replace(table, extra=None), {}
    values = extra[name].astype("string").fillna("").to_numpy()
    of_item = dict(zip(table.items[table.item].tolist(), values.tolist(), strict=True))
    return replace(table, extra=None), {str(k): str(v) for k, v in of_item.items()}


def _families(table: Responses, models: Any, notes: list[str]) -> dict[str, str]:
    if models is None:
        notes.append("No family was left out: no model table (--models) names them.")
        return {}
    frame = read_models(models, required=["family"])
    known = {str(m): str(f) for m, f in frame["family"].items()}
    lacking = [str(m) for m in table.models if str(m) not in known]
    if lacking:
        notes.append(f"{len(lacking)} models are not in the model table ({lacking[0]!r}); they stay.")
    return known


__all__ = ["FIRST", "Sensitivity", "vary"]
