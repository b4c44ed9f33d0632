"""Labels, translations and decisions put together: the items of the set, and why the others are not in it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from maskedadv.errors import BadItem
from maskedadv.scoring.items.items import Item, askable

DIFFER, NO_COUNTERPART, FLAGGED, REVIEWED = "languages_differ", "no_counterpart", "flagged", "review"
FIELDS = ("required_knowledge", "time_sensitive", "subject_category")
"""Of an annotation, what goes into the set beside the label."""
Rows = Mapping[tuple[str, str], Mapping[str, Any]]


@dataclass(frozen=True)
class Gone:
    """An item that is not in the set: at which step it fell out, and why."""

    item: Item
    step: str
    reason: str
    detail: str = ""

    def row(self) -> dict[str, str]:
        """As a row of `LEFT_OUT`."""
        x = self.item
        about = {"item": x.item, "language": x.language, "source": x.extra.get("source", "")}
        return about | {"step": self.step, "reason": self.reason, "detail": self.detail}


def merge_items(
    items: Sequence[Item],
    translations: Iterable[Mapping[str, Any]],
    decisions: Rows,
    *,
    pivot: str,
    keep_flagged: bool = False,
) -> tuple[list[Item], list[Gone]]:
    """The set: every item in its own language and in the pivot.

    Parameters
    ----------
    items
        Labelled items, those in the pivot language among them.
    translations
        Rows of `TRANSLATIONS`.
    decisions
        Rows of `DECISIONS` by item and language. What people decided holds: a flag is of no account then.
    keep_flagged
        Whether counterparts with a flag that nobody reviewed are taken.
    """
    pivots = {x.item: x for x in items if x.language == pivot}
    translated = {row["item"]: row for row in translations}
    gone: list[Gone] = []
    kept: list[tuple[Item, Item]] = []
    local = sorted((x for x in items if x.language != pivot), key=lambda x: (x.language, x.item))
    for x in local:
        decision = decisions.get((x.item, x.language))
        if decision is not None and not decision["keep"]:
            gone.append(Gone(x, "review", REVIEWED, decision["reason"] or ""))
            continue
        if decision is not None:
            x = _as_decided(x, decision)
        found = _counterpart(x, pivots, translated, decision, pivot, keep_flagged=keep_flagged)
        if isinstance(found, Gone):
            gone.append(found)
            continue
        if why := why_not_askable(x) or why_not_askable(found):
            gone.append(Gone(x, "merge", "not_askable", why))
            continue
        kept.append((x, found))
    differing = _differing(x for x, _ in kept)
    gone += [Gone(x, "merge", DIFFER) for x, _ in kept if x.item in differing]
    kept = [(x, other) for x, other in kept if x.item not in differing]
    alone = pivots.keys() - {x.item for x in local}
    gone += [Gone(pivots[name], "merge", NO_COUNTERPART) for name in sorted(alone)]
    counterparts: dict[str, Item] = {}
    # One counterpart for all languages of an item: the one that people mended, where they did.
    for x, other in sorted(kept, key=lambda pair: pair[1].extra.get("made") != "review"):
        counterparts.setdefault(x.item, replace(other, subset=x.subset))
    return [*(x for x, _ in kept), *(counterparts[name] for name in sorted(counterparts))], gone


def _as_decided(x: Item, decision: Mapping[str, Any]) -> Item:
    """The item with the labels that people agreed on, where they did.

    What knowledge it needs is not known any more where people say CS of what was CA, or the other way round,
    and no more than that; nor where what most say of it contradicts the label.
    """
    subset = decision["cultural_sensitivity_label"] or x.subset
    extra = {**x.extra, **{name: decision[name] for name in FIELDS if decision.get(name)}}
    knowledge = extra.get("required_knowledge")
    if knowledge and (knowledge == "none") != (subset == "CA"):
        extra["required_knowledge"] = ""
    return replace(x, subset=subset, extra=extra)


def _counterpart(
    x: Item,
    pivots: Mapping[str, Item],
    translated: Mapping[str, Mapping[str, Any]],
    decision: Mapping[str, Any] | None,
    pivot: str,
    *,
    keep_flagged: bool,
) -> Item | Gone:
    """The item in the pivot language, or why it has none that may be used."""
    row = translated.get(x.item)
    if decision is not None and decision["translated_question"] and decision["translated_options"]:
        options = decision["translated_options"]
        if len(options) != len(x.options):
            return Gone(x, "review", "options_differ", f"{len(options)} options, not {len(x.options)}")
        return _made(x, pivot, decision["translated_question"], options, "review", "")
    if x.item in pivots:
        return pivots[x.item]
    if row is None:
        return Gone(x, "translate", NO_COUNTERPART)
    if row["reason"]:
        return Gone(x, "translate", row["reason"], row["detail"] or "")
    if row["flagged"] and decision is None and not keep_flagged:
        return Gone(x, "translate", FLAGGED, row["why"])
    return _made(
        x, pivot, row["translated_question"], row["translated_options"], "translation", row["translator"]
    )


def _made(x: Item, pivot: str, question: str, options: Sequence[str], made: str, translator: str) -> Item:
    extra = {**x.extra, "made": made, "translator": translator}
    return replace(x, language=pivot, question=question, options=tuple(options), extra=extra)


def why_not_askable(x: Item) -> str:
    """What is wrong with an item that `maskedadv score` would refuse; '' for nothing."""
    try:
        askable([x])
    except BadItem as error:
        return str(error).partition(": ")[2].partition(" (")[0]
    return ""


def _differing(items: Iterable[Item]) -> set[str]:
    subsets: dict[str, set[str]] = defaultdict(set)
    for x in items:
        subsets[x.item].add(x.subset)
    return {name for name, found in subsets.items() if len(found) > 1}
