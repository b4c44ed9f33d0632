"""The analyses of one pairing, each as rows of a tidy table; what cannot be had is NaN with a reason."""

from __future__ import annotations

from dataclasses import asdict, fields, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from maskedadv.errors import NotEstimable
from maskedadv.validity.balance import Balanced, balanced_tau
from maskedadv.validity.evidence import classify
from maskedadv.validity.pairings import Pairing
from maskedadv.validity.ranking import (
    fisher_interval,
    interval_for,
    kendall_tau,
    studentised_interval,
    tau_draws,
    top_k_overlap,
)
from maskedadv.validity.regression import (
    MIN_MODELS,
    Incremental,
    incremental,
    incremental_draws,
    inflation,
    influence,
)
from maskedadv.validity.resample import (
    Interval,
    bias_corrected_interval,
    expanded_level,
    generator,
    model_weights,
    percentile_interval,
)
from maskedadv.validity.sampling import Sample, draw_sample
from maskedadv.validity.scores import GROUPS, Scores
from maskedadv.validity.settings import Settings
from maskedadv.validity.stability import leave_one_out
from maskedadv.words.lists import first_few

Floats = NDArray[np.float64]
Row = dict[str, Any]
VARIANTS = ("main", "CA", "CS", "extra")
"""All items; CA items; CS items; all items with the extra controls."""
_SIDES = ("the native benchmark", "the proxy benchmark")


def ranking_rows(pairing: Pairing, scores: Scores, models: pd.DataFrame, settings: Settings) -> list[Row]:
    """Table 26 of one pairing: a row for ALL, CA and CS."""
    return [
        {
            "pairing": pairing.name,
            "group": group,
            "n_items_native": scores.n_items(pairing.native, pairing.language, group),
            "n_items_proxy": scores.n_items(pairing.proxy, pairing.language, group),
            **_ranking(pairing, scores, models, settings, group),
        }
        for group in GROUPS
    ]


def _ranking(pairing: Pairing, scores: Scores, models: pd.DataFrame, settings: Settings, group: str) -> Row:
    numeric = ("n_models", "tau", "lower", "upper", "lower_t", "upper_t", "lower_chosen", "upper_chosen")
    row: Row = {**dict.fromkeys((*numeric, "p_value", "top3", "top5"), np.nan), "chosen": ""}
    try:
        sample = _with_ties(draw_sample(pairing, scores, models, group))
        row["n_models"] = len(sample.models)
        row["tau"], row["p_value"] = kendall_tau(sample.native, sample.proxy, _SIDES)
    except NotEstimable as error:
        return {**row, "reason": str(error)}
    reasons = []
    for k in (3, 5):
        try:
            row[f"top{k}"] = top_k_overlap(sample.native, sample.proxy, k)
        except NotEstimable as error:
            reasons.append(str(error))
    weights, native, proxy = _resample(pairing, sample, settings, f"ranking {group}")
    interval = _interval(tau_draws(weights, native, proxy), row["tau"], sample, settings)
    row["lower"], row["upper"] = interval.lower, interval.upper
    if interval.reason:
        reasons.append(f"no interval: {interval.reason}")
    elif not _uncertain(sample):
        studentised = studentised_interval(weights, native, proxy, settings.level)
        row["lower_t"], row["upper_t"] = studentised.lower, studentised.upper
        if studentised.reason:
            reasons.append(f"no studentised interval: {studentised.reason}")
    return {**row, **_chosen_interval(row, sample, settings), "reason": "; ".join(reasons)}


def _chosen_interval(row: Row, sample: Sample, settings: Settings) -> Row:
    """The interval of tau to go by, and what it is, by the size of the study and the kind of its scores."""
    kept = {"lower_chosen": row["lower"], "upper_chosen": row["upper"]}
    if np.isnan(row["lower"]):
        return {**kept, "chosen": ""}
    if _uncertain(sample):
        return {**kept, "chosen": "bias-corrected"}
    if settings.resample == "families":
        return {**kept, "chosen": "percentile"}
    name = interval_for(len(sample.models))
    if name == "Fisher z":
        found = fisher_interval(sample.native, sample.proxy, settings.level)
    else:
        found = Interval(row["lower_t"], row["upper_t"])
    if name == "percentile" or np.isnan(found.lower):
        return {**kept, "chosen": "percentile"}
    return {"lower_chosen": found.lower, "upper_chosen": found.upper, "chosen": name}


def _uncertain(sample: Sample) -> bool:
    return bool(sample.native_sd.any() or sample.proxy_sd.any())


