"""The cross-validation grid: response model × estimator (arXiv 2606.07422, Table 4)."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import plotnine as p9

from maskedadv.reports.figures.common import known
from maskedadv.reports.theme import CATEGORIES, axis_number, theme_maskedadv


def cross_validation(frame: pd.DataFrame, *, families: Sequence[str] = ("DejaVu Sans",)) -> p9.ggplot:
    """Held-out scores with their spread over folds, a panel per score.

    Parameters
    ----------
    frame
        response (binary, crm), method (optimize, nuts), metric (for example bce, brier, auc, accuracy), mean,
        sd (over folds).

    Raises
    ------
    NothingToDraw
    """
    data = known(frame, ["mean"], "cross-validation grid")
    metrics = list(dict.fromkeys(data["metric"]))
    methods = list(dict.fromkeys(data["method"]))
    data = data.assign(
        _lower=data["mean"] - data["sd"],
        _upper=data["mean"] + data["sd"],
        _panel=pd.Categorical(data["metric"], categories=metrics),
        _method=pd.Categorical(data["method"], categories=methods),
    )
    dodge = p9.position_dodge(width=0.5)
    return (
        p9.ggplot(data, p9.aes("response", "mean", color="_method"))
        + p9.geom_linerange(p9.aes(ymin="_lower", ymax="_upper"), position=dodge, size=0.9, na_rm=True)
        + p9.geom_point(position=dodge, size=2.2)
        + p9.facet_wrap("_panel", nrow=1, scales="free_y")
        + p9.scale_color_manual(values=list(CATEGORIES), name="method")
        + p9.scale_y_continuous(labels=axis_number)
        + p9.labs(x="response", y="mean ± sd over folds")
        + theme_maskedadv(max(7.0, 1.9 * len(metrics)), 3.2, families)
    )
