"""The exhibits of a result: figure, tables and the words that go with them, or why there is none."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pandas as pd

from maskedadv import summaries
from maskedadv.errors import MissingFacts, NothingToDraw
from maskedadv.reports import captions, figures
from maskedadv.reports.exhibit import Exhibit, Omitted, Source

_MOST_FORESTS = 400  # cells; beyond it the forest of every locale is left to the table


def build(source: Source) -> tuple[list[Exhibit], list[Omitted]]:
    """Every exhibit that the result and the facts allow, in the order of the page."""
    made: list[Exhibit] = []
    left: list[Omitted] = []
    for title, make in _EXHIBITS:
        try:
            made += make(source, title)
        except (MissingFacts, NothingToDraw) as error:
            left.append(Omitted(title, str(error)))
    return made, left


def _locale_means(s: Source, title: str) -> list[Exhibit]:
    means = summaries.locale_means(s.joint)
    tables = {"locale-means": means}
    if len(s.joint.locales) > 1:
        tables["overall-means"] = summaries.overall_means(s.joint)
    figure = figures.forest(means, "locale", axis="mean gap over models (logit)", families=s.families)
    return [
        Exhibit(
            "locale-means",
            title,
            captions.forest(s.fit, "locale"),
            captions.alt_forest(means, "locale"),
            figure,
            tables,
        )
    ]


def _advantage(s: Source, title: str) -> list[Exhibit]:
    gaps = s.fit.gaps()
    if len(s.joint.locales) > 1:
        frame, by, cells = summaries.locale_means(s.joint), "locale", gaps
    else:
        frame, by, cells = gaps, "model", None
    figure = figures.masked_advantage(frame, by, cells=cells, pivot=s.pivot, families=s.families)
    return [
        Exhibit(
            "masked-advantage", title, captions.advantage(by, s.pivot), captions.alt_forest(frame, by), figure
        )
    ]


def _heatmap(s: Source, title: str) -> list[Exhibit]:
    gaps = s.fit.gaps()
    figure = figures.gap_heatmap(gaps, families=s.families)
    shares = summaries.sign_shares(s.fit)
    tables = {"gaps": gaps, "sign-shares": shares}
    return [Exhibit("heat-map", title, captions.heatmap(shares), captions.alt_heatmap(s.fit), figure, tables)]


def _model_means(s: Source, title: str) -> list[Exhibit]:
    if len(s.joint.locales) == 1:
        return []
    means = summaries.model_means(s.joint)
    figure = figures.forest(means, "model", axis="mean gap over locales (logit)", families=s.families)
    text = captions.forest(s.fit, "model")
    return [
        Exhibit(
            "model-means", title, text, captions.alt_forest(means, "model"), figure, {"model-means": means}
        )
    ]


def _forests(s: Source, title: str) -> list[Exhibit]:
    gaps = s.fit.gaps()
    if len(gaps) > 3 * _MOST_FORESTS:
        raise NothingToDraw(
            f"{len(gaps) // 3} cells are too many to draw one by one; the table gaps has all."
        )
    made = []
    for k, locale in enumerate(s.joint.locales):
        own = gaps[(gaps["locale"] == locale) & gaps["estimate"].notna()]
        if len(own):
            figure = figures.forest(own, "model", families=s.families)
            text = captions.forest(s.fit, "model")
            made.append(
                Exhibit(
                    f"models-{k + 1}",
                    f"{title}: {locale}",
                    text,
                    captions.alt_forest(own, "model"),
                    figure,
                    folded=True,
                )
            )
    return made


def _resources(s: Source, title: str) -> list[Exhibit]:
    trend = summaries.resource_trend(s.joint, s.locales)
    by_level = summaries.by_resource_level(s.joint, s.locales)
    if by_level["resource_level"].max() == by_level["resource_level"].min():
        raise NothingToDraw("every locale with a known resource level has the same one; nothing to compare.")
    figure = figures.resource_trend(
        summaries.locale_means(s.joint), s.locales["resource_level"], trend, by_level, families=s.families
    )
    tables = {"resource-levels": by_level, "resource-trend": trend}
    text = captions.resources(trend, s.joint.locales, s.locales)
    return [Exhibit("resource-level", title, text, captions.alt_resources(trend), figure, tables)]


def _difference(
    name: str, row: str, axis: str, make: Callable[[Source], pd.DataFrame], text: str
) -> Callable[[Source, str], list[Exhibit]]:
    def exhibit(s: Source, title: str) -> list[Exhibit]:
        table = make(s)
        shown = table
        if row == "model" and table["model"].duplicated().sum() > len(table) * 2 / 3:
            shown = table.assign(model=table["model"] + " · " + table["locale"])
        figure = figures.forest(shown, row, axis=axis, families=s.families)
        return [Exhibit(name, title, text, captions.alt_forest(shown, row), figure, {name: table})]

    return exhibit


def _sizes(s: Source, title: str) -> list[Exhibit]:
    sizes = summaries.by_size(s.joint, s.model_table())
    slopes = summaries.size_slopes(s.joint, s.model_table())
    figure = figures.scale_curves(sizes, families=s.families)
    tables = {"sizes": sizes, **({"size-slopes": slopes} if len(slopes) else {})}
    return [Exhibit("scale", title, captions.SCALE, captions.alt_scale(sizes), figure, tables)]


def _ability(s: Source, title: str) -> list[Exhibit]:
    table = summaries.ability_accuracy(s.fit)
    figure = figures.ability_accuracy(summaries.abilities(s.fit), families=s.families)
    text = captions.ability(table)
    return [Exhibit("ability-accuracy", title, text, text, figure, {"ability-accuracy": table})]


def _wright(s: Source, title: str) -> list[Exhibit]:
    made = []
    locales = list(s.joint.locales)
    for k in range(0, len(locales), 8):
        figure = figures.wright_map(s.fit.items, s.fit.cube, locales=locales[k : k + 8], families=s.families)
        name = "wright-map" if len(locales) <= 8 else f"wright-map-{k // 8 + 1}"
        alt = f"Difficulties of items beside abilities of models in {', '.join(locales[k : k + 8])}."
        made.append(Exhibit(name, title, captions.WRIGHT, alt, figure, folded=k > 0))
    return made


def _variants(s: Source, title: str) -> list[Exhibit]:
    if len(s.fit.variants) < 2:
        return []
    means, shares = summaries.variant_means(s.fit), summaries.variant_shares(s.fit)
    shown = means[means["gap"] == "knowledge_gap"]
    order = [*dict.fromkeys(shown["locale"])][::-1]
    figure = figures.forest(
        shown, "locale", order=order, axis="mean knowledge gap (logit)", families=s.families
    )
    text = captions.variants(means, shares)
    tables = {"variant-means": means, "variant-shares": shares}
    if len(links := s.fit.links()):
        tables["links"] = links
    return [Exhibit("variants", title, text, text, figure, tables)]


def _extra(key: str, draw: str, text: str) -> Callable[[Source, str], list[Exhibit]]:
    def exhibit(s: Source, title: str) -> list[Exhibit]:
        if key not in s.extras:
            return []
        table = s.extras[key]
        figure = getattr(figures, draw)(table, families=s.families)
        return [Exhibit(key, title, text, text, figure, {key: table})]

    return exhibit


_EXHIBITS: Sequence[tuple[str, Callable[[Source, str], list[Exhibit]]]] = (
    ("Gaps by locale", _locale_means),
    ("The masked advantage", _advantage),
    ("Every model in every locale", _heatmap),
    ("The gap under other assumptions", _variants),
    ("Gaps by model", _model_means),
    ("Models one by one", _forests),
    ("Resource level", _resources),
    (
        "Home models against others",
        _difference(
            "home-versus-others",
            "locale",
            "home models − all others (logit)",
            lambda s: summaries.home_versus_others(s.joint, s.model_table(), s.locales),
            captions.HOME,
        ),
    ),
    (
        "Adapted models against general ones",
        _difference(
            "adapted",
            "model",
            "Δ: adapted − general models (logit)",
            lambda s: summaries.adapted_versus_general(s.joint, s.model_table()),
            captions.ADAPTED,
        ),
    ),
    (
        "Model families",
        _difference(
            "families",
            "family",
            "mean gap (logit)",
            lambda s: summaries.by_family(s.joint, s.model_table()),
            captions.FAMILIES,
        ),
    ),
    (
        "Open and closed models",
        _difference(
            "kinds",
            "kind",
            "mean gap (logit)",
            lambda s: summaries.by_kind(s.joint, s.model_table()),
            captions.KINDS,
        ),
    ),
    ("Model size", _sizes),
    ("Ability against accuracy", _ability),
    ("Items and models on one scale", _wright),
    ("Cross-validation", _extra("cross-validation", "cross_validation", captions.CROSS_VALIDATION)),
    ("Predictive checks", _extra("predictive-checks", "predictive_checks", captions.PREDICTIVE)),
    ("Convergence", _extra("diagnostics", "diagnostics", captions.DIAGNOSTICS)),
)
