"""What a study needs, read and checked before anything is computed."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from maskedadv.errors import BadPairing, NotEstimable
from maskedadv.models_table import read_models
from maskedadv.validity.abilities import ability_scores, load_cubes
from maskedadv.validity.analyses import VARIANTS, variant_sample
from maskedadv.validity.measure import check_stated, measure
from maskedadv.validity.pairings import Pairing, PairingFile, read_pairings
from maskedadv.validity.regression import design
from maskedadv.validity.reliability import Measured
from maskedadv.validity.sampling import Sample, check_common_models, check_pairing
from maskedadv.validity.scores import Scores, empty_scores, join_scores, read_scores
from maskedadv.validity.settings import Settings


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
        """SHA-256 of everything the results depend on; the order of rows is not part of it."""
        plan = {"pairings": [asdict(p) for p in self.pairings], "settings": asdict(self.settings)}
        digest = hashlib.sha256(json.dumps(plan, sort_keys=True).encode())
        distinct = {id(scores): scores for scores in self.scores.values()}.values()
        for frame in (
            self.models.reset_index(),
            *(f for s in distinct for f in (s.table, s.counts, s.items)),
        ):
            digest.update(np.sort(pd.util.hash_pandas_object(frame, index=False).to_numpy()).tobytes())
        return digest.hexdigest()


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
        _check_abilities(plan)
        cubes = load_cubes(plan.abilities)
        by_locale = {
            code: join_scores(table, ability_scores(plan.abilities, cubes, code)) for code in languages
        }
    settings = replace(settings, reliability=dict(plan.reliability) | dict(settings.reliability))
    inputs = Inputs(plan.pairings, by_locale, read_models(model_source, ["family"]), settings)
    for pairing in inputs.pairings:
        check_common_models(by_locale[pairing.language], inputs.models)
        check_pairing(pairing, by_locale[pairing.language], inputs.models)
    check_stated(settings, inputs.pairings, inputs.models)
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


def overview(inputs: Inputs) -> list[dict[str, Any]]:
    """What a study of these inputs would use, one entry a pairing, without computing it.

    Returns
    -------
    list of dict
        pairing, language, n_models (with scores and controls), dropped ((model, reason) pairs), native
        and proxy (numbers of CA and CS items as text), reliability (of every score, in words), limits (what
        cannot be done, in words).
    """
    rows = []
    for pairing in inputs.pairings:
        scores = inputs.scores[pairing.language]
        limits: list[str] = []
        reliability: list[str] = []
        n_models = 0
        dropped: tuple[tuple[str, str], ...] = ()
        for variant in VARIANTS:
            try:
                sample = variant_sample(pairing, scores, inputs.models, variant)
                design(sample.controls, sample.proxy, sample.control_names)
                if variant == "main":
                    n_models, dropped = len(sample.models), sample.dropped
                    reliability = _reliability(pairing, scores, inputs, sample)
            except NotEstimable as error:
                limits.append(f"no {variant} regression, {error}")
        items = scores.items
        answered = set(items.loc[items["language"] == pairing.language, "benchmark"])
        lacking = [benchmark for benchmark in (pairing.native, pairing.proxy) if benchmark not in answered]
        if lacking:
            limits.append(f"no Block A for {' and '.join(lacking)}, which needs answers to single items")
        rows.append(
            {
                "pairing": pairing.name,
                "language": pairing.language,
                "n_models": n_models,
                "dropped": dropped,
                "native": _item_counts(scores, pairing.native, pairing.language),
                "proxy": _item_counts(scores, pairing.proxy, pairing.language),
                "reliability": reliability,
                "limits": limits,
            }
        )
    return rows


def _reliability(pairing: Pairing, scores: Scores, inputs: Inputs, sample: Sample) -> list[str]:
    native, controls, proxy = measure(pairing, scores, inputs.models, sample, "ALL", inputs.settings)
    lines = []
    for measured in (native, proxy, *controls):
        if measured.known:
            lines.append(f"reliability of {measured.name} {measured.reliability:.3f}, {measured.basis}")
        else:
            lines.append(f"reliability of {measured.name} not known; {_mend(measured)}")
    return lines


def _mend(measured: Measured) -> str:
    if measured.role == "control" and "@" not in measured.name:
        return f"give it in the model table, as {measured.name}_items, _se or _reliability, or state it"
    return "give n_items in the score table, or state it"


def _item_counts(scores: Scores, benchmark: str, language: str) -> str:
    counts = [scores.n_items(benchmark, language, group) for group in ("CA", "CS")]
    return "+".join("?" if count is None else str(count) for count in counts)
