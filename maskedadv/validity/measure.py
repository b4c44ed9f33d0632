"""What is known of the errors of the scores in one analysis, and where it stands.

In this order: stated for the study (`[reliability]` of the pairings file, --reliability), columns of the
model table beside a control's, and what the score table tells. Sizes and logarithms are exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from maskedadv.errors import BadSetting, BadValue
from maskedadv.files.text_tables import numbers
from maskedadv.models_table import SIZES, WHAT
from maskedadv.validity.pairings import Pairing
from maskedadv.validity.reliability import (
    EXACT,
    GIVEN,
    ITEMS,
    STANDARD_ERRORS,
    UNKNOWN,
    Measured,
    binomial_error,
)
from maskedadv.validity.sampling import Sample, control_column, is_logarithm
from maskedadv.validity.scores import Scores
from maskedadv.validity.settings import Settings
from maskedadv.words.lists import first_few

Floats = NDArray[np.float64]
Stated = dict[str, float]


def measure(
    pairing: Pairing, scores: Scores, models: pd.DataFrame, sample: Sample, group: str, settings: Settings
) -> tuple[Measured, tuple[Measured, ...], Measured]:
    """Native score, controls and proxy of the models of a sample, with their errors.

    Raises
    ------
    BadValue
        A column of the model table that says how precise a control is cannot be used.
    """
    stated = dict(settings.reliability)
    sides = {}
    for role, benchmark, values in (
        ("native", pairing.native, sample.native),
        ("proxy", pairing.proxy, sample.proxy),
    ):
        found = _of_table(role, benchmark, values, scores.of(benchmark, pairing.language, group), sample)
        sides[role] = _stated(found, stated, (f"{benchmark}@{pairing.language}", benchmark))
    controls = tuple(
        _control(name, sample.controls[:, c], pairing, scores, models, sample, stated)
        for c, name in enumerate(sample.control_names)
    )
    return sides["native"], controls, sides["proxy"]


def check_stated(settings: Settings, pairings: Sequence[Pairing], models: pd.DataFrame) -> None:
    """Refuse a stated reliability of something that is in no pairing.

    Raises
    ------
    BadSetting
    """
    known: dict[str, None] = {}
    for pairing in pairings:
        for control in pairing.controls + pairing.extra_controls:
            known |= dict.fromkeys(_names(control, pairing.language, models))
        for benchmark in (pairing.native, pairing.proxy):
            known |= dict.fromkeys([benchmark, f"{benchmark}@{pairing.language}"])
    strange = [name for name in dict(settings.reliability) if name not in known]
    if strange:
        raise BadSetting(
            f"reliability is stated of {strange[0]!r}, which is neither a benchmark nor a control of a "
            f"pairing; known are {first_few(map(repr, known), 8)}."
        )


def _names(control: str, language: str, models: pd.DataFrame) -> tuple[str, ...]:
    """What a control's reliability may be stated under, most particular first."""
    column = control_column(control, language, models)
    benchmark = control.rpartition("@")[0]
    return tuple(dict.fromkeys(filter(None, (control, column, benchmark if column is None else None))))


def _control(
    control: str,
    values: Floats,
    pairing: Pairing,
    scores: Scores,
    models: pd.DataFrame,
    sample: Sample,
    stated: Stated,
) -> Measured:
    column = control_column(control, pairing.language, models)
    if column is None:
        benchmark, _, language = control.rpartition("@")
        found = _of_table("control", control, values, scores.of(benchmark, language, "ALL"), sample)
    elif column in SIZES or is_logarithm(control, models):
        found = Measured(control, "control", values, np.zeros(len(values)), basis=EXACT)
    else:
        found = _of_columns(control, values, models, sample, list(dict.fromkeys([column, control])))
    return _stated(found, stated, _names(control, pairing.language, models))


def _stated(found: Measured, stated: Stated, names: Sequence[str]) -> Measured:
    value = next((stated[name] for name in names if name in stated), None)
    return found if value is None else replace(found, variance=None, given=value, basis=GIVEN)


def _of_table(role: str, name: str, values: Floats, rows: pd.DataFrame, sample: Sample) -> Measured:
    """A score of the score table; models whose error is not known have the mean of the others'."""
    own = rows.loc[list(sample.models)]
    error = own["error"].to_numpy(dtype=np.float64)
    known = np.isfinite(error)
    if not known.any():
        return Measured(name, role, values)
    basis = next(word for word, here in zip(own["basis"], known, strict=True) if here)
    return Measured(name, role, values, np.where(known, error, error[known].mean()), basis=basis)


def _of_columns(
    control: str, values: Floats, models: pd.DataFrame, sample: Sample, names: Sequence[str]
) -> Measured:
    """A control of the model table, by COLUMN_reliability, COLUMN_se or COLUMN_items beside it."""
    for suffix, allowed, low, high in (
        ("reliability", "a share above 0 and up to 1, or empty", 1e-9, 1.0),
        ("se", "a standard error of 0 or more, or empty", 0.0, np.inf),
        ("items", "a whole number of 2 or more, or empty", 2.0, np.inf),
    ):
        column = next((f"{name}_{suffix}" for name in names if f"{name}_{suffix}" in models.columns), None)
        if column is None:
            continue
        numeric = numbers(models.reset_index(drop=True), column, WHAT, allowed, low, high)
        own = pd.Series(numeric, index=models.index).loc[list(sample.models)]
        found: Floats = np.asarray(own, dtype=np.float64)
        known = np.isfinite(found)
        if not known.any():
            continue
        found = np.where(known, found, found[known].mean())
        if suffix == "reliability":
            if np.ptp(found) > 0:
                raise BadValue(
                    f"{WHAT}, column {column!r}: a reliability belongs to all models alike, but values go "
                    f"from {found.min():g} to {found.max():g}; give one, or standard errors (column "
                    f"'{column.removesuffix('reliability')}se')."
                )
            return Measured(control, "control", values, given=float(found[0]), basis=GIVEN)
        if suffix == "se":
            return Measured(control, "control", values, found**2, basis=STANDARD_ERRORS)
        bad = np.flatnonzero((values < 0) | (values > 1))
        if len(bad):
            shown = [f"{sample.models[row]}: {values[row]:g}" for row in bad[:3]]
            raise BadValue(
                f"{WHAT}, column {control!r}: {len(bad)} values are not shares of {column!r} "
                f"({first_few(shown, count=len(bad))}); divide percentages by 100."
            )
        return Measured(control, "control", values, binomial_error(values, found), basis=ITEMS)
    return Measured(control, "control", values, basis=UNKNOWN)
