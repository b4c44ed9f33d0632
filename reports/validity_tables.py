"""Tables of a validity study, numbered as in Thellmann et al. (2026): 5, 6, 7 and 25 to 31.

27b, 27c and 27d are ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from maskedadv.reports.columns import Column, build, text
from maskedadv.reports.tables import Table, to_latex, write_csv
from maskedadv.reports.validity_columns import (
    BLOCK_A,
    FIT,
    INCREMENTAL,
    LEAVE_OUT,
    PARTIAL,
    RANKING,
    RANKING_FULL,
    REGRESSION_FULL,
    SENSITIVITY,
    STRATIFIED,
)
from maskedadv.reports.validity_error_tables import error_tables
from maskedadv.validity import Study
from maskedadv.validity.ranking import FISHER_FROM, STUDENTISED_FROM
from maskedadv.words.numbers import level_text


@dataclass(frozen=True)
class Exhibit:
    """A numbered table: a file name without suffix, words, every digit, and the form for readers."""

    number: str
    slug: str
    title: str
    note: str
    frame: pd.DataFrame
    table: Table

    @property
    def name(self) -> str:
        """`table05_ranking`."""
        return f"table{self.number:0>2}_{self.slug}"


def exhibits(study: Study) -> tuple[Exhibit, ...]:
    """All tables of a study, by number; a last column says why a number is not there."""
    settings = study.settings
    brackets = (
        f"Brackets: {level_text(settings.level)} intervals over {settings.n_resamples:,} resamples of the "
        f"{settings.resample}."
    )
    full = f"β std.: in standard deviations of both scores. {brackets}"
    ranking, incremental, sensitivity, partial = _side_by_side(study)
    variants = study.incremental.assign(items=study.incremental["variant"].replace("main", "ALL"))
    by_family = study.refits.loc[study.refits["kind"] == "family"].drop(columns="kind")
    return (
        _exhibit(
            "5",
            "ranking",
            "Ranking consistency",
            "Kendall τ between native and proxy scores, and how many of the three and five best models the "
            f"two share. {brackets}",
            ranking,
            RANKING,
        ),
        _exhibit(
            "6",
            "incremental",
            "Incremental validity",
            "Base: native score on the controls. Extended: the same and the proxy. p of the nested F test. "
            "LOFO: refits without one model family that keep β > 0 with p < "
            f"{settings.alpha:g}. Corrected: with measurement error taken out (Tables 27c, 27d); the class "
            f"rests on both. {brackets}",
            incremental,
            INCREMENTAL,
        ),
        _exhibit(
            "7",
            "extra_control",
            "Sensitivity to the extra controls",
            f"The main regression, and the one with the pairing's extra_controls added. {brackets}",
            sensitivity,
            SENSITIVITY,
        ),
        _exhibit(
            "25",
            "block_a",
            "CA against CS ranking inside one benchmark",
            "Kendall τ on as many items of either subset, drawn anew in each repeat: mean, and 2.5% to 97.5% "
            f"of the repeats. Subsets under {settings.min_items} items are reported, not interpreted.",
            study.block_a,
            BLOCK_A,
        ),
        _exhibit(
            "26",
            "ranking_full",
            "Ranking consistency in full",
            "Studentised: bootstrap-t interval on Fisher's z scale, closer to its level at high τ where "
            f"models are many. To go by: studentised from {STUDENTISED_FROM} models on, from {FISHER_FROM} "
            "on Fisher's z with a jackknife standard error and t quantiles, with fewer the percentiles; "
            "bias-corrected where scores are abilities. "
            "Top k: models among the k best on both; models tied at the k-th place count with their chance "
            f"of being in. {brackets}",
            study.ranking,
            RANKING_FULL,
        ),
        _exhibit(
            "27",
            "incremental_full",
            "Incremental validity in full",
            full,
            variants.loc[variants["variant"] == "main"],
            REGRESSION_FULL,
        ),
        _exhibit(
            "27b",
            "fit",
            "Adjusted and cross-validated R²",
            "CV R²: one model held out at a time; by family: one family. Squared errors of held-out models "
            "against squares about the mean, so it may fall below zero.",
            variants.loc[variants["variant"].isin(["main", "extra"])],
            FIT,
        ),
        *(_exhibit(*parts) for parts in error_tables(study)),
        _exhibit(
            "28",
            "stratified",
            "Incremental validity on CA and on CS items",
            f"Native and proxy scores are both taken over the items named. {brackets}",
            variants.loc[variants["variant"] != "extra"],
            STRATIFIED,
        ),
        _exhibit(
            "29",
            "partial",
            "Partial correlations",
            "Correlation of native and proxy scores given the controls.",
            partial,
            PARTIAL,
        ),
        _exhibit(
            "30",
            "extra_control_full",
            "The extra controls in full",
            full,
            variants.loc[variants["variant"] == "extra"],
            REGRESSION_FULL,
        ),
        _exhibit(
            "31",
            "leave_one_family_out",
            "Leave one family out",
            "The extended regression without each model family; it passes with β > 0 and nominal p < "
            f"{settings.alpha:g}.",
            by_family,
            LEAVE_OUT,
        ),
    )


def _exhibit(
    number: str, slug: str, title: str, note: str, frame: pd.DataFrame, columns: Sequence[Column]
) -> Exhibit:
    explained = "reason" in frame.columns and (frame["reason"] != "").any()
    shown = [*columns, text("Note", "reason")] if explained else columns
    return Exhibit(number, slug, title, note, frame, build(frame, shown))


def _side_by_side(study: Study) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Frames of Tables 5, 6, 7 and 29, which put rows of the study side by side, one line a pairing."""
    group = {name: part.set_index("pairing") for name, part in study.ranking.groupby("group")}
    variant = {name: part.set_index("pairing") for name, part in study.incremental.groupby("variant")}
    ranking = group["ALL"][["n_models", "tau", "lower", "upper", "p_value", "top3", "top5", "reason"]].assign(
        tau_ca=group["CA"]["tau"], tau_cs=group["CS"]["tau"]
    )
    numbers = ["delta_r2", "delta_r2_lower", "delta_r2_upper", "beta", "beta_lower", "beta_upper", "p_f"]
    rule = ["lofo_passed", "lofo_refits", "breaks_without", "p_corrected", "evidence", "evidence_plain"]
    rule += ["evidence_corrected", "reason"]
    incremental = variant["main"][["n_models", "df_resid", "r2_base", "r2_ext", *numbers]].join(
        study.evidence.set_index("pairing")[rule]
    )
    extra = variant["extra"][["df_resid", *numbers]].add_suffix("_extra")
    sensitivity = variant["main"][numbers].join(extra).assign(reason=variant["extra"]["reason"])
    partial = pd.DataFrame({name: variant[name]["partial_r"] for name in ("main", "CA", "CS", "extra")})
    order = [pairing.name for pairing in study.pairings]
    ranking, incremental, sensitivity, partial = (
        frame.loc[order].rename_axis("pairing").reset_index()
        for frame in (ranking, incremental, sensitivity, partial)
    )
    return ranking, incremental, sensitivity, partial


def other_frames(study: Study) -> dict[str, pd.DataFrame]:
    """Further tables, CSV only: file name without suffix to frame."""
    return {
        "leave_one_model_out": study.refits.loc[study.refits["kind"] == "model"].drop(columns="kind"),
        "corrected_leave_one_family_out": study.corrected_refits,
        "influence": study.influence,
        "variance_inflation": study.vif,
        "figure1_locality": study.locality,
        "figure1_trends": study.trends,
        "dropped_models": study.dropped,
    }


def write_tables(study: Study, folder: Path) -> None:
    """Every table as CSV with all digits, the numbered ones as LaTeX too."""
    for exhibit in exhibits(study):
        write_csv(exhibit.frame, folder / f"{exhibit.name}.csv")
        latex = to_latex(exhibit.table, f"{exhibit.title}. {exhibit.note}", f"tab:{exhibit.name}")
        for letter, command in (("τ", r"$\tau$"), ("β", r"$\beta$"), ("²", r"$^2$")):
            latex = latex.replace(letter, command)
        (folder / f"{exhibit.name}.tex").write_text(latex, "utf-8")
    for name, frame in other_frames(study).items():
        write_csv(frame, folder / f"{name}.csv")
