"""Is the same item equally difficult in both languages? Right answers against those expected, and texts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotnine as p9

from maskedadv.assumptions.differential import UNTESTABLE, Dif
from maskedadv.reports.exhibit import Exhibit, Source
from maskedadv.reports.figures.common import known
from maskedadv.reports.theme import CATEGORIES, INK, MUTED, distinct_labels, theme_maskedadv
from maskedadv.words.numbers import level_text, plural, signed

SHOWN = 10
"""Items of each locale in the page's tables; the folder of `maskedadv dif` has all."""
_KINDS = ("not flagged", "flagged", "other key in the item file")


def item_differences(
    items: pd.DataFrame, *, locales: Sequence[str] | None = None, families: Sequence[str] = ("DejaVu Sans",)
) -> p9.ggplot:
    """Share of right answers in a language against the share expected from ability and the item's total.

    Parameters
    ----------
    items : as `Dif.items`
    locales : which to draw; by default all

    Raises
    ------
    NothingToDraw
    """
    chosen = list(locales) if locales is not None else list(dict.fromkeys(items["locale"]))
    data = known(
        items[items["locale"].isin(chosen)],
        ["expected_local", "accuracy_local", "effect"],
        "differences of items",
    )
    kind = np.select(
        [data["key_differs"].astype(bool), data["flagged"].astype(bool)], _KINDS[:0:-1], _KINDS[0]
    )
    data["_kind"] = pd.Categorical(kind, categories=list(_KINDS))
    shown = dict(zip(chosen, distinct_labels(chosen, 14), strict=True))
    data["_locale"] = pd.Categorical([shown[v] for v in data["locale"]], categories=list(shown.values()))
    data["_x"], data["_y"] = data["expected_local"].round(3), data["accuracy_local"].round(3)
    counted = (
        data.groupby(["_locale", "subset", "_kind", "_x", "_y"], observed=True)
        .size()
        .rename("items")
        .reset_index()
        .sort_values("_kind", ignore_index=True)
    )
    return (
        p9.ggplot(counted, p9.aes("_x", "_y", size="items", color="_kind"))
        + p9.geom_abline(slope=1, intercept=0, color=INK, size=0.4)
        + p9.geom_point(alpha=0.75, stroke=0)
        + p9.facet_grid("subset", "_locale")
        + p9.scale_color_manual(
            values=dict(zip(_KINDS, (MUTED, CATEGORIES[0], CATEGORIES[1]), strict=True)), name=" "
        )
        + p9.scale_size_continuous(range=(1.5, 5.5), name="items")
        + p9.scale_x_continuous(breaks=[0, 0.5, 1], labels=["0", ".5", "1"], limits=(0, 1))
        + p9.scale_y_continuous(breaks=[0, 0.5, 1], labels=["0", ".5", "1"], limits=(0, 1))
        + p9.labs(x="right answers expected in the language (share)", y="right answers (share)")
        + theme_maskedadv(max(5.0, 1.4 + 1.3 * len(chosen)), 4.4, families)
    )


def make_item_differences(s: Source, title: str) -> list[Exhibit]:
    """Figure, items with the strongest evidence, shares by subset, purified gaps and texts.

    Nothing where no output of `maskedadv dif` was given.
    """
    found = s.checks.get("dif")
    if found is None:
        return []
    assert isinstance(found, Dif)
    top = found.items.groupby("locale", sort=False, group_keys=False).head(SHOWN)
    listed = found.items[found.items.index.isin(top.index) | found.items["removed"]]
    tables = {
        "dif-items": listed[
            ["locale", "subset", "item", "accuracy_local", "accuracy_other", "effect", "lower", "upper", "p",
             "p_robust", "q", "mh_class", "flagged", "key_differs"]
        ],
        "dif-subsets": found.subsets.rename(columns={"share": "share_flagged", "tau_p": "p"}),
    }  # fmt: skip
    if len(found.gaps):
        tables["dif-purified-gaps"] = _purified(found.gaps)
    if found.texts is not None and len(found.texts):
        texts = listed[["locale", "item"]].merge(found.texts, on=["locale", "item"], how="inner")
        pivot = found.settings["pivot"]
        tables["dif-texts"] = texts.rename(
            columns={
                "question_other": f"question ({pivot})",
                "answer_other": f"right option ({pivot})",
                "question_local": "question (locale)",
                "answer_local": "right option (locale)",
            }
        )
    made = []
    locales = list(dict.fromkeys(found.items["locale"]))
    for k in range(0, len(locales), 8):
        part = locales[k : k + 8]
        figure = item_differences(found.items, locales=part, families=s.families)
        name = "dif" if len(locales) <= 8 else f"dif-{k // 8 + 1}"
        words = _caption(found)
        made.append(Exhibit(name, title, words, words, figure, tables if k == 0 else {}, folded=k > 0))
    return made


def _purified(gaps: pd.DataFrame) -> pd.DataFrame:
    """Only where something was removed; intervals as text."""
    moved = gaps[gaps["removed_ca"] + gaps["removed_cs"] > 0]
    frame = moved[
        ["locale", "variant", "gap", "removed_ca", "removed_cs", "all_items", "purified", "change"]
    ].copy()
    frame["gap"] = frame["gap"].str.replace("_", " ")
    frame["change_interval"] = [
        f"[{signed(low)}, {signed(high)}]"
        for low, high in zip(moved["change_lower"], moved["change_upper"], strict=True)
    ]
    frame["random_sd"] = moved["random_sd"]
    return frame


def _caption(found: Dif) -> str:
    flagged = int(found.items["flagged"].sum())
    tested = int(found.subsets["tested"].sum())
    against = found.settings["pivot"] if found.settings["against"] == "pivot" else "all other languages"
    told = [
        f"Above the diagonal an item is easier in the language than ability and its answers in {against} let "
        "expect, below it harder.",
        f"{plural(flagged, 'item')} of {tested:,} tests flagged at a false discovery rate of "
        f"{level_text(found.settings['alpha'])}.",
    ]
    keys = int(found.items["key_differs"].sum())
    if keys:
        told.append(f"{plural(keys, 'item')} with another right option in the item file stand first.")
    told += [f"{note[0].upper()}{note[1:].rstrip('.')}." for note in found.notes if note != UNTESTABLE]
    return " ".join([*told, UNTESTABLE])
