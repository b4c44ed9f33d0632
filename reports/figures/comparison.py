"""Which model of the answers predicts those held out? Scores (arXiv 2606.07422, Table 4) and calibration."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import plotnine as p9

from maskedadv.cross_validation.candidates import BY_NAME
from maskedadv.cross_validation.comparison import Comparison
from maskedadv.cross_validation.folds import SCHEMES
from maskedadv.reports.exhibit import Exhibit, Source
from maskedadv.reports.figures.common import known
from maskedadv.reports.theme import GRID, INK, MUTED, POSITIVE, theme_maskedadv
from maskedadv.words.numbers import number, plural

_NAMES = {"block": "items × models", "random": "single answers", "item": "new items", "model": "new models"}


def prediction_scores(
    scores: pd.DataFrame, by_fold: pd.DataFrame, *, families: Sequence[str] = ("DejaVu Sans",)
) -> p9.ggplot:
    """Cross-entropy of every candidate: its folds as small points, their mean as a large one.

    Parameters
    ----------
    scores, by_fold : as in `maskedadv.Comparison`

    Raises
    ------
    NothingToDraw
    """
    order = list(scores["candidate"])[::-1]
    means = known(scores, ["bce"], "scores of predictions")
    folds = known(by_fold, ["bce"], "scores of predictions")
    for frame in (means, folds):
        frame["_row"] = pd.Categorical(frame["candidate"], categories=order)
    return (
        p9.ggplot(means, p9.aes("bce", "_row"))
        + p9.geom_point(data=folds, color=MUTED, size=1.4, alpha=0.7)
        + p9.geom_point(color=POSITIVE, size=2.8)
        + p9.labs(x="binary cross-entropy of held-out answers (nats), lower is better", y="")
        + theme_maskedadv(6.5, 0.9 + 0.26 * len(order), families)
    )


def calibration_curves(
    calibration: pd.DataFrame,
    *,
    order: Sequence[str] | None = None,
    families: Sequence[str] = ("DejaVu Sans",),
) -> p9.ggplot:
    """Share of right answers against the mean prediction, in ten bins, a panel a candidate.

    Parameters
    ----------
    calibration : as in `maskedadv.Comparison`
    order : of the panels; by default that of the table

    Raises
    ------
    NothingToDraw
    """
    data = known(calibration, ["predicted", "observed"], "calibration of predictions")
    names = [n for n in order or () if n in set(data["candidate"])] or list(dict.fromkeys(data["candidate"]))
    data["_panel"] = pd.Categorical(data["candidate"], categories=names)
    rows = -(-len(names) // 4)
    return (
        p9.ggplot(data, p9.aes("predicted", "observed"))
        + p9.geom_abline(slope=1, intercept=0, color=INK, size=0.4)
        + p9.geom_line(color=GRID, size=0.8)
        + p9.geom_point(p9.aes(size="n"), color=POSITIVE, stroke=0)
        + p9.facet_wrap("_panel", ncol=min(4, len(names)))
        + p9.scale_size_area(max_size=4, name="answers")
        + p9.scale_x_continuous(breaks=[0, 0.5, 1], labels=["0", ".5", "1"], limits=(0, 1))
        + p9.scale_y_continuous(breaks=[0, 0.5, 1], labels=["0", ".5", "1"], limits=(0, 1))
        + p9.labs(x="prediction (mean of a bin)", y="right answers (share)")
        + theme_maskedadv(7.0, 0.8 + 1.6 * rows, families)
    )


def make_comparison(s: Source, title: str) -> list[Exhibit]:
    """Scores with their table, and calibration; nothing where no output of `maskedadv compare` was given."""
    found = s.checks.get("compare")
    if found is None:
        return []
    assert isinstance(found, Comparison)
    words = _caption(found)
    table = found.scores.rename(columns={"lower": "difference_lower", "upper": "difference_upper"})
    table = table[
        ["candidate", "response", "method", "bce", "bce_sd", "brier", "auc", "accuracy", "slope",
         "difference", "difference_lower", "difference_upper"]
    ]  # fmt: skip
    figure = prediction_scores(found.scores, found.by_fold, families=s.families)
    order = list(found.scores["candidate"])
    curves = calibration_curves(found.calibration, order=order, families=s.families)
    told = (
        "Predictions in ten bins of equal width against what happened; on the diagonal they mean what they "
        "say, below it on the right they are too bold."
    )
    return [
        Exhibit("comparison", title, words, words, figure, {"comparison": table}),
        Exhibit("calibration", "Do predictions mean what they say?", told, told, curves, folded=True),
    ]


def _caption(found: Comparison) -> str:
    info, scores = found.info, found.scores
    best = scores.iloc[0]
    name = str(best["candidate"])
    close = [str(r) for r in scores["candidate"][1:][~(scores["lower"][1:] > 0)]]
    over = "models" if info["scheme"] == "model" else "items"
    told = [
        f"Held out in {info['folds']} folds, the same for all: {SCHEMES[str(info['scheme'])]}. "
        f"{plural(int(info['answers']), 'answer')}, of which every one is predicted from folds that lack it.",
        f"Lowest cross-entropy: {name} ({BY_NAME[name].words}), {number(float(best['bce']), 4)}, sd over "
        f"folds {number(float(best['bce_sd']), 4)}.",
    ]
    if close:
        told.append(
            f"By an interval clustered by {over[:-1]}, these are not told apart from it: {', '.join(close)}."
        )
    elif len(scores) > 1:
        told.append(f"All others are worse by more than chance over {over} explains.")
    told.append(
        "A model that predicts better is not thereby right about gaps: prediction hardly depends on them."
    )
    return " ".join(told)
