"""Translate local items into the pivot language, and say of each whether a person should look, and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from string import ascii_uppercase
from typing import Any

import pyarrow as pa

from maskedadv.scoring.endpoints.settings import ApiSettings
from maskedadv.scoring.item_sets.asking import Outcome, Request, ask_requests
from maskedadv.scoring.item_sets.instructions import code_of, instruction, shown
from maskedadv.scoring.item_sets.said import SaidLog
from maskedadv.scoring.item_sets.similarity import chrf
from maskedadv.scoring.item_sets.steps import fingerprint_of
from maskedadv.scoring.item_sets.tables import TRANSLATIONS, table_of
from maskedadv.scoring.item_sets.translation_fields import (
    LEAST_SIMILAR,
    flags_of,
    read_translation,
    schema_of,
)
from maskedadv.scoring.items.items import Item, hash_items

Model = tuple[str, ApiSettings]


def items_to_translate(items: Sequence[Item], target: str = "en") -> list[Item]:
    """Local items that have no counterpart in the target language, by language and id.

    One that is asked in several local languages is translated once, from the first of them.
    """
    there = {x.item for x in items if x.language == target}
    found: dict[str, Item] = {}
    for x in sorted(items, key=lambda x: (x.language, x.item)):
        if x.item not in there:
            found.setdefault(x.item, x)
    return list(found.values())


def translate_items(
    items: Sequence[Item],
    model: Model,
    log: SaidLog,
    *,
    target: str = "en",
    back: Model | None = None,
    report: Callable[[str], None] = lambda _: None,
) -> pa.Table:
    """Counterparts of items, with the right option in its place.

    Parameters
    ----------
    items
        Local items, such as `items_to_translate` gives.
    model
        Name and settings of the translator, who is not told which option is right.
    log
        Where raw answers are kept as they come, and found again.
    back
        Who translates back, without having seen the item; None for nobody.

    Returns
    -------
    Table with the columns `TRANSLATIONS`, in the order of the items.

    Raises
    ------
    EndpointFailed, CostReached
        What had an answer before is in `log`; the same call again goes on.
    """
    name, settings = model
    outcomes = ask_requests(name, settings, translation_requests(items, target), log, report)
    counterparts = [_counterpart(x, o, target) for x, o in zip(items, outcomes, strict=True)]
    returned = _translated_back(items, counterparts, back, log, report)
    rows = []
    for item, outcome, result in zip(items, outcomes, returned, strict=True):
        rows.append(_row(item, target, name, outcome, result))
    return table_of(rows, TRANSLATIONS)


def translation_key(items: Sequence[Item], model: Model, target: str, back: Model | None) -> dict[str, Any]:
    """Fingerprint of all that decides a table of translations."""
    return fingerprint_of(
        "translate",
        items=hash_items(items),
        target=target,
        instruction=instruction("translate", "system"),
        model=[model[0], model[1].identity()],
        back=None if back is None else [back[0], back[1].identity()],
    )


def translation_requests(items: Sequence[Item], target: str) -> list[Request]:
    """What a translator is asked, an item at a time."""

    def reader(item: Item) -> Callable[[Mapping[str, Any]], Mapping[str, Any]]:
        return lambda answer: read_translation(answer, item, target)

    return [
        Request(
            item.item,
            item.language,
            (
                (
                    "system",
                    instruction(
                        "translate",
                        "system",
                        language=code_of(item.language),
                        target=code_of(target),
                        letters=", ".join(ascii_uppercase[: len(item.options)]),
                    ),
                ),
                ("user", shown(item, key=False)),
            ),
            schema_of(len(item.options)),
            reader(item),
        )
        for item in items
    ]


def _counterpart(item: Item, outcome: Outcome, target: str) -> Item | None:
    """The item in the target language; None where there is none."""
    if outcome.reason:
        return None
    texts = outcome.fields["question"], tuple(outcome.fields["options"])
    return Item(item.item, item.subset, target, *texts, item.answer, item.country)


def _translated_back(
    items: Sequence[Item],
    counterparts: Sequence[Item | None],
    back: Model | None,
    log: SaidLog,
    report: Callable[[str], None],
) -> list[Outcome | None]:
    """What the counterparts are in the language of their items; None where nobody was asked."""
    if back is None:
        return [None] * len(items)
    asked = [k for k, counterpart in enumerate(counterparts) if counterpart is not None]
    requests = []
    for k in asked:
        counterpart = counterparts[k]
        assert counterpart is not None
        requests += translation_requests([counterpart], items[k].language)
    outcomes = ask_requests(f"{back[0]} (back)", back[1], requests, log, report)
    found = dict(zip(asked, outcomes, strict=True))
    return [found.get(k) for k in range(len(items))]


def _row(item: Item, target: str, name: str, outcome: Outcome, back: Outcome | None) -> dict[str, Any]:
    row: dict[str, Any] = {
        "item": item.item,
        "language": item.language,
        "target": target,
        "translator": name,
        "question": item.question,
        "options": list(item.options),
        "answer": "" if item.answer is None else ascii_uppercase[item.answer],
        **{k: v for k, v in outcome.row().items() if k not in {"question", "options", "names"}},
    }
    if outcome.reason:
        return row | {"flagged": True, "flags": [], "why": ""}
    found = outcome.fields
    flags = flags_of(item, found, target)
    row |= {"translated_question": found["question"], "translated_options": found["options"]}
    if back is not None and back.reason:
        flags["back_translation"] = f"not translated back ({back.reason})"
    elif back is not None:
        again = "\n".join((back.fields["question"], *back.fields["options"]))
        similarity = chrf(again, "\n".join((item.question, *item.options)))
        row |= {"back_question": back.fields["question"], "back_options": back.fields["options"]}
        row |= {"similarity": similarity}
        if similarity < LEAST_SIMILAR:
            flags["back_translation"] = f"translated back it is another text (similarity {similarity:.2f})"
    return row | {"flagged": bool(flags), "flags": list(flags), "why": "; ".join(flags.values())}
