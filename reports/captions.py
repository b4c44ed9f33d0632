"""What stands under the exhibits, and their alternative texts; every number comes from the tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from maskedadv.reports.words import side
from maskedadv.result.fit_result import Fit
from maskedadv.vocabulary import BASE_TABLE, GAPS, KNOWLEDGE, TRANSFORMATION_TABLE, variant_meaning
from maskedadv.words.numbers import interval_text, level_text, p_value, percent, plural, signed

HOME = (
    "Mean gap of the models from the locale's home less that of all others, on that locale. Models of "
    "unknown origin count on neither side. Intervals are of the difference: noise that all models share "
    "cancels."
)
ADAPTED = (
    "Gap of each model that was adapted to the language, less the mean of the general-purpose models in that "
    "locale. Intervals are of the difference."
)
FAMILIES = "Mean gap over the models of a family in each locale, then over its locales."
KINDS = (
    "Mean gap over the models of a kind in each locale, then over its locales; the difference within locales."
)
SCALE = (
    "Mean gap of each model over its locales against all its parameters, on a log scale, with intervals. "
    "Dense models and mixtures of experts stand apart; dashed lines are models whose size is not known."
)
WRIGHT = (
    "Bars to the right: difficulties of the items. Points to the left: abilities of the models, in the local "
    "language and in the pivot. CA and CS have scales of their own: compare levels inside one panel only."
)
CROSS_VALIDATION = (
    "Scores on answers that were held out, mean and standard deviation over folds, for each response model "
    "and method. Lower is better for bce and brier, higher for auc and accuracy."
)
PREDICTIVE = (
    "Grey: interval of what the fitted model would produce. Point: what was observed. Points outside say "
    "what the model does not describe."
)
DIAGNOSTICS = (
    "Worst value of each convergence measure by locale, and by posterior where there is one with a guessing "
    "floor, too; the dashed line is what is asked for."
)


def forest(fit: Fit, row: str) -> str:
    """How to read a forest plot of this fit."""
    level = level_text(fit.settings.level)
    return (
        f"Points are estimates, lines {level} intervals, in logits; above zero the local language is better. "
        f"Rows run from the highest to the lowest knowledge gap of the {row}s."
    )


def advantage(by: str, pivot: str) -> str:
    """How to read the masked-advantage plot."""
    return (
        "Across: how much weaker proficiency in the local language is, from culture-agnostic questions. Up: "
        f"local questions, in the local language against {pivot}. On the dashed diagonal the knowledge gap "
        "is zero; above it (shaded) the local language gives better access to local knowledge than "
        "proficiency "
        f"alone would. Crosses are the intervals of the {by}s"
        + ("; small points are single models." if by == "locale" else ".")
    )


def heatmap(shares: pd.DataFrame) -> str:
    """How to read the heat map, and the shares of positive cells."""
    overall = shares.tail(len(GAPS))
    words = [
        f"{row['gap'].replace('_', ' ')} {row['positive']} of {row['known']} "
        f"({percent(row['share_positive'])}), clearly {row['clearly_positive']}, "
        f"clearly negative {row['clearly_negative']}"
        for row in overall.to_dict(orient="records")
    ]
    return (
        "Blue: the local language is better; orange: the pivot is. Bold numbers or dots mark gaps whose "
        "interval excludes zero; × marks gaps that are not known, a blank a model without answers in the "
        "locale. Positive cells: " + "; ".join(words) + "."
    )


def resources(trend: pd.DataFrame, locales: Sequence[str], facts: pd.DataFrame) -> str:
    """How to read the resource figure, and which locales are not in it."""
    level = facts["resource_level"].reindex(list(locales))
    absent = list(level[level.isna()].index)
    tail = f" Without a known level, and left out: {', '.join(absent)}." if absent else ""
    n = int(trend["n_locales"].max())
    return (
        f"Means over models of {plural(n, 'locale')} by resource level (those that come with maskedadv: "
        "classes of Joshi et al. 2020); grey bars are means of a level. r, its p (two-sided t) and Spearman "
        "take the locales for a sample of languages; the slope's interval is about these locales, from the "
        "joint uncertainty." + tail
    )


def ability(table: pd.DataFrame) -> str:
    """The correlations of ability and accuracy in words."""
    r, rho = table["pearson"].dropna(), table["spearman"].dropna()
    text = "Abilities with their intervals against the share of right answers."
    if r.empty:
        return text + " With fewer than three models there is no correlation to give."
    return text + (
        f" Over models, within {len(r)} locale × subset × language cells: Pearson mean {signed(r.mean(), 3)} "
        f"({signed(r.min(), 3)} to {signed(r.max(), 3)}), Spearman mean {signed(rho.mean(), 4)}. Points off "
        "the curve answered other items than the rest."
    )


def alt_forest(frame: pd.DataFrame, row: str) -> str:
    """The range of the estimates, gap by gap."""
    known = frame[frame["estimate"].notna()]
    parts = []
    for gap, own in known.groupby("gap", sort=False):
        ranked = own.sort_values("estimate")[[row, "estimate"]].to_numpy()
        (lowest, least), (highest, most) = ranked[0], ranked[-1]
        name = str(gap).replace("_", " ")
        parts.append(f"{name} from {signed(least)} ({lowest}) to {signed(most)} ({highest})")
    return f"{known[row].nunique()} rows. " + "; ".join(parts) + "."


def alt_heatmap(fit: Fit) -> str:
    """Size and means of the heat maps."""
    cube = fit.cube
    means = {str(g): float(np.nanmean(v)) for g, v in _by_gap(fit).items() if np.isfinite(v).any()}
    words = ", ".join(f"{g.replace('_', ' ')} {signed(v)}" for g, v in means.items())
    return (
        f"Three heat maps of {cube.sizes['model']} models by {cube.sizes['locale']} locales. Means over all "
        f"cells: {words}."
    )


def _by_gap(fit: Fit) -> dict[str, np.ndarray]:
    gaps = fit.gaps()
    return {str(g): own["estimate"].to_numpy(float) for g, own in gaps.groupby("gap", sort=False)}


def alt_resources(trend: pd.DataFrame) -> str:
    """The correlations with the resource level."""
    words = [
        f"{row['gap'].replace('_', ' ')}: r = {signed(row['r'])}, p {p_value(row['p'])}, Spearman "
        f"{signed(row['spearman'])}"
        for row in trend.to_dict(orient="records")
    ]
    return "Mean gaps of locales against their resource level. " + "; ".join(words) + "."


def alt_scale(sizes: pd.DataFrame) -> str:
    """How many models of which sizes."""
    known = sizes[sizes["parameters"].notna()]
    return (
        f"Mean gaps of {known['model'].nunique()} models of {known['family'].nunique()} families against "
        f"their number of parameters."
    )


def variants(means: pd.DataFrame, shares: pd.DataFrame) -> str:
    """The mean knowledge gap under every variant, and whether it stays on its side of zero."""
    own = means[means["gap"] == KNOWLEDGE].groupby("variant", sort=False).tail(1)
    rows = {str(row["variant"]): row for row in own.to_dict(orient="records")}
    counts = {str(row["variant"]): row for row in shares.to_dict(orient="records") if row["gap"] == KNOWLEDGE}
    words = [
        f"{name} {interval_text({str(k): v for k, v in row.items()})}, positive in "
        f"{counts[name]['positive']} of {counts[name]['known']} cells, clearly in "
        f"{counts[name]['clearly_positive']}"
        for name, row in rows.items()
    ]
    known = {name: row for name, row in rows.items() if np.isfinite(row["estimate"])}
    sides = {name: side({str(k): v for k, v in row.items()}) for name, row in known.items()}
    meanings = ", ".join(map(variant_meaning, rows))
    judged = f" {_survival(sides)}" if "plain" in sides and len(sides) > 1 else ""
    if "plain" in sides and (unknown := [name for name in rows if name not in sides]):
        judged += f" Nothing is known as {' or '.join(unknown)}."
    return f"The knowledge gap {meanings}. {'; '.join(words)}.{judged}"


def _survival(sides: Mapping[str, int]) -> str:
    plain = sides["plain"]
    causes = {a.name: a.cause for a in (*BASE_TABLE, *TRANSFORMATION_TABLE) if a.cause}
    others = {name: s for name, s in sides.items() if name != "plain"}
    if plain == 0:
        clear = [name for name, s in others.items() if s]
        return (
            f"It is not clearly off zero as plain, but as {', '.join(clear)}."
            if clear
            else ("It is not clearly off zero under any of them.")
        )
    lost = [name for name, s in others.items() if s != plain]
    where = "above" if plain > 0 else "below"
    if not lost:
        return f"It stays clearly {where} zero under all of them."
    single = [name for name in lost if name in causes]
    cause = " or ".join(causes[n] for n in single) or f"{' and '.join(causes.values())} together"
    return f"It is clearly {where} zero as plain, but not as {', '.join(lost)}: it may come from {cause}."
