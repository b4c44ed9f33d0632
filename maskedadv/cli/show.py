"""Gap tables for the terminal, shared by `fit`, `gaps` and `demo`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from maskedadv.cli.say import remark
from maskedadv.gaps.joint import ALL_LOCALES
from maskedadv.gaps.population import FEWEST
from maskedadv.vocabulary import BY_FAMILY, KNOWLEDGE, LIKE_THESE, MEAN, NEW_LOCALE
from maskedadv.words.numbers import level_text, number, plural, probability
from maskedadv.words.terminal import format_table, records, wrap

if TYPE_CHECKING:
    from maskedadv.result.fit_result import Fit

_MEAN = "(mean)"
_ABREAST = 4
"""Variants that stand side by side in 80 columns."""
_SHORT = {ALL_LOCALES: "(all)", NEW_LOCALE: "(new)"}
"""What leaves names of models their room in 80 columns."""
MANY_LOCALES = 30
"""Locales beyond which the terminal shows a line for each, of means, and the whole is for files."""
HEADER = ("locale", "model", "gap", "estimate", "sd", "lower", "upper", "P(>0)")


def gap_table(frame: pd.DataFrame) -> str:
    """The gaps as text in 80 columns, notes below it."""
    rows, notes = [], []
    for r in records(frame):
        mark = ""
        if r["note"] and not np.isfinite(r["estimate"]):
            if r["note"] not in notes:
                notes.append(r["note"])
            mark = f" [{notes.index(r['note']) + 1}]"
        rows.append(
            [
                _SHORT.get(r["locale"], r["locale"]),
                f"(mean of {r['note']})" if r["model"] == MEAN else r["model"],
                r["gap"].removesuffix("_gap") + mark,
                number(r["estimate"]),
                number(r["sd"]),
                number(r["lower"]),
                number(r["upper"]),
                probability(r["p_positive"]),
            ]
        )
    text = format_table(HEADER, rows, left=(0, 1, 2))
    below = [wrap(f"[{k}] {note}") for k, note in enumerate(notes, 1)]
    return "\n".join([text, *below, *_uneven_means(frame)])


def many_locales_text(fit: Fit, variant: str, **chosen: Any) -> str:
    """Mean gaps over models, a line a locale, what every variant says over all, and where the rest is.

    Parameters
    ----------
    chosen
        `model` and `gap`, as for `Fit.gaps`.
    """
    from maskedadv.result.in_words import absent_variants, locale_mean, read_variants

    means = fit.means(variant=variant, **chosen)
    kinds = list(dict.fromkeys(means["gap"]))
    cells: dict[str, list[str]] = {}
    for r in records(means):
        cells.setdefault(r["locale"], []).append(_with_bounds(r))
    whole = [locale_mean(fit, variant, models=chosen.get("model"), gap=gap) for gap in kinds]
    rows = [[locale, *texts] for locale, texts in cells.items()]
    rows.append([_SHORT[ALL_LOCALES], *("-" if r is None else _with_bounds(r) for r in whole)])
    header = ["locale", *(f"{gap.removesuffix('_gap')} gap" for gap in kinds)]
    words = [*read_variants(fit, model=chosen.get("model")), *absent_variants(fit)]
    left = (
        f"Of {len(cells)} locales these are the means over models. Single models, models like these, other "
        "variants, links and tipping points: name locales (maskedadv gaps RESULT --locale ...), or take all "
        "rows (--format csv)."
    )
    return "\n".join([format_table(header, rows, left=(0,)), "", *map(wrap, words), "", wrap(left)])


def _with_bounds(row: dict[str, Any]) -> str:
    bounds = f" [{number(row['lower'])}, {number(row['upper'])}]" if np.isfinite(row["lower"]) else ""
    return number(row["estimate"]) + bounds


def _uneven_means(frame: pd.DataFrame) -> list[str]:
    """Where a locale's mean gaps are over different models, so that knowledge is not local less global."""
    means = frame[frame["model"] == MEAN]
    counts = means.groupby("locale", sort=False)["note"].nunique()
    uneven = [str(k) for k in counts.index[counts > 1]]
    if not uneven or KNOWLEDGE not in set(means["gap"]):
        return []
    return [
        wrap(
            f"Means of {', '.join(uneven)} are each over the models that have that gap, so that knowledge is "
            "not local less global there."
        )
    ]


def say_warnings(fit: Fit) -> None:
    """What a reader of the numbers should know, on standard error."""
    for warning in fit.warnings:
        remark(f"Warning: {warning}")


def population_text(frame: pd.DataFrame, means: pd.DataFrame) -> str:
    """What "(models like these)" speaks of and rests on, or why there is no such row."""
    own = means[means["model"] == MEAN]
    if not any(int(n.split()[0]) >= FEWEST for n in own["note"]):
        return ""  # with so few models nobody expects it
    rests, n = frame.attrs["families"], frame.attrs["n_families"]
    if not len(frame):
        return wrap(
            f"No row {LIKE_THESE}: it needs {FEWEST} families of models, here "
            f"{'is' if n == 1 else 'are'} {plural(n, 'family', 'families')} ({rests})."
        )
    text = (
        f"Rows {LIKE_THESE} take these models for a sample: they rest on {n} families ({rests}) and hold for "
        "such models, while (mean of ...) is about these alone."
    )
    if (means["model"] == BY_FAMILY).any():
        text += f" {BY_FAMILY} is the latter with an interval that lets families vary, too."
    if NEW_LOCALE in set(frame["locale"]):
        text += (
            f" {_SHORT[ALL_LOCALES]} takes the locales for a sample, too; {_SHORT[NEW_LOCALE]} is the mean "
            "gap in a locale that is not among these."
        )
    return wrap(text)


