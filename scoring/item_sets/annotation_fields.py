"""The fields of an annotation: their form, and what a model's object says of them.

Fields and labels follow Thellmann et al. (2026), "Gold vs. Translation"; the binary definition, the label of
"The Masked Advantage" (arXiv:2606.07422).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from maskedadv.annotation.tables import LABELS
from maskedadv.scoring.item_sets.objects import Unusable, named, one_line
from maskedadv.scoring.item_sets.spans import find_span
from maskedadv.scoring.items.items import Item

Definition = Literal["full", "binary"]

KNOWLEDGE, LABEL = "required_knowledge", "cultural_sensitivity_label"
_MOST_SPANS = 20
_MOST = {"culture": 100, "region": 100, "country": 100, "explanation": 1000}
_NOTHING = {"none", "n/a", "na", "null", "-", "not applicable", "unknown"}
_SAME = {"true": "yes", "false": "no"}
_ORDER = {
    "full": (
        "explanation",
        KNOWLEDGE,
        LABEL,
        "time_sensitive",
        "trigger_spans",
        "culture",
        "region",
        "country",
        "subject_category",
    ),
    "binary": ("explanation", LABEL),
}


def schema_of(definition: Definition) -> dict[str, Any]:
    """The form of an answer, as a JSON schema."""
    names = _ORDER[definition]
    return {
        "type": "object",
        "properties": {name: _kind(name) for name in names},
        "required": list(names),
        "additionalProperties": False,
    }


def _kind(name: str) -> dict[str, Any]:
    if name in LABELS:
        return {"type": "string", "enum": list(LABELS[name])}
    if name == "trigger_spans":
        return {"type": "array", "items": {"type": "string"}}
    return {"type": "string"}


def read_fields(answer: Mapping[str, Any], item: Item, definition: Definition) -> dict[str, Any]:
    """The fields of an item; what the answer has besides them is ignored.

    Raises
    ------
    Unusable
        bad_fields, span_not_in_text, labels_contradict
    """
    names = _ORDER[definition]
    fields: dict[str, Any] = {name: _label(name, answer) for name in names if name in LABELS}
    for name in names:
        if name in _MOST:
            fields[name] = _text(name, answer)
    if definition == "full":
        fields["trigger_spans"] = _spans(answer, item)
        if (fields[KNOWLEDGE] == "none") != (fields[LABEL] == "CA"):
            raise Unusable(
                "labels_contradict",
                f"required_knowledge is {fields[KNOWLEDGE]} and cultural_sensitivity_label {fields[LABEL]}; "
                "CS means that knowledge is required, CA that it is none",
            )
    return fields


def _label(name: str, answer: Mapping[str, Any]) -> str:
    if name not in answer:
        raise Unusable("bad_fields", f"the field {name} is missing")
    value = answer[name]
    text = " ".join(str(value).replace("_", " ").split()).casefold()
    text = _SAME.get(text, text) if name == "time_sensitive" else text
    for label in LABELS[name]:
        if label.casefold() == text:
            return label
    raise Unusable("bad_fields", f"{name} is {named(value)}, which is none of {', '.join(LABELS[name])}")


def _text(name: str, answer: Mapping[str, Any]) -> str:
    value = answer.get(name)
    if value is not None and not isinstance(value, str):
        raise Unusable("bad_fields", f"{name} is {named(value)}, not a text")
    if name == "explanation" and not (value or "").strip():
        raise Unusable("bad_fields", "the field explanation is missing")
    text = one_line(value, _MOST[name])
    return "" if name != "explanation" and text.casefold() in _NOTHING else text


def _spans(answer: Mapping[str, Any], item: Item) -> list[dict[str, Any]]:
    value = answer.get("trigger_spans")
    if value is None:
        raise Unusable("bad_fields", "the field trigger_spans is missing")
    if not isinstance(value, list) or not all(isinstance(x, str) for x in value):
        raise Unusable("bad_fields", "trigger_spans is no list of texts")
    if len(value) > _MOST_SPANS:
        raise Unusable("bad_fields", f"trigger_spans has {len(value)} entries; {_MOST_SPANS} at most")
    found = []
    for text in dict.fromkeys(x.strip() for x in value if x.strip()):
        place = find_span(text, item)
        if place is None:
            raise Unusable("span_not_in_text", f"{named(text)} does not stand in the item letter by letter")
        if place not in found:
            found.append(place)
    return found
