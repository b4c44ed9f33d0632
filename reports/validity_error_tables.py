"""Tables 27c and 27d of a validity study: what measurement error does, and how large it is. They are ours."""

from __future__ import annotations

import pandas as pd

from maskedadv.reports.columns import Column, estimate, number, p, text, whole
from maskedadv.validity import Study
from maskedadv.words.numbers import level_text

Parts = tuple[str, str, str, str, pd.DataFrame, list[Column]]

_CORRECTED = [
    text("Pairing", "pairing"),
    text("Items", "items"),
    whole("Models", "n_models"),
    number("R², base", "r2_base"),
    number("ΔR²", "delta_r2"),
    estimate("β of proxy", "beta", "lower", "upper"),
    p("p", "p"),
    number("Partial r", "partial_r"),
    number("plain", "partial_r_plain"),
]
_RELIABILITY = [
    text("Pairing", "pairing"),
    text("Items", "items"),
    text("Role", "role"),
    text("Score", "score"),
    number("Reliability", "reliability"),
    text("From", "basis"),
    number("Null at", "tips_at"),
    text("Remark", "note"),
]


def error_tables(study: Study) -> list[Parts]:
    """Number, name, title, words, frame and columns of both."""
    plain = study.incremental[["pairing", "variant", "partial_r"]].rename(
        columns={"partial_r": "partial_r_plain"}
    )
    corrected = study.corrected.merge(plain, on=["pairing", "variant"])
    return [
        (
            "27c",
            "corrected",
            "Incremental validity with measurement error taken out",
            "Errors in variables, by the reliabilities of Table 27d. Brackets: "
            f"{level_text(study.settings.level)} intervals, which may reach to infinity where, given the "
            "controls, the proxy varies hardly more than its error. Shares and correlations are estimates "
            "and may exceed 1.",
            _named(corrected),
            _CORRECTED,
        ),
        (
            "27d",
            "reliability",
            "Reliability of the scores",
            "Share of the variance over models that is not error. Null at: reliability of this control at "
            f"which the association would be lost (corrected p ≥ {study.settings.alpha:g}, or β no longer "
            "above 0).",
            _named(study.reliability),
            _RELIABILITY,
        ),
    ]


def _named(frame: pd.DataFrame) -> pd.DataFrame:
    words = frame["variant"].replace({"main": "ALL", "extra": "ALL, extra controls"})
    return frame.assign(items=words)
