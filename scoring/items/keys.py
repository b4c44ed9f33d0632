"""Which option is right: answers keyed by letter, by number from 0 or 1, by column name or by text."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from string import ascii_uppercase
from typing import Any

from maskedadv.errors import AmbiguousKey, BadItem
from maskedadv.words.lists import first_few

KEYS = ("auto", "letter", "from-0", "from-1", "text", "column")


def read_keys(
    answers: Sequence[Any],
    options: Sequence[Sequence[str]],
    kind: str,
    columns: Sequence[Sequence[str]],
    places: Sequence[str],
    wrong: dict[int, str] | None = None,
) -> list[int | None]:
    """Position of the right option of every row, counted from 0; None where the answer is empty.

    Parameters
    ----------
    answers
        As the file holds them: text, number, or a list of one.
    options
        Texts of the options.
    kind
        One of `KEYS`. "auto" reads letters as letters; numbers from 0 if a 0 occurs and no number is as
        large as its row's number of options, from 1 the other way round; anything else as an option's text.
    columns
        Names of the options' columns, for the kind "column".
    places
        Where each row is, for messages.
    wrong
        Filled with rows whose answer names no option, or several, and why; None refuses them.

    Raises
    ------
    BadItem
        An answer names no option, or several; lists the first three rows.
    AmbiguousKey
        Numbers that may count from 0 or from 1, or an answer that is one option's key and another's text.
    """
    texts = [_single(answer) for answer in answers]
    several = [k for k, text in enumerate(texts) if text is None]
    if wrong is not None:
        wrong.update({k: f"several right options: {answers[k]!r}" for k in several})
    elif several:
        raise BadItem(
            f"{len(several)} rows have several right options ({_rows(several, answers, places)}); "
            "an item has one. Mend them, or leave them out with --drop-bad."
        )
    given = [text or "" for text in texts]
    kind_of = _guess(given, options, places) if kind == "auto" else [kind] * len(given)
    out = [
        _position(text, own, one, names) if text else None
        for text, own, one, names in zip(given, options, kind_of, columns, strict=True)
    ]
    none = [k for k, text in enumerate(given) if text and out[k] is None]
    if wrong is not None:
        wrong.update({k: f"the answer {answers[k]!r} names no option" for k in none})
    elif none:
        raise BadItem(
            f"{len(none)} rows have an answer that names none of their options "
            f"({_rows(none, answers, places)}); answers are read as {kind}. Mend them, or leave them out "
            "with --drop-bad."
        )
    return out


def kind_of_key(answer: Any) -> str:
    """What an answer looks like: a letter, a number, or a text; '' where there is none."""
    text = _single(answer)
    if not text:
        return ""
    if re.fullmatch(r"[A-Za-z]", text):
        return "letter"
    return "number" if re.fullmatch(r"\d{1,2}", text) else "text"


def _single(answer: Any) -> str | None:
    """The answer as text, '' for none; None for several."""
    if isinstance(answer, str) and answer.strip().startswith("["):
        try:
            answer = json.loads(answer)
        except ValueError:
            return answer.strip()
    if isinstance(answer, list):
        if len(answer) > 1:
            return None
        answer = answer[0] if answer else None
    if answer is None or (isinstance(answer, float) and math.isnan(answer)):
        return ""
    if isinstance(answer, float) and answer.is_integer():
        answer = int(answer)
    text = str(answer).strip()
    return re.sub(r"^(\d+)\.0$", r"\1", text)


def _guess(given: Sequence[str], options: Sequence[Sequence[str]], places: Sequence[str]) -> list[str]:
    numbers = [(k, int(text)) for k, text in enumerate(given) if re.fullmatch(r"\d{1,2}", text)]
    zero = any(n == 0 for _, n in numbers)
    last = any(n == len(options[k]) for k, n in numbers)
    kinds = []
    unclear = []
    for k, text in enumerate(given):
        if re.fullmatch(r"[A-Za-z]", text):
            kind = "letter"
        elif re.fullmatch(r"\d{1,2}", text):
            kind = "from-1" if last else "from-0"
        else:
            kind = "text"
        kinds.append(kind)
        readings = {_position(text, options[k], kind, ()), _position(text, options[k], "text", ())} - {None}
        if kind != "text" and len(readings) > 1:
            unclear.append(k)
    if numbers and zero == last:
        why = (
            "both 0 and the number of options occur" if zero else "neither 0 nor the number of options occurs"
        )
        raise AmbiguousKey(
            f"answers are numbers, and {why} ({_rows([k for k, _ in numbers], given, places)}); "
            "say with maskedadv items convert --key whether they count from-0 or from-1."
        )
    if unclear:
        raise AmbiguousKey(
            f"{len(unclear)} answers are the key of one option and the text of another "
            f"({_rows(unclear, given, places)}); say with maskedadv items convert --key which is meant."
        )
    return kinds


def _position(text: str, options: Sequence[str], kind: str, columns: Sequence[str]) -> int | None:
    if kind == "letter":
        found = ascii_uppercase.find(text.upper()) if len(text) == 1 else -1
    elif kind in {"from-0", "from-1"}:
        found = int(text) - (kind == "from-1") if re.fullmatch(r"\d{1,2}", text) else -1
    elif kind == "column":
        found = columns.index(text) if text in columns else -1
    else:
        same = [k for k, option in enumerate(options) if option.strip() == text]
        found = same[0] if len(same) == 1 else -1
    return found if 0 <= found < len(options) else None


def _rows(rows: Sequence[int], answers: Sequence[Any], places: Sequence[str]) -> str:
    return first_few([f"{places[k]}: {answers[k]!r}" for k in rows], between="; ")
