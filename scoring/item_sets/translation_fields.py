"""A translation: its form, what a model's object says, and what a person should look at."""

from __future__ import annotations

from collections.abc import Mapping
from string import ascii_uppercase
from typing import Any

from maskedadv.scoring.endpoints.replies import clean_text as whole_characters
from maskedadv.scoring.item_sets.names import compare_names, is_latin
from maskedadv.scoring.item_sets.objects import Unusable, named, one_line
from maskedadv.scoring.item_sets.quantities import compare_numbers, compare_units
from maskedadv.scoring.items.items import Item
from maskedadv.scoring.items.texts import as_read, clean_text

OTHER_SCRIPT, OPTIONS_DIFFER = "other_script", "options_differ"
LEAST_SIMILAR = 0.4  # chrF of an item and its back-translation, below which a person should look
_LATIN = {"en", "fr", "de", "es", "pt", "it", "nl", "pl", "sv", "da", "nb", "et", "lt", "eu", "ca", "sw"}
_MOST = 4000
_SHORT = 15  # letters, below which lengths say nothing
_LENGTHS = (0.4, 2.5)
_LENGTHS_OF_DENSE = (1.0, 8.0)  # of a text in Chinese, Japanese or Korean


def schema_of(n_options: int) -> dict[str, Any]:
    """The form of an answer: an option has its letter, so that none is lost and their order stays."""
    letters = list(ascii_uppercase[:n_options])
    text = {"type": "string"}

    def closed(properties: dict[str, Any]) -> dict[str, Any]:
        names = list(properties)
        return {"type": "object", "properties": properties, "required": names, "additionalProperties": False}

    pair = closed({"local": text, "translated": text})
    options = closed(dict.fromkeys(letters, text))
    return closed({"question": text, "options": options, "names": {"type": "array", "items": pair}})


def read_translation(answer: Mapping[str, Any], item: Item, target: str) -> dict[str, Any]:
    """Question, options and names of a translation.

    Raises
    ------
    Unusable
        bad_fields, options_differ, other_script
    """
    question = _text("question", answer.get("question"))
    options = answer.get("options")
    letters = ascii_uppercase[: len(item.options)]
    if isinstance(options, list):
        options = dict(zip(ascii_uppercase, options, strict=False))
    if not isinstance(options, dict):
        raise Unusable("bad_fields", "options is no object with the options by letter")
    if sorted(options) != list(letters):
        raise Unusable(
            OPTIONS_DIFFER,
            f"the options are {one_line(', '.join(sorted(options)), 200) or 'none'}, and should be "
            f"{', '.join(letters)}",
        )
    texts = [_text(f"option {letter}", options[letter]) for letter in letters]
    if target.split("-")[0] in _LATIN and not is_latin(question):
        raise Unusable(OTHER_SCRIPT, f"the question is not written in the language {target}")
    return {"question": question, "options": texts, "names": _names(answer.get("names"))}


def flags_of(item: Item, found: Mapping[str, Any], target: str) -> dict[str, str]:
    """What a person should look at: kinds of flags, and why."""
    pairs = [("question", item.question, found["question"])]
    pairs += [
        (f"option {letter}", own, other)
        for letter, own, other in zip(ascii_uppercase, item.options, found["options"], strict=False)
    ]
    flags = {}
    for kind, compare in (("numbers_differ", compare_numbers), ("units_differ", compare_units)):
        wrong = [f"{part}: {why}" for part, own, other in pairs if (why := compare(own, other))]
        if wrong:
            flags[kind] = f"{kind.split('_')[0]} differ ({'; '.join(wrong)})"
    if why := compare_names(item, found["question"], found["options"], found["names"]):
        flags["names_differ"] = f"names differ ({why})"
    if as_read(item.question) == as_read(found["question"]) and any(map(str.isalpha, item.question)):
        flags["untranslated"] = "the question is as it was"
    latin = target.split("-")[0] in _LATIN
    if other := [part for part, _, text in pairs if latin and not is_latin(text)]:
        flags["other_script"] = f"in another script ({', '.join(other)})"
    if len({as_read(text) for text in found["options"]}) < len(found["options"]):
        flags["options_alike"] = "two options read alike"
    if why := _length(item, found):
        flags["length"] = why
    return flags


def _length(item: Item, found: Mapping[str, Any]) -> str:
    both = (item.question, *item.options), (found["question"], *found["options"])
    own, other = (sum(map(len, texts)) for texts in both)
    low, high = _LENGTHS_OF_DENSE if item.language.split("-")[0] in {"zh", "ja", "ko", "yue"} else _LENGTHS
    if own < _SHORT or low <= other / own <= high:
        return ""
    return f"{other} letters for {own}"


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise Unusable(
            "bad_fields", f"{name} is {named(value)}, not a text" if value else f"{name} is missing"
        )
    text = clean_text(whole_characters(value)).strip()
    if len(text) > _MOST:
        raise Unusable("bad_fields", f"{name} has {len(text):,} letters")
    return text


def _names(value: Any) -> list[tuple[str, str]]:
    """What the translator says of names, where it says it in the form asked for."""
    found = []
    for entry in value if isinstance(value, list) else []:
        if isinstance(entry, dict):
            pair = (entry.get("local"), entry.get("translated"))
            if all(isinstance(x, str) and x.strip() for x in pair):
                local, translated = (one_line(x, 200) for x in pair)
                found.append((local, translated))
    return found
