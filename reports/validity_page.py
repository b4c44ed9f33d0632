"""The results of a validity study as files: tables, Figure 1, and one page that says what they mean."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from maskedadv.errors import NothingToDraw
from maskedadv.reports.drawing import inline_svg, save_figure
from maskedadv.reports.fonts import fonts_for
from maskedadv.reports.page import render
from maskedadv.reports.tables import display
from maskedadv.reports.validity_figures import locality_figure
from maskedadv.reports.validity_tables import exhibits, write_tables
from maskedadv.validity import Study
from maskedadv.validity.verdict import verdict

CLASSES = ("robust", "marginal", "null", "undetermined")


def write_study(study: Study, folder: Path) -> None:
    """Write `validity.json`, all tables, Figure 1 and `index.html` into an existing folder."""
    (folder / "validity.json").write_text(study.to_json(), "utf-8")
    write_tables(study, folder)
    fonts = fonts_for([pairing.name for pairing in study.pairings])
    figure, missing = "", ""
    try:
        drawn = locality_figure(study, families=fonts.families)
        save_figure(drawn, folder / "figure1.svg")
        figure = inline_svg(
            drawn, "figure1", "Partial correlation and added variance against the share of CS items"
        )
    except NothingToDraw as error:
        missing = str(error)
    (folder / "index.html").write_text(page(study, figure, missing), "utf-8")


def page(study: Study, figure: str, missing: str) -> str:
    """The page as HTML; `figure` is an inline SVG, or '' with the reason in `missing`."""
    evidence = study.evidence.set_index("pairing")
    cards = [
        {
            "name": pairing.name,
            "evidence": evidence.loc[pairing.name, "evidence"],
            "words": verdict(study, pairing),
        }
        for pairing in study.pairings
    ]
    counts = [(name, sum(card["evidence"] == name for card in cards)) for name in CLASSES]
    return render(
        "validity.html.j2",
        title="Validity of translated benchmarks",
        cards=cards,
        counts=[(name, count) for name, count in counts if count],
        figure=figure,
        missing=missing,
        trends=[_trend_words(row) for row in study.trends.to_dict(orient="records")],
        exhibits=exhibits(study),
        notable=_notable(study),
        dropped=display(study.dropped) if len(study.dropped) else None,
        notes=study.notes,
        study=study,
        controls=sorted({control for pairing in study.pairings for control in pairing.controls}),
    )


def _trend_words(row: dict[Any, Any]) -> str:
    name = {"partial_r": "Partial correlation", "delta_r2": "ΔR²"}[row["measure"]]
    if row["reason"]:
        return f"{name}: no trend, {row['reason']}."
    return (
        f"{name}: {row['intercept']:.3f} {'+' if row['slope'] >= 0 else '−'} {abs(row['slope']):.3f} × share "
        f"of CS items, over {row['n_pairings']} multiple-choice pairings."
    )


def _notable(study: Study) -> list[str]:
    """Models and predictors that a careful reader would look at."""
    lines = []
    for name, part in study.influence.groupby("pairing", sort=False):
        flagged: pd.DataFrame = part.loc[part["flagged"]].sort_values("cooks_d", ascending=False)
        if len(flagged):
            shown = ", ".join(
                f"{m} (D = {d:.2f})" for m, d in flagged[["model", "cooks_d"]].head(4).to_numpy()
            )
            lines.append(
                f"{name}: {len(flagged)} influential models, {shown}{', …' if len(flagged) > 4 else ''}."
            )
    high = study.vif.loc[study.vif["vif"] > 10]
    lines += [f"{r.pairing}: {r.term} is nearly collinear (VIF {r.vif:.1f})." for r in high.itertuples()]
    return lines