def _resample(
    pairing: Pairing, sample: Sample, settings: Settings, label: str
) -> tuple[Floats, Floats, Floats]:
    """Weights of the resamples, and scores: perturbed by their standard errors where they have any."""
    rng = generator(settings.seed, pairing.name, label)
    clusters = sample.family_codes if settings.resample == "families" else None
    weights = model_weights(len(sample.models), settings.n_resamples, rng, clusters)
    if not _uncertain(sample):
        return weights, sample.native, sample.proxy
    native = sample.native + sample.native_sd * rng.standard_normal(weights.shape)
    proxy = sample.proxy + sample.proxy_sd * rng.standard_normal(weights.shape)
    return weights, native, proxy


def _interval(
    draws: Floats, estimate: float, sample: Sample, settings: Settings, df: int | None = None
) -> Interval:
    """Percentiles, widened if `df` is given; bias-corrected ones where scores carry an error of their own."""
    n_families = len(set(sample.families))
    if settings.resample == "families" and n_families < MIN_MODELS:
        return Interval(np.nan, np.nan, f"{n_families} families, but resampling them needs {MIN_MODELS}")
    if _uncertain(sample):
        return bias_corrected_interval(draws, estimate, settings.level)
    return percentile_interval(draws, settings.level if df is None else expanded_level(settings.level, df))


def variant_sample(pairing: Pairing, scores: Scores, models: pd.DataFrame, variant: str) -> Sample:
    """Models and controls of a regression variant.

    Raises
    ------
    NotEstimable
    """
    if variant == "extra" and not pairing.extra_controls:
        raise NotEstimable("the pairing names no extra_controls")
    controls = pairing.controls + (pairing.extra_controls if variant == "extra" else ())
    return draw_sample(pairing, scores, models, variant if variant in ("CA", "CS") else "ALL", controls)


def incremental_row(
    pairing: Pairing, scores: Scores, models: pd.DataFrame, settings: Settings, variant: str
) -> Row:
    """Nested regressions of one pairing and variant, with bootstrap intervals of dR2 and beta."""
    row: Row = {"pairing": pairing.name, "variant": variant}
    row |= dict.fromkeys([field.name for field in fields(Incremental)], np.nan)
    row |= dict.fromkeys(["delta_r2_lower", "delta_r2_upper", "beta_lower", "beta_upper"], np.nan)
    try:
        sample = variant_sample(pairing, scores, models, variant)
        row["n_models"] = len(sample.models)
        families = sample.family_codes if len(set(sample.families)) > 1 else None
        fit = incremental(sample.native, sample.controls, sample.proxy, families, sample.control_names)
    except NotEstimable as error:
        return {**row, "reason": str(error)}
    row |= asdict(fit)
    weights, native, proxy = _resample(pairing, sample, settings, f"regression {variant}")
    delta_r2, beta = incremental_draws(weights, native, sample.controls, proxy)
    df = fit.df_resid if settings.interval == "expanded" else None
    delta_interval = _interval(delta_r2, fit.delta_r2, sample, settings, df)
    beta_interval = _interval(beta, fit.beta, sample, settings, df)
    row["delta_r2_lower"], row["delta_r2_upper"] = delta_interval.lower, delta_interval.upper
    row["beta_lower"], row["beta_upper"] = beta_interval.lower, beta_interval.upper
    return {**row, "reason": f"no interval: {beta_interval.reason}" if beta_interval.reason else ""}


def diagnostics(
    pairing: Pairing, scores: Scores, models: pd.DataFrame, settings: Settings
) -> tuple[list[Row], list[Row], list[Row]]:
    """Leave-one-out refits (by family and by model), variance inflation, and influence of the main model."""
    try:
        sample = variant_sample(pairing, scores, models, "main")
        factors = inflation(sample.controls, sample.proxy)
        weighing = influence(sample.native, sample.controls, sample.proxy)
    except NotEstimable:
        return [], [], []  # the main row of the regression table carries the reason
    refits = []
    for kind, groups in (("family", sample.families), ("model", sample.models)):
        try:
            found = leave_one_out(
                sample.native, sample.controls, sample.proxy, groups, settings.alpha, sample.control_names
            )
        except NotEstimable as error:
            row = {
                "left_out": "",
                "n_models": 0,
                "beta": np.nan,
                "p": np.nan,
                "passes": False,
                "reason": str(error),
            }
            refits.append({"pairing": pairing.name, "kind": kind, **row})
            continue
        refits += [{"pairing": pairing.name, "kind": kind, **asdict(refit)} for refit in found]
    terms = (*pairing.controls, pairing.proxy)
    vif = [{"pairing": pairing.name, "term": t, "vif": v} for t, v in zip(terms, factors, strict=True)]
    weighing.insert(0, "pairing", pairing.name)
    weighing.insert(1, "model", list(sample.models))
    return refits, vif, [{str(k): v for k, v in row.items()} for row in weighing.to_dict("records")]


