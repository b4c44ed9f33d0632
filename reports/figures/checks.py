"""Does the model fit, and did the sampler work? Predictive checks and convergence."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
import plotnine as p9
from matplotlib.ticker import MaxNLocator

from maskedadv.reports.exhibit import Exhibit, Source
from maskedadv.reports.figures.common import known
from maskedadv.reports.theme import CATEGORIES, INK, MUTED, axis_number, labels, theme_maskedadv

_OUTSIDE = {False: CATEGORIES[0], True: CATEGORIES[1]}


def predictive_checks(
    frame: pd.DataFrame, row: str = "locale", *, families: Sequence[str] = ("DejaVu Sans",)
) -> p9.ggplot:
    """Observed statistics beside the interval of their replicates under the model, a panel per statistic.

    Parameters
    ----------
    frame
        `row`, statistic, observed, lower, upper (of the replicates).

    Raises
    ------
    NothingToDraw
    """
    data = known(frame, ["observed", "lower", "upper"], "predictive checks")
    rows = sorted(set(data[row]), reverse=True)
    data["_row"] = pd.Categorical(data[row], categories=rows)
    data["_outside"] = (data["observed"] < data["lower"]) | (data["observed"] > data["upper"])
    panels = list(dict.fromkeys(data["statistic"]))
    data["_panel"] = pd.Categorical(data["statistic"], categories=panels)
    return (
        p9.ggplot(data, p9.aes("_row"))
        + p9.geom_linerange(p9.aes(ymin="lower", ymax="upper"), color=MUTED, size=2.2, alpha=0.45)
        + p9.geom_point(p9.aes(y="observed", color="_outside"), size=1.8)
        + p9.facet_wrap("_panel", nrow=1, scales="free_x")
        + p9.scale_x_discrete(labels=labels, limits=rows)
        + p9.scale_y_continuous(labels=axis_number)
        + p9.scale_color_manual(
            values=_OUTSIDE,
            limits=[False, True],
            labels=["inside the replicates' interval", "outside"],
            name="observed:",
        )
        + p9.coord_flip()
        + p9.labs(x="", y="")
        + theme_maskedadv(max(7.0, 2.0 * len(panels)), 1.3 + 0.19 * len(rows), families)
    )


def diagnostics(frame: pd.DataFrame, *, families: Sequence[str] = ("DejaVu Sans",)) -> p9.ggplot:
    """Worst values of convergence measures by posterior against the value that is asked for.

    Parameters
    ----------
    frame
        locale, measure (for example "R-hat", "bulk ESS"), value, threshold (NaN for a count that should be
        0), passed (bool); variant where a locale has several posteriors.

    Raises
    ------
    NothingToDraw
    """
    data = known(frame, ["value"], "diagnostics")
    variant = data["variant"] if "variant" in data else pd.Series("plain", index=data.index)
    names = data["locale"].where(variant == "plain", data["locale"] + " (" + variant + ")")
    rows = sorted(set(names), reverse=True)
    data["_row"] = pd.Categorical(names, categories=rows)
    panels = list(dict.fromkeys(data["measure"]))
    data["_panel"] = pd.Categorical(data["measure"], categories=panels)
    data["_failed"] = ~data["passed"].astype(bool)
    bounds = data[np.isfinite(data["threshold"].astype(float))].drop_duplicates(["_panel", "threshold"])
    counts = data[~np.isfinite(data["threshold"].astype(float))]
    span = pd.concat([counts.assign(value=0.0), counts.assign(value=4.0)])  # no counts below 0, no halves
    return (
        p9.ggplot(data, p9.aes("_row", "value", color="_failed"))
        + p9.geom_hline(
            p9.aes(yintercept="threshold"), data=bounds, color=INK, linetype="dashed", size=0.5
        )
        + p9.geom_blank(data=span)
        + p9.geom_point(size=2)
        + p9.facet_wrap("_panel", nrow=1, scales="free_x")
        + p9.scale_x_discrete(labels=labels, limits=rows)
        + p9.scale_y_continuous(labels=axis_number, breaks=_few, expand=(0.12, 0))
        + p9.scale_color_manual(
            values=_OUTSIDE, limits=[False, True], labels=["as asked for", "not"], name="value:"
        )
        + p9.coord_flip()
        + p9.labs(x="", y="")
        + theme_maskedadv(max(7.0, 2.0 * len(panels)), 1.3 + 0.19 * len(rows), families)
        + p9.theme(panel_spacing_x=0.025)
    )  # fmt: skip


def _few(limits: tuple[float, float]) -> list[float]:
    """Two or three round numbers inside the limits: more run into those of the next panel."""
    return [float(v) for v in MaxNLocator(2, steps=[1, 2, 5, 10]).tick_values(*limits)]


_PREDICTIVE = (
    "Grey: interval of what the fitted model would produce. Point: what was observed. Points outside say "
    "what the model does not describe."
)


_CONVERGENCE = (
    "Worst value of each convergence measure by locale, and by posterior where there is one with a guessing "
    "floor, too; the dashed line is what is asked for."
)


def make_predictive(s: Source, title: str) -> list[Exhibit]:
    """Predictive checks of a posterior."""
    return _of_posterior(s, "predictive-checks", title, predictive_checks, _PREDICTIVE)


def make_convergence(s: Source, title: str) -> list[Exhibit]:
    """Convergence of a posterior."""
    return _of_posterior(s, "diagnostics", title, diagnostics, _CONVERGENCE)


def _of_posterior(
    s: Source, name: str, title: str, draw: Callable[..., p9.ggplot], text: str
) -> list[Exhibit]:
    if name not in s.posterior:
        return []
    table = s.posterior[name]
    return [Exhibit(name, title, text, text, draw(table, families=s.families), {name: table})]
