"""Gaps against model size, a line per family (arXiv 2606.07422, Figure 3)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
import plotnine as p9

from maskedadv import summaries
from maskedadv.reports.exhibit import Exhibit, Source
from maskedadv.reports.figures.common import gap_panels, known
from maskedadv.reports.figures.placing import spread
from maskedadv.reports.theme import (
    CATEGORIES,
    INK,
    MUTED,
    PAPER,
    axis_number,
    distinct_labels,
    labels,
    theme_maskedadv,
)
from maskedadv.summaries.groups import DENSE, MIXTURE, REFERENCE

OTHER = "other families"
_MOST_REFERENCES = 8


def scale_curves(
    sizes: pd.DataFrame,
    *,
    gaps: Sequence[str] = ("local_gap", "knowledge_gap"),
    families: Sequence[str] = ("DejaVu Sans",),
) -> p9.ggplot:
    """Mean gap of every model over its locales against its total parameters, dense and MoE apart.

    Models whose size is not known are dashed reference lines. The seven families with the most sizes have
    colours of their own.

    Parameters
    ----------
    sizes
        As `summaries.by_size`.

    Raises
    ------
    NothingToDraw
        No model of known size has a known gap.
    """
    data = known(sizes[sizes["gap"].isin(gaps)], ["estimate"], "scale figure")
    drawn = known(data, ["parameters"], "scale figure")
    counts = drawn[drawn["family"] != ""].groupby("family")["parameters"].nunique()
    ranked = sorted(counts.index, key=lambda f: (-counts[f], f))
    named = ranked if len(ranked) <= len(CATEGORIES) - 1 else ranked[: len(CATEGORIES) - 1]
    keys = [*named, OTHER] if set(drawn["family"]) - set(named) else list(named)
    drawn["_family"] = pd.Categorical(drawn["family"].where(drawn["family"].isin(named), OTHER), keys)
    kinds = [k for k in (DENSE, MIXTURE) if k in set(drawn["architecture"])]
    drawn["_kind"] = pd.Categorical(drawn["architecture"], categories=kinds)
    drawn["_panel"] = gap_panels(drawn, gaps)
    drawn["_line"] = drawn["family"].where(drawn["family"] != "", drawn["model"])
    colours = {k: CATEGORIES[-1] if k == OTHER else CATEGORIES[n] for n, k in enumerate(keys)}
    figure = (
        p9.ggplot(drawn, p9.aes("parameters", "estimate", color="_family"))
        + p9.geom_hline(yintercept=0, color=INK, size=0.4)
        + p9.geom_line(p9.aes(group="_line"), size=0.7, alpha=0.8)
        + p9.geom_linerange(p9.aes(ymin="lower", ymax="upper"), size=0.6, alpha=0.6, na_rm=True)
        + p9.geom_point(fill=PAPER, size=1.9)
    )
    references = data[data["architecture"] == REFERENCE]
    if references["model"].nunique() > _MOST_REFERENCES:
        kept = references.groupby("model")["estimate"].mean().nlargest(_MOST_REFERENCES).index
        references = references[references["model"].isin(kept)]
    if len(references):
        figure += _reference_lines(references, drawn, kinds, gaps)
    return (
        figure
        + p9.facet_grid("_panel", "_kind", scales="free_y")
        + p9.scale_x_log10(labels=size_labels)
        + p9.scale_y_continuous(labels=axis_number)
        + p9.scale_color_manual(values=colours, limits=keys, labels=labels, name="family")
        + p9.labs(x="parameters in all (log scale)", y="mean gap over locales (logit)")
        + theme_maskedadv(8.0, 1.2 + 2.6 * len(gaps), families)
    )


def _reference_lines(
    references: pd.DataFrame, drawn: pd.DataFrame, kinds: Sequence[str], gaps: Sequence[str]
) -> list[p9.geoms.geom.geom]:
    lines = references.assign(_panel=gap_panels(references, gaps)).merge(
        pd.DataFrame({"_kind": pd.Categorical(list(kinds), categories=list(kinds))}), how="cross"
    )
    texts = lines[lines["_kind"] == kinds[-1]].copy()
    for gap in gaps:
        own = texts["gap"] == gap
        shown = [drawn[drawn["gap"] == gap], references[references["gap"] == gap]]
        values = pd.concat([part[c] for part in shown for c in ("lower", "upper", "estimate")]).dropna()
        height = float(values.max() - values.min()) or 1.0
        texts.loc[own, "_y"] = spread(texts.loc[own, "estimate"].to_numpy(float), 0.055 * height)
    texts["_text"] = distinct_labels(texts["model"], 22)
    texts["_x"] = float(drawn["parameters"].max())
    return [
        p9.geom_hline(
            p9.aes(yintercept="estimate"), data=lines, color=MUTED, linetype="dashed", size=0.5
        ),
        p9.geom_label(
            p9.aes("_x", "_y", label="_text"), data=texts, inherit_aes=False, ha="right", va="center",
            size=7, color=MUTED, fill=PAPER, label_size=0, label_padding=0.1,
        ),
    ]  # fmt: skip


def size_labels(values: Iterable[float]) -> list[str]:
    """7B, 360M: numbers of parameters as people write them."""
    out = []
    for value in values:
        unit = next(
            (u for u in ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "K")) if value >= u[0]), (1.0, "")
        )
        out.append(f"{np.round(value / unit[0], 2):g}{unit[1]}")
    return out


_CAPTION = (
    "Mean gap of each model over its locales against all its parameters, on a log scale, with intervals. "
    "Dense models and mixtures of experts stand apart; dashed lines are models whose size is not known."
)


def make_sizes(s: Source, title: str) -> list[Exhibit]:
    """Mean gaps of the models against their size."""
    sizes = summaries.by_size(s.joint, s.model_table())
    slopes = summaries.size_slopes(s.joint, s.model_table())
    figure = scale_curves(sizes, families=s.families)
    tables = {"sizes": sizes, **({"size-slopes": slopes} if len(slopes) else {})}
    return [Exhibit("scale", title, _CAPTION, _alt(sizes), figure, tables)]


def _alt(sizes: pd.DataFrame) -> str:
    """How many models of which sizes."""
    known = sizes[sizes["parameters"].notna()]
    return (
        f"Mean gaps of {known['model'].nunique()} models of {known['family'].nunique()} families against "
        f"their number of parameters."
    )