def with_means(*tables: pd.DataFrame) -> pd.DataFrame:
    """Every locale's models followed by its mean rows, and further ones."""
    some = [table for table in tables if len(table)]
    if not some:
        return tables[0]
    rows = pd.concat(some, ignore_index=True)
    return rows.iloc[np.argsort(pd.factorize(rows["locale"])[0], kind="stable")].reset_index(drop=True)


def variant_text(fit: Fit, *, models: bool = True, **chosen: Any) -> str:
    """The knowledge gap under every variant side by side, means over models last, and what survives in words.

    Parameters
    ----------
    models
        Also the single models, and the links.
    chosen
        `locale` and `model`, as for `Fit.gaps`.
    """
    from maskedadv.result.in_words import absent_variants, read_variants

    names = fit.variants
    counts: dict[str, list[str]] = {}
    cells: dict[tuple[str, str], list[str]] = {}
    for name in names:
        frames = [fit.means(gap=KNOWLEDGE, variant=name, **chosen)]
        frames = [fit.gaps(gap=KNOWLEDGE, variant=name, **chosen), *frames] if models else frames
        for r in records(with_means(*frames) if models else frames[0]):
            text = number(r["estimate"]) + (f" ({number(r['sd'])})" if pd.notna(r["sd"]) else "")
            cells.setdefault((r["locale"], r["model"]), []).append(text)
            if r["model"] == MEAN:
                counts.setdefault(r["locale"], []).append(r["note"].split()[0])
    rows = [[k, _MEAN if m == MEAN else m, *t] for (k, m), t in cells.items()]
    uneven = {k: ns for k, ns in counts.items() if len(set(ns)) > 1}
    if len(names) < 2:
        return "\n".join(wrap(t) for t in absent_variants(fit))
    lines = ["Knowledge gap under other assumptions (logit, standard deviation in brackets):", ""]
    for first in range(0, len(names), _ABREAST):
        shown = slice(first, first + _ABREAST)
        part = [[*row[:2], *row[2:][shown]] for row in rows]
        lines += [""] * bool(first) + [format_table(["locale", "model", *names[shown]], part, left=(0, 1))]
    if uneven:
        told = ", ".join(f"{k} {'/'.join(ns)}" for k, ns in uneven.items())
        lines += [
            "",
            wrap(f"Means are over the models that a variant knows (in the order of the columns): {told}."),
        ]
    lines += ["", *(wrap(t) for t in [*read_variants(fit, **chosen), *absent_variants(fit)])]
    links = fit.links()
    links = links[links["locale"].isin({k for k, _ in cells})]
    if models:
        lines += ["", tipping_text(fit, list(dict.fromkeys(k for k, _ in cells)), chosen.get("model"))]
    if models and links["ratio"].notna().any():
        lines += ["", link_text(links, fit.settings.pivot)]
    return "\n".join(lines)


def tipping_text(fit: Fit, locales: Sequence[str], model: Sequence[str] | None = None) -> str:
    """Where the headline's mean knowledge gap would vanish, to be read beside the estimated link."""
    found = fit.tipping(variant=fit.headline, model=model)
    rows, notes = [], []
    for r in records(found[found["locale"].isin(locales)]):
        bounds = f"[{number(r['lower'])}, {number(r['upper'])}]" if pd.notna(r["lower"]) else "-"
        rows.append([r["locale"], number(r["ratio"]), bounds])
        notes += [wrap(f"{r['locale']}: {r['note']}.")] if r["note"] else []
    text = (
        f"Tipping point ({fit.headline}): the ratio of CS to CA scale at which the mean knowledge gap "
        "vanishes, mean local over mean global gap:"
    )
    table = format_table(("locale", "ratio", level_text(fit.settings.level)), rows, left=(0,))
    return "\n".join([wrap(text), "", table, *notes])


def link_text(links: pd.DataFrame, pivot: str) -> str:
    """The links of every locale and variant, in 80 columns."""
    rows = [
        [
            r["locale"],
            r["variant"],
            number(r["ratio"]),
            f"[{number(r['lower'])}, {number(r['upper'])}]",
            number(r["slope"]),
            number(r["correlation"]),
            f"{number(r['common_ratio'])} ({probability(r['common_p'])})" if pd.notna(r["common_p"]) else "-",
            str(r["models"]),
        ]
        for r in records(links)
        if pd.notna(r["ratio"])
    ]
    header = ("locale", "variant", "ratio", "95%", "slope", "corr.", "one trait (p)", "models")
    return "\n".join(
        [
            wrap(
                f"Link: spread of the models' {pivot} abilities on CS over that on CA; 'one trait' is the "
                "ratio if each model has one ability for both, p how well that fits:"
            ),
            "",
            format_table(header, rows, left=(0, 1)),
        ]
    )
