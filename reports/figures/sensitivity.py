"""The specification curve: every estimate in order, and the choices that it was made under.

After Simonsohn, Simmons & Nelson (2020, doi:10.1038/s41562-020-0912-z).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotnine as p9

from maskedadv.errors import NothingToDraw
from maskedadv.reports.figures.common import CLEAR_COLOURS, clearness
from maskedadv.reports.theme import INK, MUTED, axis_number, label, theme_maskedadv
from maskedadv.sensitivity.analyses import Sensitivity
from maskedadv.sensitivity.reading import ASSUMPTION, judged, main_locale
from maskedadv.sensitivity.specifications import FIRST
from maskedadv.vocabulary import KNOWLEDGE, VARIANTS, gap_titles

FAMILIES = ("DejaVu Sans",)

_FAR = -1000.0
"""Rows of choices lie below this, so that one axis can serve both panels."""

_WORDS = {"model": "without a model", "family": "without a family", "subject": "without a subject"}


def specification_curve(
    found: Sensitivity,
    gap: str = KNOWLEDGE,
    *,
    locale: str | None = None,
    families: Sequence[str] = FAMILIES,
) -> p9.ggplot:
    """Estimates with intervals from the lowest to the highest, and below them the choices of each.

    Parameters
    ----------
    found : from `maskedadv.sensitivity.vary`
    locale : default: all together, or the only one

    Raises
    ------
    NothingToDraw
        No estimate is known.
    """
    rows = judged(found, gap)
    rows = rows[rows["locale"] == (locale or main_locale(found))]
    if rows.empty:
        raise NothingToDraw(f"sensitivity: no {gap_titles()[gap]} is known under any analysis.")
    rows = rows.sort_values(["estimate", "kind", "name", "variant"], kind="stable").reset_index(drop=True)
    rows["rank"] = np.arange(1, len(rows) + 1)
    rows["clear"] = clearness(rows)
    choices = [_choice(kind, name) for kind, name in zip(rows["kind"], rows["name"], strict=True)]
    order = [v for v in VARIANTS if v in set(rows["variant"])]
    order += [c for c in dict.fromkeys(_ordered(rows, choices)) if c]
    place = {name: _FAR - k for k, name in enumerate(order)}
    panels = [gap_titles()[gap] + " (logit)", "choices"]
    dots = pd.concat(
        [rows.assign(choice=rows["variant"]), rows.assign(choice=choices)[[bool(c) for c in choices]]],
        ignore_index=True,
    )
    dots["y"] = dots["choice"].map(place)
    for part, name in ((rows, panels[0]), (dots, panels[1])):
        part["panel"] = pd.Categorical([name] * len(part), categories=panels)
    first = rows[rows["kind"] == FIRST]

    def breaks(limits: tuple[float, float]) -> list[float]:
        if limits[0] < _FAR / 2:
            return list(place.values())
        step = 10.0 ** np.floor(np.log10(max(limits[1] - limits[0], 1e-6)))
        step = step / 2 if (limits[1] - limits[0]) / step < 4 else step
        return [float(v) for v in np.arange(np.ceil(limits[0] / step), limits[1] / step + 1e-9) * step]

    names = {v: label(k, 34) for k, v in place.items()}

    def texts(values: Sequence[float]) -> list[str]:
        return [names[v] if v in names else axis_number([round(v, 10)])[0] for v in values]

    return (
        p9.ggplot(rows, p9.aes("rank"))
        + p9.geom_hline(p9.aes(yintercept="y"), _zero(panels), color=MUTED, size=0.4)
        + p9.geom_linerange(p9.aes(ymin="lower", ymax="upper", color="clear"), rows, size=0.5, alpha=0.5)
        + p9.geom_point(p9.aes(y="estimate", color="clear"), rows, size=1.2)
        + p9.geom_point(p9.aes(y="estimate"), first, size=3.0, fill="none", color=INK, shape="D")
        + p9.geom_point(p9.aes(y="y", color="clear"), dots, size=0.9, shape="s")
        + p9.facet_grid("panel", scales="free_y", space={"x": [1], "y": [3, max(1.0, 0.22 * len(order))]})
        + p9.scale_y_continuous(breaks=breaks, labels=texts)
        + p9.scale_color_manual(values=CLEAR_COLOURS)
        + p9.labs(x=f"{len(rows)} estimates in order (diamond: the first analysis)", y="", color="")
        + theme_maskedadv(width=8.0, height=3.4 + 0.2 * len(order), families=families)
        + p9.theme(panel_grid_major_x=p9.element_blank())
    )


def _choice(kind: str, name: str) -> str:
    """The row of a specification beside that of its variant; empty for none."""
    if kind in (FIRST, ASSUMPTION):
        return ""
    if kind in _WORDS:
        return _WORDS[kind]
    return kind if kind == "accuracy filter" else name


def _ordered(rows: pd.DataFrame, choices: Sequence[str]) -> list[str]:
    kinds = ["estimator", "accuracy filter", "missing answers", "table", "family", "model", "subject"]
    by_kind = {k: [c for c, own in zip(choices, rows["kind"], strict=True) if own == k] for k in kinds}
    return [c for k in kinds for c in sorted(set(by_kind[k]))]


def _zero(panels: Sequence[str]) -> pd.DataFrame:
    return pd.DataFrame({"y": [0.0], "panel": pd.Categorical([panels[0]], categories=list(panels))})
