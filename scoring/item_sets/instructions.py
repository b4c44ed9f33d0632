"""What annotating and translating models are told (`instructions.toml`), and how they are shown an item."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from functools import cache
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from maskedadv.errors import BadItem
from maskedadv.scoring.items.items import MAX_OPTIONS, Item

_CODE = re.compile(r"(?=.{1,35}$)\w+(?:[-_]\w+)*")
_UNDETERMINED = "und"  # BCP 47


def code_of(language: str) -> str:
    """A language as a system message names it: what is no code could be a sentence that gives orders.

    The item that the model is shown has it as it is.
    """
    return language if _CODE.fullmatch(language) else _UNDETERMINED


def instruction(part: str, name: str, **words: str) -> str:
    """A system message with its words filled in; a word in braces that is not given stays as it is."""
    text: str = _instructions()[part][name].strip()
    for word, value in words.items():
        text = text.replace("{" + word + "}", value)
    return text


def shown(item: Item, *, key: bool) -> str:
    """An item as data: one object of JSON, out of whose texts nothing can break.

    Parameters
    ----------
    key
        Whether the right option is told.

    Raises
    ------
    BadItem
        More options than letters are given to.
    """
    if len(item.options) > MAX_OPTIONS:
        raise BadItem(
            f"{item.where or item.item}: item {item.item!r} has {len(item.options)} options, and at most "
            f"{MAX_OPTIONS} can be asked; leave it out."
        )
    content: dict[str, Any] = {"language": item.language, "question": item.question}
    content["options"] = dict(zip(ascii_uppercase, item.options, strict=False))
    if key and item.answer is not None:
        content["right"] = ascii_uppercase[item.answer]
    return json.dumps(content, ensure_ascii=False)


def version_of() -> str:
    """A short name of all instructions as they are: any change of a word changes it."""
    return hashlib.sha256(json.dumps(_instructions(), sort_keys=True).encode()).hexdigest()[:8]


@cache
def _instructions() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("instructions.toml").read_text("utf-8"))
