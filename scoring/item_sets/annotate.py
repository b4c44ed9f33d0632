"""Label items by models: what knowledge each needs, and whether it is culture-specific."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from maskedadv.errors import BadSetting
from maskedadv.scoring.endpoints.settings import ApiSettings
from maskedadv.scoring.item_sets.annotation_fields import Definition, read_fields, schema_of
from maskedadv.scoring.item_sets.asking import Request, ask_requests
from maskedadv.scoring.item_sets.instructions import code_of, instruction, shown
from maskedadv.scoring.item_sets.said import SaidLog
from maskedadv.scoring.item_sets.steps import fingerprint_of
from maskedadv.scoring.item_sets.tables import ANNOTATIONS, table_of
from maskedadv.scoring.items.items import Item, hash_items

DEFINITIONS: tuple[Definition, ...] = ("full", "binary")


def annotate_items(
    items: Sequence[Item],
    models: Mapping[str, ApiSettings],
    log: SaidLog,
    *,
    definition: Definition = "full",
    report: Callable[[str], None] = lambda _: None,
) -> pa.Table:
    """Have every model label every item.

    Parameters
    ----------
    items
        Each in its own language; labels that they have are not shown to the models.
    models
        By the name that the annotator gets in the table.
    log
        Where raw answers are kept as they come, and found again.
    definition
        "full": all fields of Thellmann et al. (2026). "binary": CS or CA and a reason.

    Returns
    -------
    Table with the columns `ANNOTATIONS`, by language, item and annotator.

    Raises
    ------
    BadSetting
        Two annotators are the same model.
    EndpointFailed, CostReached
        What had an answer before is in `log`; the same call again goes on.
    """
    refuse_twins(models)
    rows = []
    requests = annotation_requests(items, definition)
    for name, settings in models.items():
        outcomes = ask_requests(name, settings, requests, log, report)
        for item, outcome in zip(items, outcomes, strict=True):
            about = {"item": item.item, "language": item.language, "annotator": name}
            rows.append({**_EMPTY, **about, **outcome.row()})
    rows.sort(key=lambda row: (row["language"], row["item"], row["annotator"]))
    return table_of(rows, ANNOTATIONS)


def annotation_key(
    items: Sequence[Item], models: Mapping[str, ApiSettings], definition: Definition
) -> dict[str, Any]:
    """Fingerprint of all that decides a table of annotations."""
    return fingerprint_of(
        "annotate",
        items=hash_items(items),
        definition=definition,
        instruction=instruction("annotate", definition),
        models={name: one.identity() for name, one in models.items()},
    )


def annotation_requests(items: Sequence[Item], definition: Definition = "full") -> list[Request]:
    """What is asked of a model, an item at a time: none can say anything of another."""
    if definition not in DEFINITIONS:
        raise BadSetting(f"{definition!r} is no definition; give one of {', '.join(DEFINITIONS)}.")
    schema = schema_of(definition)

    def reader(item: Item) -> Callable[[Mapping[str, Any]], Mapping[str, Any]]:
        return lambda answer: read_fields(answer, item, definition)

    return [
        Request(
            item.item,
            item.language,
            (
                ("system", instruction("annotate", definition, language=code_of(item.language))),
                ("user", shown(item, key=True)),
            ),
            schema,
            reader(item),
        )
        for item in items
    ]


def refuse_twins(models: Mapping[str, ApiSettings]) -> None:
    """Refuse two annotators that are the same model, whose agreement would say nothing.

    Raises
    ------
    BadSetting
    """
    seen: dict[str, str] = {}
    for name, settings in models.items():
        other = seen.setdefault(repr(settings.identity()), name)
        if other != name:
            raise BadSetting(f"the annotators {other!r} and {name!r} are the same model; give another model.")


_EMPTY: dict[str, Any] = {f.name: "" for f in ANNOTATIONS if f.type == pa.string()} | {"trigger_spans": []}
