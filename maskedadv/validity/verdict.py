"""A pairing's result in plain words; every number in them comes from the study."""

from __future__ import annotations

from typing import Any

import numpy as np

from maskedadv.validity.pairings import Pairing
from maskedadv.validity.runner import Study
from maskedadv.words import numbers
from maskedadv.words.lists import and_more, first_few

_STRENGTH = {"robust": "Robust", "marginal": "Marginal", "null": "No"}


def number(value: float, digits: int = 3) -> str:
    """Fixed decimals, or NA; never a negative zero."""
    return numbers.number(value, digits, numbers.STUDY)


def p_text(p: float) -> str:
    """`0.027`, or `2.1e-07` below 0.001, or NA."""
    return "NA" if not np.isfinite(p) else f"{p:.3f}" if p >= 0.001 else f"{p:.1e}"


def interval_text(lower: float, upper: float, digits: int = 3) -> str:
    """`[0.780, 0.960]`, or NA."""
    return "NA" if not np.isfinite(lower) else f"[{number(lower, digits)}, {number(upper, digits)}]"


def verdict(study: Study, pairing: Pairing) -> str:
    """One paragraph on a pairing: class, why, how sure, and how alike the two rank the models."""
    name = pairing.name
    main = _row(study.incremental, pairing=name, variant="main")
    evidence = _row(study.evidence, pairing=name)
    ranking = _row(study.ranking, pairing=name, group="ALL")
    sentences = [f"{_headline(pairing, evidence['evidence'])}."]
    if np.isfinite(main["beta"]):
        sentences += _regression(study, main, evidence)
    else:
        sentences.append(f"The regression cannot be done: {main['reason']}.")
    sentences.append(_rank_sentence(ranking))
    if pairing.open_ended:
        sentences.append(
            "The native benchmark is open-ended, so its format differs from the proxy's as well."
        )
    return " ".join(sentences)


def _headline(pairing: Pairing, evidence: str) -> str:
    if evidence == "undetermined":
        return "Undetermined"
    beyond = f" beyond {' and '.join(pairing.controls)}" if pairing.controls else ""
    return f"{_STRENGTH[evidence]} evidence that {pairing.proxy} predicts {pairing.native}{beyond}"


def _regression(study: Study, main: dict[str, Any], evidence: dict[str, Any]) -> list[str]:
    level = numbers.level_text(study.settings.level)
    sentences = [
        f"Over {main['n_models']:.0f} models, the proxy adds {number(main['delta_r2'])} to the share of "
        f"variance explained ({number(main['r2_base'])} to {number(main['r2_ext'])}; "
        f"F(1, {main['df_resid']:.0f}) = {main['f']:.2f}, p = {p_text(main['p_f'])}; "
        f"partial r {number(main['partial_r'])})."
    ]
    if np.isfinite(main["beta_lower"]):
        side = (
            "above" if main["beta_lower"] > 0 else "below" if main["beta_upper"] < 0 else "on both sides of"
        )
        sentences.append(
            f"Its coefficient is {number(main['beta'])}, {level} interval "
            f"{interval_text(main['beta_lower'], main['beta_upper'])}, {side} zero."
        )
    else:
        sentences.append(f"Its coefficient is {number(main['beta'])}; {main['reason']}.")
    if main["beta"] < 0 and main["p_f"] < study.settings.alpha:
        sentences.append(
            "The coefficient is negative: with the controls held equal, better on the proxy goes with worse "
            "on the native benchmark, which speaks against the proxy."
        )
    refits, passed = evidence["lofo_refits"], evidence["lofo_passed"]
    if refits and passed == refits:
        sentences.append(f"It holds without any one of the {refits} model families.")
    elif refits and evidence["evidence"] != "null":
        own = study.refits.loc[
            (study.refits["pairing"] == main["pairing"]) & (study.refits["kind"] == "family")
        ]
        broken = list(own.loc[~own["passes"].astype(bool) & (own["reason"] == ""), "left_out"])
        text = f"It holds in {passed} of {refits} refits without one family"
        sentences.append(f"{text}; it breaks without {and_more(broken)}." if broken else f"{text}.")
    if evidence["stability"]:
        sentences.append(f"Stability over families is not fully known: {evidence['stability']}.")
    return sentences + _errors(study, main["pairing"], evidence)


def _errors(study: Study, pairing: str, evidence: dict[str, Any]) -> list[str]:
    """What measurement error does to the result, and what is not known of it."""
    fit = _row(study.corrected, pairing=pairing, variant="main")
    own = study.reliability.loc[
        (study.reliability["pairing"] == pairing) & (study.reliability["variant"] == "main")
    ]
    known = own.loc[own["reliability"].notna() & (own["basis"] != "exact")]
    unknown = own.loc[own["basis"] == "not known"]
    sentences = []
    if len(known) and np.isfinite(fit["p"]):
        listed = ", ".join(f"{r['score']} {number(r['reliability'])}" for r in known.to_dict("records"))
        text = f"With measurement error taken out (reliabilities: {listed}) p is {p_text(fit['p'])}"
        if np.isfinite(fit["beta"]):
            limits = f"[{_limit(fit['lower'])}, {_limit(fit['upper'])}]"
            text += f", and the coefficient {number(fit['beta'])} {limits}"
        sentences.append(f"{text}.")
    elif not np.isfinite(fit["p"]):
        sentences.append(f"Measurement error cannot be taken out: {fit['reason']}.")
    tips = own.loc[own["tips_at"].notna()]
    sentences += [
        f"The association would be lost were the reliability of {r['score']} {number(r['tips_at'])} or less."
        for r in tips.to_dict("records")
    ]
    if len(unknown):
        names = first_few(unknown["score"])
        sentences.append(f"The reliability of {names} is not known and not corrected for.")
    if evidence["hangs_on"]:
        sentences.append(f"The class hangs on it: {evidence['hangs_on']}.")
    return sentences


def _limit(value: float) -> str:
    """One limit, which may be infinite."""
    return number(value) if np.isfinite(value) else "no limit"


def _rank_sentence(ranking: dict[str, Any]) -> str:
    if not np.isfinite(ranking["tau"]):
        return f"Rankings cannot be compared: {ranking['reason']}."
    text = f"The two rank the models with Kendall tau {number(ranking['tau'], 2)}"
    if np.isfinite(ranking["lower_chosen"]):
        limits = interval_text(ranking["lower_chosen"], ranking["upper_chosen"], 2)
        text += f" {limits} ({ranking['chosen']} interval)"
    if np.isfinite(ranking["top5"]):
        text += f" and share {ranking['top5']:.3g} of their top 5"
    return text + "."


def _row(frame: Any, **keys: str) -> dict[str, Any]:
    chosen = np.logical_and.reduce([(frame[column] == value).to_numpy() for column, value in keys.items()])
    row: dict[str, Any] = frame.loc[chosen].iloc[0].to_dict()
    return row
