"""From tables to arrays: the models of one analysis, their scores and controls, and who was left out."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from maskedadv.errors import BadValue, NoCommonModel, NotEstimable, UnknownBenchmark
from maskedadv.files.text_tables import numbers, offenders
from maskedadv.models_table import SIZES, WHAT
from maskedadv.validity.pairings import Pairing
from maskedadv.validity.scores import Scores
from maskedadv.words.lists import first_few

Floats = NDArray[np.float64]
_LOG = re.compile(r"log\((.+)\)")


@dataclass(frozen=True)
class Sample:
    """The models of one analysis, sorted by id.

    Attributes
    ----------
    models, families
        Text, length n.
    native, proxy, native_sd, proxy_sd
        Scores and their standard errors (0 for accuracies), shape (n,).
    controls
        Shape (n, c); c is 0 where no controls were asked for.
    control_names
        What they are called, length c.
    dropped
        (model, reason) of models with some of the data only.
    """

    models: tuple[str, ...]
    families: tuple[str, ...]
    native: Floats
    proxy: Floats
    native_sd: Floats
    proxy_sd: Floats
    controls: Floats
    control_names: tuple[str, ...]
    dropped: tuple[tuple[str, str], ...]

    @property
    def family_codes(self) -> NDArray[np.intp]:
        """Index of every model's family among the sorted families."""
        return np.unique(np.asarray(self.families, dtype=object).astype(str), return_inverse=True)[1]


def check_common_models(scores: Scores, models: pd.DataFrame) -> None:
    """Refuse tables whose model ids do not meet at all.

    Raises
    ------
    NoCommonModel
    """
    scored = sorted(set(scores.table["model"]))
    if not set(scored) & set(models.index):
        known = sorted(models.index)
        raise NoCommonModel(
            "the scores and the model table share no model; the scores have "
            f"{first_few(map(repr, scored))}, the model table has {first_few(map(repr, known))}."
        )


def check_pairing(pairing: Pairing, scores: Scores, models: pd.DataFrame) -> None:
    """Refuse a pairing whose benchmarks or controls are nowhere in the tables.

    Raises
    ------
    UnknownBenchmark
    """
    for role, benchmark in (("native", pairing.native), ("proxy", pairing.proxy)):
        wanted, known = f"{benchmark}@{pairing.language}", scores.known()
        if wanted not in known:
            raise UnknownBenchmark(
                f"pairing {pairing.name!r}: the {role} benchmark {wanted} has no scores; "
                f"known are {first_few(known, 8)}."
            )
    for control in pairing.controls + pairing.extra_controls:
        _control(control, pairing, scores, models)


def draw_sample(
    pairing: Pairing, scores: Scores, models: pd.DataFrame, group: str, controls: tuple[str, ...] = ()
) -> Sample:
    """Models with native and proxy scores on a group of items, and with all controls.

    Parameters
    ----------
    group
        ALL, CA or CS: both benchmarks are cut the same way. Controls always use all items.

    Raises
    ------
    NotEstimable
        A benchmark has no scores on this group, or fewer than two models are left.
    """
    sides = {}
    for role, benchmark in (("native", pairing.native), ("proxy", pairing.proxy)):
        sides[role] = scores.of(benchmark, pairing.language, group)
        if sides[role].empty:
            what = "scores" if group == "ALL" else f"{group} scores"
            raise NotEstimable(f"the {role} benchmark {benchmark} has no {what} in {pairing.language}")
    everyone = sides["native"].index.union(sides["proxy"].index).sort_values()
    columns = {control: _control(control, pairing, scores, models).reindex(everyone) for control in controls}
    lacking = {
        "no native score": ~everyone.isin(sides["native"].index),
        "no proxy score": ~everyone.isin(sides["proxy"].index),
        "not in the model table": ~everyone.isin(models.index),
        **{f"no value of {control}": column.isna().to_numpy() for control, column in columns.items()},
    }
    reasons = [next((why for why, lacks in lacking.items() if lacks[i]), "") for i in range(len(everyone))]
    kept = everyone[[not why for why in reasons]]
    if len(kept) < 2:
        raise NotEstimable(f"{len(kept)} of {len(everyone)} models have all that is needed")
    native, proxy = sides["native"].loc[kept], sides["proxy"].loc[kept]
    return Sample(
        models=tuple(kept),
        families=tuple(models.loc[kept, "family"]),
        native=native["score"].to_numpy(),
        proxy=proxy["score"].to_numpy(),
        native_sd=native["sd"].to_numpy(),
        proxy_sd=proxy["sd"].to_numpy(),
        controls=np.column_stack(
            [np.empty((len(kept), 0)), *(c.loc[kept].to_numpy() for c in columns.values())]
        ),
        control_names=controls,
        dropped=tuple((model, why) for model, why in zip(everyone, reasons, strict=True) if why),
    )


def _control(control: str, pairing: Pairing, scores: Scores, models: pd.DataFrame) -> pd.Series:
    """Values of a control, indexed by model, NaN where not known.

    `log(COLUMN)` is the natural logarithm of a column of the model table, unless a column has that very
    name; `COLUMN` is COLUMN_language if there is one, else COLUMN; `BENCHMARK@LANGUAGE` is a score on all
    items.
    """
    column = control_column(control, pairing.language, models)
    if column is None:
        return _score_control(control, pairing, scores, models)
    logarithm = is_logarithm(control, models)
    rows = models.reset_index(drop=True)
    known = "a number, or empty where not known"
    values = rows[column].to_numpy(float) if column in SIZES else numbers(rows, column, WHAT, known)
    if logarithm:
        bad = np.flatnonzero(values <= 0)
        if len(bad):
            where = offenders(bad, [models[column].iloc[row] for row in bad[:3]], len(bad))
            raise BadValue(f"{WHAT}, column {column!r}: {len(bad)} values have no logarithm ({where}).")
        values = np.log(values)
    return pd.Series(values, index=models.index)


def control_column(control: str, language: str, models: pd.DataFrame) -> str | None:
    """The column of the model table that a control is from, or None: it is a score, or unknown."""
    name = control[4:-1] if is_logarithm(control, models) else control
    column = next((n for n in (f"{name}_{language}", name) if n in models.columns), None)
    return None if column == "family" else column


def is_logarithm(control: str, models: pd.DataFrame) -> bool:
    """Whether a control is `log(COLUMN)` and no column has that very name."""
    return control not in models.columns and _LOG.fullmatch(control) is not None


def _score_control(control: str, pairing: Pairing, scores: Scores, models: pd.DataFrame) -> pd.Series:
    benchmark, at, language = control.rpartition("@")
    found = scores.of(benchmark, language, "ALL")
    if not at or found.empty:
        columns = ", ".join(repr(name) for name in models.columns if name != "family")
        raise UnknownBenchmark(
            f"pairing {pairing.name!r}: the control {control!r} is neither a column of the model table "
            f"({columns or 'none'}) nor a scored benchmark@language."
        )
    return found["score"]
