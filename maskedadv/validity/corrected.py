"""A pairing with the errors of its scores taken out: estimates, refits, and what the class hangs on."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Any

import numpy as np
import pandas as pd

from maskedadv.errors import NotEstimable
from maskedadv.validity.analyses import VARIANTS, variant_sample
from maskedadv.validity.errors_in_variables import Corrected, corrected
from maskedadv.validity.evidence import EvidenceClass, classify, conclude
from maskedadv.validity.measure import measure
from maskedadv.validity.pairings import Pairing
from maskedadv.validity.reliability import EXACT, Measured
from maskedadv.validity.scores import Scores
from maskedadv.validity.settings import Settings
from maskedadv.words.lists import first_few

Row = dict[str, Any]
Scored = tuple[Measured, tuple[Measured, ...], Measured]
_LOWEST = 0.3  # a control less reliable than this controls nothing
_STEP = 0.001


def corrected_rows(
    pairing: Pairing, scores: Scores, models: pd.DataFrame, settings: Settings
) -> tuple[list[Row], list[Row], list[Row]]:
    """Estimates of every variant, reliabilities of every score, and family refits of the main regression.

    Returns
    -------
    corrected, reliability, refits : list of dict
        A row a variant; a row a score of a variant, with the reliability at which a control of the main
        regression would take the association away; a row a family.
    """
    rows, reliabilities, refits = [], [], []
    empty = {field.name: np.nan for field in fields(Corrected) if field.name not in ("reason", "direction")}
    for variant in VARIANTS:
        head: Row = {"pairing": pairing.name, "variant": variant}
        try:
            sample = variant_sample(pairing, scores, models, variant)
        except NotEstimable as error:
            rows.append({**head, "n_models": np.nan, **empty, "reason": str(error)})
            continue
        group = variant if variant in ("CA", "CS") else "ALL"
        scored = measure(pairing, scores, models, sample, group, settings)
        native, controls, proxy = scored
        found = asdict(corrected(*scored, level=settings.level))
        del found["direction"]
        found["reason"] = "; ".join(filter(None, [found["reason"], _unknown_words(scored)]))
        rows.append({**head, "n_models": len(sample.models), **found})
        for measured in (native, proxy, *controls):
            tip = tipping(scored, measured, settings) if variant == "main" else (np.nan, "")
            reliabilities.append({**head, **_reliability(measured), "tips_at": tip[0], "note": tip[1]})
        if variant == "main":
            refits = [
                {"pairing": pairing.name, **row} for row in _refits(scored, sample.families, settings, 1.0)
            ]
    return rows, reliabilities, refits


def _reliability(measured: Measured) -> Row:
    return {
        "role": measured.role,
        "score": measured.name,
        "reliability": measured.reliability,
        "basis": measured.basis,
    }


def _unknown_words(scored: Scored) -> str:
    native, controls, proxy = scored
    unknown = [m.name for m in (native, proxy, *controls) if not m.known]
    if not unknown:
        return ""
    return f"not corrected for {first_few(unknown)}, whose reliability is not known"


def _refits(scored: Scored, families: tuple[str, ...], settings: Settings, unknown: float) -> list[Row]:
    """The corrected regression without each family; it passes with beta > 0 and p < alpha."""
    native, controls, proxy = assume(scored, unknown)
    labels = np.asarray(families, dtype=object)
    rows = []
    for name in sorted(set(families)) if len(set(families)) > 1 else []:
        keep = np.asarray(labels != name, dtype=bool)
        fit = corrected(native.of(keep), [c.of(keep) for c in controls], proxy.of(keep), settings.level)
        rows.append(
            {
                "left_out": name,
                "n_models": int(keep.sum()),
                "beta": fit.beta,
                "p": fit.p,
                "passes": bool(fit.positive and fit.p < settings.alpha),
                "reason": fit.reason if np.isnan(fit.p) else "",
            }
        )
    return rows


def assume(scored: Scored, value: float) -> Scored:
    """Give controls of unknown reliability this one."""
    native, controls, proxy = scored
    return native, tuple(c if c.known else c.at(value) for c in controls), proxy


def corrected_class(
    scored: Scored, families: tuple[str, ...], settings: Settings, unknown: float
) -> tuple[EvidenceClass, float]:
    """Class of a pairing by the corrected numbers, and the p that it rests on.

    Parameters
    ----------
    unknown
        Reliability of controls of which nothing is known.
    """
    fit = corrected(*assume(scored, unknown), level=settings.level)
    refits = _refits(scored, families, settings, unknown) if fit.p < settings.alpha else []  # else null
    passed = sum(row["passes"] for row in refits)
    doubtful = sum(row["reason"] != "" for row in refits)
    found = classify(fit.p, fit.lower, passed, len(refits), settings.alpha, unknown=doubtful)
    return found, fit.p


def joint_evidence(
    pairing: Pairing,
    scores: Scores,
    models: pd.DataFrame,
    settings: Settings,
    plain: EvidenceClass,
    plain_p: float,
) -> Row:
    """The class that plain and corrected numbers give together.

    Returns
    -------
    dict
        evidence; evidence_plain; evidence_corrected (controls of unknown reliability as exact);
        p_corrected; and `hangs_on`, in words, where the class is not the same at the assumed least
        reliability of controls of which none is known.
    """
    row: Row = {"evidence": plain, "evidence_plain": plain, "evidence_corrected": "undetermined"}
    row |= {"p_corrected": np.nan, "hangs_on": ""}
    if np.isnan(plain_p):
        return row
    sample = variant_sample(pairing, scores, models, "main")
    scored = measure(pairing, scores, models, sample, "ALL", settings)
    at_best, p = corrected_class(scored, sample.families, settings, 1.0)
    best = conclude([(plain, plain_p), (at_best, p)])
    row |= {"evidence_corrected": at_best, "p_corrected": p, "evidence": best}
    unknown = [c.name for c in scored[1] if not c.known]
    if unknown and best not in ("null", "undetermined"):
        floor = settings.assumed_reliability
        at_worst = conclude([(plain, plain_p), corrected_class(scored, sample.families, settings, floor)])
        if at_worst != best:
            names = first_few(unknown)
            row["evidence"] = "undetermined"
            row["hangs_on"] = f"{best} were {names} exact, {at_worst} at a reliability of {floor:g}"
    return row


def tipping(scored: Scored, control: Measured, settings: Settings) -> tuple[float, str]:
    """Reliability of a control at which the association is lost: corrected p at alpha or above, or beta <= 0.

    The highest such reliability from 1 down, the other scores being as they are.

    Returns
    -------
    value, note
        NaN where it is not a control, is exact, or never tips, which the note says.
    """
    if control.role != "control" or control.basis == EXACT:
        return np.nan, ""

    def state(value: float) -> str:
        changed = tuple(c.at(value) if c is control else c for c in scored[1])
        fit = corrected(scored[0], changed, scored[2], settings.level)
        if np.isnan(fit.p):
            return "nothing"
        return "kept" if fit.positive and fit.p < settings.alpha else "lost"

    if (first := state(1.0)) != "kept":
        return np.nan, "null even if exact" if first == "lost" else ""
    high = 1.0
    while high - 0.02 > _LOWEST and (now := state(high - 0.02)) == "kept":
        high -= 0.02
    for step in range(1, 21):
        value = high - step * _STEP
        if value < _LOWEST:
            break
        if (now := state(value)) == "lost":
            return value, ""
        if now == "nothing":
            return np.nan, f"holds down to {value + _STEP:.3f}; below, nothing is left of the controls"
    return np.nan, f"holds down to {_LOWEST:g}"
