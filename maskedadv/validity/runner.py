"""The whole study: every analysis of every pairing, as tidy tables."""

from __future__ import annotations

import hashlib
import json
import platform
from dataclasses import asdict, dataclass, fields
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from maskedadv import __version__
from maskedadv.errors import BadPairing, NotEstimable
from maskedadv.validity import analyses
from maskedadv.validity.abilities import ability_scores, load_cubes
from maskedadv.validity.locality import trend
from maskedadv.validity.pairings import Pairing, PairingFile, read_pairings
from maskedadv.validity.sampling import check_common_models, check_pairing, draw_sample, read_models
from maskedadv.validity.scores import Scores, empty_scores, join_scores, read_scores
from maskedadv.validity.settings import Settings

__all__ = ["Settings", "Study", "prepare", "study"]


@dataclass(frozen=True)
class Inputs:
    """Checked inputs: scores by locale (abilities belong to one), models, pairings."""

    pairings: tuple[Pairing, ...]
    scores: dict[str, Scores]
    models: pd.DataFrame
    settings: Settings

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes of all scores, each once."""
        return tuple(dict.fromkeys(note for scores in self.scores.values() for note in scores.notes))

    @property
    def fingerprint(self) -> str:
        """SHA-256 of everything the results depend on."""
        digest = hashlib.sha256(json.dumps([asdict(p) for p in self.pairings], sort_keys=True).encode())
        digest.update(json.dumps(asdict(self.settings), sort_keys=True).encode())
        frames = [self.models, *(f for s in self.scores.values() for f in (s.table, s.counts, s.items))]
        for frame in frames:
            sorted_rows = frame.reset_index(drop=True).sort_values(list(frame.columns), ignore_index=True)
            digest.update(sorted_rows.to_csv(index=False).encode())
        return digest.hexdigest()


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
        pairing: robust, marginal, null or undetermined.
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
                content[field.name] = json.loads(value.to_json(orient="records", double_precision=15))
            elif field.name == "pairings":
                content[field.name] = [asdict(pairing) for pairing in value]
            else:
                content[field.name] = asdict(value) if isinstance(value, Settings) else value
        return json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False)


def prepare(
    pairings: str | Path | PairingFile,
    scores: str | Path | pd.DataFrame | None = None,
    models: str | Path | pd.DataFrame | None = None,
    settings: Settings | None = None,
) -> Inputs:
    """Read and check everything a study needs, without computing anything.

    Parameters
    ----------
    pairings
        Path of a pairings file, or its content.
    scores, models
        Override the tables named in the pairings file.

    Raises
    ------
    InputError
        Some subclass of it; see the readers.
    """
    settings = settings or Settings()
    plan = pairings if isinstance(pairings, PairingFile) else read_pairings(pairings)
    score_source, model_source = _or(scores, plan.scores), _or(models, plan.models)
    if model_source is None:
        raise BadPairing(
            'no model table: name it in the pairings file (models = "models.csv") or with --models.'
        )
    by_ability = settings.scores == "ability"
    if by_ability and not plan.abilities:
        raise BadPairing("scores by ability need [abilities.BENCHMARK] tables in the pairings file.")
    if score_source is None and not by_ability:
        raise BadPairing(
            'no score table: name it in the pairings file (scores = "scores.csv") or with --table.'
        )
    table = empty_scores() if score_source is None else read_scores(score_source)
    languages = sorted({pairing.language for pairing in plan.pairings})
    by_locale = dict.fromkeys(languages, table)
    if by_ability:
        cubes = load_cubes(plan.abilities)
        by_locale = {
            code: join_scores(table, ability_scores(plan.abilities, cubes, code)) for code in languages
        }
        _check_abilities(plan)
    inputs = Inputs(plan.pairings, by_locale, read_models(model_source), settings)
    for pairing in inputs.pairings:
        check_common_models(by_locale[pairing.language], inputs.models)
        check_pairing(pairing, by_locale[pairing.language], inputs.models)
    return inputs


def _or(given: str | Path | pd.DataFrame | None, default: Path | None) -> str | Path | pd.DataFrame | None:
    return default if given is None else given


def _check_abilities(plan: PairingFile) -> None:
    """Abilities and accuracies are different scales; a pairing does not mix them."""
    have = {benchmark for benchmark, _ in plan.abilities}
    for pairing in plan.pairings:
        lacking = [b for b in (pairing.native, pairing.proxy) if b not in have]
        if lacking:
            raise BadPairing(
                f"pairing {pairing.name!r}: scores by ability need [abilities.{lacking[0]}] in the file."
            )


def study(
    pairings: str | Path | PairingFile | Inputs,
    scores: str | Path | pd.DataFrame | None = None,
    models: str | Path | pd.DataFrame | None = None,
    settings: Settings | None = None,
) -> Study:
    """Run every analysis of every pairing.

    Parameters
    ----------
    pairings
        Path of a pairings file, its content, or what `prepare` returned (then the rest is not used).
    scores, models
        Override the tables named in the pairings file.

    Raises
    ------
    InputError
        The input is not usable; some subclass.
    NotEstimable
        Nothing could be estimated for any pairing.
    """
    inputs = pairings if isinstance(pairings, Inputs) else prepare(pairings, scores, models, settings)
    settings, models_table = inputs.settings, inputs.models
    tables: dict[str, list[dict[str, Any]]] = {
        name: []
        for name in (
            "ranking",
            "incremental",
            "refits",
            "vif",
            "influence",
            "evidence",
            "locality",
            "dropped",
        )
    }
    benchmarks: dict[tuple[str, str], None] = {}
    for pairing in inputs.pairings:
        found = inputs.scores[pairing.language]
        tables["ranking"] += analyses.ranking_rows(pairing, found, models_table, settings)
        rows = [
            analyses.incremental_row(pairing, found, models_table, settings, v) for v in analyses.VARIANTS
        ]
        refits, vif, influence = analyses.diagnostics(pairing, found, models_table, settings)
        tables["incremental"] += rows
        tables["refits"] += refits
        tables["vif"] += vif
        tables["influence"] += influence
        tables["evidence"].append(analyses.evidence_row(rows[0], refits, settings.alpha))
        tables["locality"].append(analyses.locality_row(pairing, found, rows[0]))
        tables["dropped"] += _dropped(pairing, found, models_table)
        benchmarks |= dict.fromkeys([(pairing.native, pairing.language), (pairing.proxy, pairing.language)])
    _refuse_if_nothing(tables)
    frames = {name: _frame(name, rows) for name, rows in tables.items()}
    block_a = [
        analyses.balance_row(b, lang, inputs.scores[lang], models_table, settings) for b, lang in benchmarks
    ]
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


_COLUMNS = {
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
