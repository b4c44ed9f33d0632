"""The whole study: every analysis of every pairing, as tidy tables."""

from __future__ import annotations

import platform
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from maskedadv import __version__
from maskedadv.errors import NotEstimable
from maskedadv.files.text_tables import plain_records
from maskedadv.launchers.kinds import Launcher, Local
from maskedadv.launchers.launching import complete
from maskedadv.launchers.unit import Unit
from maskedadv.linear_algebra import one_thread
from maskedadv.validity import analyses
from maskedadv.validity.corrected import corrected_rows, joint_evidence
from maskedadv.validity.inputs import Inputs, prepare
from maskedadv.validity.locality import trend
from maskedadv.validity.pairings import Pairing, PairingFile
from maskedadv.validity.sampling import draw_sample
from maskedadv.validity.scores import Scores
from maskedadv.validity.settings import Settings
from maskedadv.words.terminal import dumps

__all__ = ["Settings", "Study", "study"]


@dataclass(frozen=True)
class Study:
    """Results of a study; every table is tidy, numbers unrounded, NaN with a `reason` where not known.

    Attributes
    ----------
    ranking
        pairing, group: Kendall's tau_b, intervals, p, top-k overlaps.
    block_a
        benchmark, language: tau_b of CA and CS on balanced halves.
    incremental
        pairing, variant (main, CA, CS, extra): nested regressions.
    refits
        pairing, kind (family, model), left_out: leave-one-out refits.
    vif, influence
        Diagnostics of the main regressions.
    evidence
        pairing: robust, marginal, null or undetermined; by plain numbers, by corrected ones, by both.
    corrected
        pairing, variant: the regressions with measurement error taken out.
    reliability
        pairing, variant, role, score: how precisely each is known, and where that would matter.
    corrected_refits
        pairing, left_out: corrected refits without a family.
    locality, trends
        Partial r and dR2 against the share of CS items, and the descriptive lines.
    dropped
        pairing, model, reason: models with part of the data only.
    """

    settings: Settings
    pairings: tuple[Pairing, ...]
    ranking: pd.DataFrame
    block_a: pd.DataFrame
    incremental: pd.DataFrame
    refits: pd.DataFrame
    vif: pd.DataFrame
    influence: pd.DataFrame
    evidence: pd.DataFrame
    corrected: pd.DataFrame
    reliability: pd.DataFrame
    corrected_refits: pd.DataFrame
    locality: pd.DataFrame
    trends: pd.DataFrame
    dropped: pd.DataFrame
    notes: tuple[str, ...]
    versions: dict[str, str]
    fingerprint: str

    def to_json(self) -> str:
        """Everything as JSON; NaN and infinity become null."""
        content: dict[str, Any] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, pd.DataFrame):
                content[field.name] = plain_records(value)
            elif field.name == "pairings":
                content[field.name] = [asdict(pairing) for pairing in value]
            else:
                content[field.name] = asdict(value) if isinstance(value, Settings) else value
        return dumps(content)