def evidence_row(main: Row, refits: list[Row], alpha: float) -> Row:
    """The evidence class of a pairing, from its main regression and its family refits."""
    by_family = [refit for refit in refits if refit["kind"] == "family"]
    families = [refit for refit in by_family if refit["left_out"]]
    passed = sum(refit["passes"] for refit in families)
    unknown = [refit for refit in families if refit["reason"]]
    broken = [refit["left_out"] for refit in families if not refit["passes"] and not refit["reason"]]
    if unknown:
        names = first_few(refit["left_out"] for refit in unknown)
        stability = (
            f"{len(unknown)} of {len(families)} refits cannot be done ({names}: {unknown[0]['reason']})"
        )
    else:
        stability = next((refit["reason"] for refit in by_family), "")
    return {
        "pairing": main["pairing"],
        "evidence": classify(
            main["p_f"], main["beta_lower"], passed, len(families), alpha, unknown=len(unknown)
        ),
        "p_f": main["p_f"],
        "beta": main["beta"],
        "beta_lower": main["beta_lower"],
        "beta_upper": main["beta_upper"],
        "lofo_passed": passed,
        "lofo_refits": len(families),
        "breaks_without": "; ".join(broken),
        "stability": stability,
        "reason": "; ".join(filter(None, [main["reason"], stability])),
    }


def balance_row(
    benchmark: str, language: str, scores: Scores, models: pd.DataFrame, settings: Settings
) -> Row:
    """Block A of one benchmark: CA against CS ranking on balanced halves."""
    row: Row = {"benchmark": benchmark, "language": language}
    row |= dict.fromkeys([field.name for field in fields(Balanced)], np.nan)
    row["interpretable"] = False
    items = scores.items
    chosen = (items["benchmark"] == benchmark) & (items["language"] == language)
    if not chosen.any():
        return {**row, "reason": "needs answers to single items; only aggregates are given"}
    chosen &= (items["subset"] != "") & items["model"].isin(models.index)
    if not chosen.any():
        return {**row, "reason": "no item is labelled CA or CS"}
    answers = items.loc[chosen]
    wide = answers.pivot(index="model", columns="item", values="correct")  # noqa: PD010
    subset = answers.drop_duplicates("item").set_index("item")["subset"].reindex(wide.columns)
    rng = generator(settings.seed, benchmark, language, "block A")
    try:
        found = balanced_tau(
            wide.to_numpy(dtype=np.float64),
            (subset == "CS").to_numpy(),
            rng,
            settings.repeats,
            settings.min_items,
        )
    except NotEstimable as error:
        return {**row, "reason": str(error)}
    few = f"only {found.n_balanced} items of the smaller subset; reported, not interpreted"
    return {**row, **asdict(found), "reason": "" if found.interpretable else few}


def locality_row(pairing: Pairing, scores: Scores, main: Row) -> Row:
    """Share of culture-specific native items beside partial r and dR2."""
    share, reason = pairing.cs_share, ""
    if share is None:
        n_ca, n_cs = (_counted(scores, pairing, group) for group in ("CA", "CS"))
        share = n_cs / (n_ca + n_cs) if n_ca + n_cs > 0 else np.nan  # NaN where either is not known
        reason = "" if np.isfinite(share) else "number of CA and CS items not known; give n_items or cs_share"
    return {
        "pairing": pairing.name,
        "cs_share": share,
        "partial_r": main["partial_r"],
        "delta_r2": main["delta_r2"],
        "open_ended": pairing.open_ended,
        "reason": reason or main["reason"],
    }


def _counted(scores: Scores, pairing: Pairing, group: str) -> float:
    """Native items of a group: 0 where it has no scores, NaN where it has scores but no count."""
    if (found := scores.n_items(pairing.native, pairing.language, group)) is not None:
        return found
    return 0 if scores.of(pairing.native, pairing.language, group).empty else np.nan


def _with_ties(sample: Sample) -> Sample:
    """Scores that differ by rounding only tie: 0.1 + 0.2 and 0.3 are the same share of right answers."""
    return replace(sample, native=sample.native.round(12), proxy=sample.proxy.round(12))
