"""Do the models answer independently? The test of plain against paired, and who is like whom."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotnine as p9

from maskedadv.likelihoods.relatives import BOUND
from maskedadv.reports.exhibit import Exhibit, Source
from maskedadv.reports.theme import CELL_INK, diverging_fill, label_inches, labels, theme_maskedadv
from maskedadv.vocabulary import gap_titles
from maskedadv.words.lists import first_few
from maskedadv.words.numbers import p_value, signed


def relatives_matrix(
    pairs: pd.DataFrame, models: Sequence[str], *, families: Sequence[str] = ("DejaVu Sans",)
) -> p9.ggplot:
    """Residual correlation of every pair of models, the alike beside each other.

    Parameters
    ----------
    pairs : as `Fit.relatives`: model, other, correlation
    models : order of rows and columns
    """
    both = pd.concat([pairs, pairs.rename(columns={"model": "other", "other": "model"})])
    rows, columns = list(models)[::-1], list(models)
    numbers = len(models) <= 20
    cell = 0.42 if numbers else 0.17
    data = both.assign(
        _row=pd.Categorical(both["model"], categories=rows),
        _column=pd.Categorical(both["other"], categories=columns),
        _text=[signed(v) for v in both["correlation"]],
    )
    figure = (
        p9.ggplot(data, p9.aes("_column", "_row"))
        + p9.geom_tile(p9.aes(fill="correlation"), width=0.94, height=0.94)
        + p9.scale_x_discrete(labels=labels, limits=columns)
        + p9.scale_y_discrete(labels=labels, limits=rows)
        + diverging_fill(1.0, "residual correlation")
        + p9.labs(x="", y="")
    )
    if numbers:
        figure += p9.geom_text(p9.aes(label="_text"), size=6.5, color=CELL_INK)
    width = label_inches(rows) + cell * len(columns) + 0.5
    height = label_inches(columns) + (0.24 if numbers else cell) * len(rows) + 1.2
    return (
        figure
        + theme_maskedadv(max(width, 4.0), max(height, 2.4), families)
        + p9.theme(panel_grid_major=p9.element_blank(), axis_text_x=p9.element_text(rotation=90))
    )


def make_relatives(s: Source, title: str) -> list[Exhibit]:
    """The test and the matrix; nothing for a single model."""
    departures, pairs = s.fit.departures(), s.fit.relatives()
    if not len(departures):
        return []
    tables = {"plain-against-paired": departures}
    kin = s.fit.info.relatives
    figure = None
    if kin is not None and len(pairs):
        tables["residual-correlations"] = pairs
        figure = relatives_matrix(pairs, kin.models, families=s.families)
    text = caption(departures, [] if kin is None else [list(g) for g in kin.groups])
    return [Exhibit("relatives", title, text, text, figure, tables)]


def caption(departures: pd.DataFrame, groups: Sequence[Sequence[str]]) -> str:
    """What the test says, with its strongest case, and the groups of models that answer alike."""
    *single, whole = [{str(k): v for k, v in row.items()} for row in departures.to_dict(orient="records")]
    single = [row for row in single if np.isfinite(row["statistic"])]
    told = [f"Plain against paired gaps (Hausman's test) over everything: p {p_value(float(whole['p']))}."]
    if single:
        row = max(single, key=lambda r: abs(r["statistic"]))
        told.append(
            f"The largest difference is that of the {gap_titles()[str(row['gap'])]} in {row['locale']}: "
            f"{signed(row['plain'])} plain, {signed(row['paired'])} paired (p {p_value(float(row['p']))})."
        )
    for group in groups:
        told.append(
            f"{first_few(list(group), 8)} answer alike beyond ability and difficulty (on average over "
            f"{BOUND:g})."
        )
    told.append(
        "A residual correlation is what two models' answers in one language share beyond ability and "
        "difficulty, as told from each model's own answers in two languages: 1 for copies, 0 for strangers."
    )
    return " ".join(told)
