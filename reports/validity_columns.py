"""Columns of the tables of a validity study."""

from __future__ import annotations

from maskedadv.reports.columns import Column, Row, count, estimate, interval, number, p, text, whole
from maskedadv.reports.tables import Cell


def _lofo(row: Row) -> Cell:
    shown = f"{row['lofo_passed']}/{row['lofo_refits']}" if row["lofo_refits"] else "n/a"
    return Cell(shown, float(row["lofo_passed"]))


def _passes(row: Row) -> Cell:
    return Cell("n/a" if not row["left_out"] else "yes" if row["passes"] else "no")


PAIRING = text("Pairing", "pairing")


DELTA = estimate("ΔR²", "delta_r2", "delta_r2_lower", "delta_r2_upper")


BETA = estimate("β of proxy", "beta", "beta_lower", "beta_upper")


RANKING = [
    PAIRING,
    whole("Models", "n_models"),
    estimate("τ, all items", "tau", "lower", "upper", 2),
    count("Top 3", "top3"),
    count("Top 5", "top5"),
    number("τ, CA", "tau_ca", 2),
    number("τ, CS", "tau_cs", 2),
]


INCREMENTAL = [
    PAIRING,
    number("R², base", "r2_base"),
    number("R², extended", "r2_ext"),
    DELTA,
    BETA,
    p("p", "p_f"),
    Column("LOFO", _lofo),
    text("Evidence", "evidence"),
]


SENSITIVITY = [
    PAIRING,
    number("ΔR², main", "delta_r2"),
    p("p, main", "p_f"),
    estimate("ΔR², extra", "delta_r2_extra", "delta_r2_lower_extra", "delta_r2_upper_extra"),
    estimate("β, extra", "beta_extra", "beta_lower_extra", "beta_upper_extra"),
    p("p, extra", "p_f_extra"),
]


BLOCK_A = [
    text("Benchmark", "benchmark"),
    text("Language", "language"),
    whole("Models", "n_models"),
    whole("CA items", "n_ca"),
    whole("CS items", "n_cs"),
    whole("Balanced", "n_balanced"),
    estimate("τ [spread]", "tau", "lower", "upper", 2),
    number("τ, all items", "tau_all", 2),
]


RANKING_FULL = [
    PAIRING,
    text("Items", "group"),
    whole("Models", "n_models"),
    whole("Native items", "n_items_native"),
    whole("Proxy items", "n_items_proxy"),
    estimate("τ", "tau", "lower", "upper", 2),
    interval("Studentised", "lower_t", "upper_t", 2),
    interval("To go by", "lower_chosen", "upper_chosen", 2),
    text("which is", "chosen"),
    p("p", "p_value"),
    count("Top 3", "top3"),
    count("Top 5", "top5"),
]


REGRESSION_FULL = [
    PAIRING,
    whole("Models", "n_models"),
    whole("df", "df_resid"),
    number("R², base", "r2_base"),
    number("R², ext.", "r2_ext"),
    DELTA,
    number("F", "f", 2),
    p("p", "p_f"),
    BETA,
    number("SE", "beta_se"),
    number("β std.", "beta_std"),
]


FIT = [
    PAIRING,
    text("Controls", "variant"),
    number("Adj. R², base", "adj_r2_base"),
    number("extended", "adj_r2_ext"),
    number("CV R², base", "cv_r2_base"),
    number("extended", "cv_r2_ext"),
    number("by family, base", "cv_r2_base_family"),
    number("extended", "cv_r2_ext_family"),
]


STRATIFIED = [
    PAIRING,
    text("Items", "items"),
    whole("Models", "n_models"),
    number("R², base", "r2_base"),
    DELTA,
    BETA,
    p("p", "p_f"),
]


PARTIAL = [
    PAIRING,
    number("All items", "main"),
    number("CA", "CA"),
    number("CS", "CS"),
    number("Extra controls", "extra"),
]


LEAVE_OUT = [
    PAIRING,
    text("Left out", "left_out"),
    whole("Models left", "n_models"),
    number("β of proxy", "beta"),
    p("p", "p"),
    Column("Passes", _passes, numeric=False),
]
