"""Assumption 1 of a whole table: the same difficulty in both languages, item by item, locale by locale."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from maskedadv import __version__
from maskedadv.assumptions.item_tables import flag_items, sort_items, sum_by_subset
from maskedadv.assumptions.item_tests import BlockTest, test_block
from maskedadv.assumptions.purified import compare_purified
from maskedadv.assumptions.texts import ItemText, pair_texts
from maskedadv.checks import Number, OneOf
from maskedadv.design.accuracy_filter import filter_models
from maskedadv.design.blocks import Block, build_block
from maskedadv.design.prepare import Design, Opened, open_table, prepare_locales
from maskedadv.design.without_items import without_items
from maskedadv.errors import EstimationError, WrongResponse
from maskedadv.files.digests import fingerprint_of
from maskedadv.fitting import fit_design
from maskedadv.linear_algebra import one_thread
from maskedadv.responses import Responses, read_responses
from maskedadv.settings import Settings
from maskedadv.vocabulary import SUBSETS
from maskedadv.words.numbers import number, plural

Progress = Callable[[str], None]

AGAINST = ("pivot", "all")
UNTESTABLE = (
    "What cannot be tested: a difference that all items of a subset share is the gap itself. Items are "
    "compared with each other, never with the truth."
)


@dataclass(frozen=True)
class Dif:
    """Differential item functioning of a response table.

    Attributes
    ----------
    items
        A row for each locale and item, those first whose key differs, then by strength of evidence. Effects
        in logits, positive where the item is easier in the locale's language; `p` takes models as
        independent, `p_robust` does not, `q` is that after Benjamini and Hochberg, over both subsets of the
        locale; `size` and `mh_class` are ETS classes A, B, C.
    subsets
        A row for each locale and subset: items, those tested, flagged, their share and direction,
        `inflation` (variance of deviates of the bulk of the items, 1 for independent models), `tau` (sd of
        the differences of all items, logit, models taken as independent) with the p of 0.
    gaps
        Mean gaps over models with all items and without those removed; see `compare_purified`.
    texts
        Texts of items side by side, with `key_differs`; None where no item file was given.
    notes
        What a reader should know.
    settings
        What was asked for, as plain values.
    data
        Fingerprint of the response table.
    fingerprint
        Of the table, the settings and the texts.
    """

    items: pd.DataFrame
    subsets: pd.DataFrame
    gaps: pd.DataFrame
    texts: pd.DataFrame | None
    notes: tuple[str, ...]
    settings: dict[str, Any]
    data: str
    fingerprint: str


@one_thread
def dif(
    responses: str | Path | pd.DataFrame | Responses,
    *,
    items: Iterable[ItemText] | None = None,
    against: str = "pivot",
    alpha: float = 0.05,
    purify: bool = True,
    progress: Progress = lambda _: None,
    begin: Progress = lambda _: None,
    **arguments: Any,
) -> Dif:
    """Test whether single items are harder or easier in one language than ability accounts for.

    Parameters
    ----------
    responses
        A response table: path, DataFrame or `Responses`; right and wrong answers.
    items
        Texts of the items (as `maskedadv.scoring.items.sources.read_items(...).items`): they are set side by
        side, items with another key stand first and are removed from the purified gaps.
    against
        `pivot`: the locale's language against the pivot. `all`: every language, the pivot too, against all
        others together, where the same items were asked in several: more power, and it tells which language
        is odd.
    alpha
        False discovery rate at which items are flagged, in each locale.
    purify
        Whether gaps are refitted without flagged items.
    progress
        Called with a line of text as parts are done.
    begin
        Called with the fingerprint of the result when everything asked for was checked, before the work; it
        may refuse it by an exception.
    arguments
        Settings of the fit: locale, pivot, min_accuracy, estimator (default marginal), options, guessing,
        link, variants, headline, level, engine, seed.

    Returns
    -------
    Dif

    Raises
    ------
    InputError
        One of its named kinds.

    Examples
    --------
    >>> import maskedadv
    >>> found = maskedadv.dif(maskedadv.datasets.global_mmlu_lite(), locale="zh")  # doctest: +SKIP
    >>> found.items.head()  # doctest: +SKIP
    """
    OneOf(*AGAINST)("against", against)
    Number(0.0, 1.0)("alpha", alpha)
    fixed = {"response": "binary", "method": "optimize", "scope": "locale", "interval": "robust"}
    if other := [name for name, value in fixed.items() if arguments.get(name) not in (None, "", value)]:
        raise WrongResponse(
            "dif tests right and wrong answers, locale by locale, by maximum likelihood; leave out "
            f"{other[0]}."
        )
    settings = Settings(**({"estimator": "marginal"} | arguments | fixed))
    opened = open_table(read_responses(responses), settings)
    design = prepare_locales(opened, opened.locales)
    tasks = _tasks(opened, design, against)
    languages = list(dict.fromkeys(language for _, language in tasks))
    texts: pd.DataFrame | None = None
    told: list[str] = []
    if items is not None:
        known = [item for block, _ in tasks for item in block.item]
        texts, told = pair_texts(items, [k for k in languages if k != design.pivot], design.pivot, known)
    asked = {"against": against, "alpha": alpha, "purify": purify, "items": items is not None}
    whole = {**settings.as_json(), **asked}
    fingerprint = _fingerprint(design.fingerprint, whole, texts)
    begin(fingerprint)
    tests = []
    for block, language in tasks:
        tests.append(test_block(block, language, settings.level))
        progress(f"{language} {SUBSETS[block.subset]}: {len(block.item)} items tested")
    table = flag_items(pd.concat([t.items for t in tests], ignore_index=True), alpha)
    notes = [*told, *_notes(tests, design), UNTESTABLE]
    table["key_differs"] = False
    if texts is not None:
        differs = texts[texts["key_differs"]]
        pairs = set(zip(differs["locale"], differs["item"], strict=True))
        table["key_differs"] = [pair in pairs for pair in zip(table["locale"], table["item"], strict=True)]
    table["removed"] = table["flagged"] | table["key_differs"]
    table = sort_items(table, languages)
    gaps = pd.DataFrame()
    if purify:
        try:
            gaps = _purified(design, settings, table, progress)
        except EstimationError as error:
            notes.insert(0, f"no gaps with and without the items removed: {str(error).rstrip('.')}")
    return Dif(
        items=table,
        subsets=sum_by_subset(table, tests),
        gaps=gaps,
        texts=texts,
        notes=tuple(notes),
        settings=whole,
        data=design.fingerprint,
        fingerprint=fingerprint,
    )


def _tasks(opened: Opened, design: Design, against: str) -> list[tuple[Block, str]]:
    """Blocks, and the language to be tested in each."""
    if against == "pivot" or len(design.locales) == 1:
        return [(b, k) for k in design.locales for b in design.of_locale(k).values()]
    whole = opened.rows(design.locales)
    keep, _ = filter_models(whole.rated, design.locales, design.pivot, opened.settings.min_accuracy)
    out = []
    for subset in range(len(SUBSETS)):
        block = build_block(
            whole.values,
            subset=subset,
            locales=design.locales,
            pivot=design.pivot,
            keep_model=keep,
        )
        if block is not None:
            out += [(_asked_in(block, k), k) for k in (*design.locales, design.pivot)]
    order = [*design.locales, design.pivot]
    return sorted(out, key=lambda task: (order.index(task[1]), task[0].subset))


def _asked_in(block: Block, language: str) -> Block:
    """The items of a block that were asked in a language, and the cells that have answers to them."""
    asked = (~np.isnan(block.answers[block.language == language])).any(axis=0)
    answers = block.answers[:, asked]
    cell = (~np.isnan(answers)).any(axis=1)
    return replace(
        block,
        model=block.model[cell],
        language=block.language[cell],
        item=block.item[asked],
        place=block.place[asked],
        answers=answers[cell],
        chance=None,
    )


def _notes(tests: Sequence[BlockTest], design: Design) -> list[str]:
    out = [w.text for w in design.notes]
    largest = max(tests, key=lambda t: t.inflation)
    if largest.inflation > 1.0:
        name = f"{largest.items['locale'].iloc[0]} {largest.items['subset'].iloc[0]}"
        out.append(
            "deviates of most items spread more than independent models would have it (variance up to "
            f"{number(largest.inflation, 1)}, in {name}): models are relatives, or all items differ a "
            "little; p_robust, q and limits count with it, p does not"
        )
    few = [t for t in tests if 0 < min(t.cells) < 10]
    if few:
        out.append(
            f"with {plural(min(min(t.cells) for t in few), 'model')} only gross differences can be seen: no "
            "flag does not mean no difference"
        )
    left = sum(t.left_out for t in tests if min(t.cells))
    if left:
        out.append(
            f"{plural(left, 'cell')} (a model in a language, in one subset) do not count: their abilities "
            "are not finite, or share no items with the others'"
        )
    nothing = [t for t in tests if not min(t.cells)]
    if nothing:
        names = ", ".join(f"{t.items['locale'].iloc[0]} {t.items['subset'].iloc[0]}" for t in nothing[:3])
        out.append(
            f"nothing can be tested in {plural(len(nothing), 'block')} ({names}): no ability is finite"
        )
    return out


def _purified(design: Design, settings: Settings, table: pd.DataFrame, progress: Progress) -> pd.DataFrame:
    """Gaps with and without what was removed in the locale's own language or in the pivot."""
    gone = table[table["removed"]]
    pivot = set(gone.loc[gone["locale"] == design.pivot, "item"])
    removed = {k: set(gone.loc[gone["locale"] == k, "item"]) | pivot for k in design.locales}
    subset_of = {
        k: {str(i): SUBSETS[b.subset] for b in design.of_locale(k).values() for i in b.item}
        for k in design.locales
    }
    removed = {k: ids & set(subset_of[k]) for k, ids in removed.items()}
    whole = fit_design(design, settings, progress=lambda line: progress(f"all items: {line}"))
    shorter = without_items(design, removed)
    purified = (
        fit_design(shorter, settings, progress=lambda line: progress(f"purified: {line}"))
        if any(removed.values())
        else whole
    )
    return compare_purified(whole, purified, removed, subset_of)


def _fingerprint(data: str, settings: dict[str, Any], texts: pd.DataFrame | None) -> str:
    own = [data, settings, __version__, None if texts is None else texts.to_json()]
    return fingerprint_of(own)