@one_thread
def study(
    pairings: str | Path | PairingFile | Inputs,
    scores: str | Path | pd.DataFrame | None = None,
    models: str | Path | pd.DataFrame | None = None,
    settings: Settings | None = None,
    *,
    launcher: Launcher | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Study:
    """Run every analysis of every pairing.

    Parameters
    ----------
    pairings
        Path of a pairings file, its content, or what `prepare` returned (then the rest is not used).
    scores, models
        Override the tables named in the pairings file.
    launcher
        Where pairings are analysed; default: in this process. See `maskedadv.launchers`.
    tell
        Called with a line as pairings are done.

    Raises
    ------
    InputError
        The input is not usable; some subclass.
    NotEstimable
        Nothing could be estimated for any pairing.
    """
    inputs = pairings if isinstance(pairings, Inputs) else prepare(pairings, scores, models, settings)
    settings, models_table = inputs.settings, inputs.models
    benchmarks = dict.fromkeys(
        (benchmark, p.language) for p in inputs.pairings for benchmark in (p.native, p.proxy)
    )
    units = [
        Unit(p.name, partial(_pairing_rows, p, inputs.scores[p.language], models_table, settings))
        for p in inputs.pairings
    ]
    units += [
        Unit(
            f"balance of {b}, {lang}", partial(_balance, b, lang, inputs.scores[lang], models_table, settings)
        )
        for b, lang in benchmarks
    ]
    found: dict[int, Any] = {}

    def keep(k: int, value: Any) -> None:
        found[k] = value
        tell(f"{len(found)} of {len(units)}: {units[k].name}")

    complete(units, launcher or Local(), keep=keep, tell=tell)
    tables: dict[str, list[dict[str, Any]]] = {name: [] for name in _TABLES}
    for k in range(len(inputs.pairings)):
        for name, own in found[k].items():
            tables[name] += own
    _refuse_if_nothing(tables)
    frames = {name: _frame(name, rows) for name, rows in tables.items()}
    block_a = [found[k] for k in range(len(inputs.pairings), len(units))]
    return Study(
        settings=settings,
        pairings=inputs.pairings,
        block_a=pd.DataFrame(block_a),
        trends=_trends(frames["locality"]),
        notes=inputs.notes,
        versions=_versions(),
        fingerprint=inputs.fingerprint,
        **frames,
    )


def _pairing_rows(
    pairing: Pairing, found: Scores, models: pd.DataFrame, settings: Settings, _: Callable[[str], None]
) -> dict[str, list[dict[str, Any]]]:
    """Rows of every table but those that are of benchmarks, of one pairing."""
    rows = [analyses.incremental_row(pairing, found, models, settings, v) for v in analyses.VARIANTS]
    refits, vif, influence = analyses.diagnostics(pairing, found, models, settings)
    plain = analyses.evidence_row(rows[0], refits, settings.alpha)
    joint = joint_evidence(pairing, found, models, settings, plain["evidence"], plain["p_f"])
    reason = "; ".join(filter(None, [plain["reason"], joint["hangs_on"]]))
    estimates, reliabilities, corrected_refits = corrected_rows(pairing, found, models, settings)
    return {
        "ranking": analyses.ranking_rows(pairing, found, models, settings),
        "incremental": rows,
        "refits": refits,
        "vif": vif,
        "influence": influence,
        "evidence": [plain | joint | {"reason": reason}],
        "corrected": estimates,
        "reliability": reliabilities,
        "corrected_refits": corrected_refits,
        "locality": [analyses.locality_row(pairing, found, rows[0])],
        "dropped": _dropped(pairing, found, models),
    }


def _balance(
    benchmark: str,
    language: str,
    scores: Scores,
    models: pd.DataFrame,
    settings: Settings,
    _: Callable[[str], None],
) -> dict[str, Any]:
    return analyses.balance_row(benchmark, language, scores, models, settings)


_TABLES = (
    "ranking",
    "incremental",
    "refits",
    "vif",
    "influence",
    "evidence",
    "corrected",
    "reliability",
    "corrected_refits",
    "locality",
    "dropped",
)
_COLUMNS = {
    "reliability": ["pairing", "variant", "role", "score", "reliability", "basis", "tips_at", "note"],
    "corrected_refits": ["pairing", "left_out", "n_models", "beta", "p", "passes", "reason"],
    "refits": ["pairing", "kind", "left_out", "n_models", "beta", "p", "passes", "reason"],
    "vif": ["pairing", "term", "vif"],
    "influence": ["pairing", "model", "leverage", "studentised", "cooks_d", "dfbeta_proxy", "flagged"],
    "dropped": ["pairing", "model", "reason"],
}


def _frame(name: str, rows: list[dict[str, Any]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=_COLUMNS.get(name))


def _dropped(pairing: Pairing, scores: Scores, models: pd.DataFrame) -> list[dict[str, str]]:
    try:
        dropped = draw_sample(pairing, scores, models, "ALL", pairing.controls).dropped
    except NotEstimable:
        return []
    return [{"pairing": pairing.name, "model": model, "reason": reason} for model, reason in dropped]


def _refuse_if_nothing(tables: dict[str, list[dict[str, Any]]]) -> None:
    numbers = [row["tau"] for row in tables["ranking"]] + [row["beta"] for row in tables["incremental"]]
    if np.isnan(numbers).all():
        reasons = [f"{row['pairing']}: {row['reason']}" for row in tables["ranking"] if row["group"] == "ALL"]
        more = f"; and {len(reasons) - 3} more" if len(reasons) > 3 else ""
        raise NotEstimable(f"nothing can be estimated for any pairing ({'; '.join(reasons[:3])}{more}).")


def _trends(locality: pd.DataFrame) -> pd.DataFrame:
    rows = []
    for measure in ("partial_r", "delta_r2"):
        row: dict[str, Any] = {
            "measure": measure,
            "intercept": np.nan,
            "slope": np.nan,
            "r": np.nan,
            "n_pairings": 0,
        }
        try:
            line = trend(
                locality["cs_share"].to_numpy(dtype=np.float64),
                locality[measure].to_numpy(dtype=np.float64),
                locality["open_ended"].to_numpy(dtype=bool),
            )
            rows.append({**row, **asdict(line), "reason": ""})
        except NotEstimable as error:
            rows.append({**row, "reason": str(error)})
    return pd.DataFrame(rows)


def _versions() -> dict[str, str]:
    packages = {name: version(name) for name in ("numpy", "scipy", "statsmodels", "pandas")}
    return {"maskedadv": __version__, "python": platform.python_version(), **packages}
