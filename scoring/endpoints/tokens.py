"""The most probable first tokens as an endpoint lists them, and what they say of the options.

Servers write tokens as text or as their vocabulary does ("▁B", "ĠB", "token_id:33"), list them in the shape
of a chat or of a completion under either, and put −9999 where they have no number.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from maskedadv.scoring.endpoints.replies import Repeated
from maskedadv.scoring.launch.store import Answer
from maskedadv.scoring.models.encode import BEGINS_ANOTHER
from maskedadv.scoring.prompts.prompts import Rendered

NO_LOGPROBS = "no_logprobs_given"
NOT_IN_TOP = "option_not_in_top"
NOT_FINITE = "not_finite"
THINKS_FIRST = "thinks_first"
_BYTE = re.compile("<0x([0-7][0-9A-F])>")  # SentencePiece's own for a byte, here of an ASCII letter
NUMBERED = re.compile(r"token_id:\d+$")
_NONE = (
    -100.0
)  # at most: no number that a softmax gives to one of the most probable tokens, but a placeholder
_ROUNDING = 1e-4  # above 0, that rounding may give
_THINKS = re.compile(
    r"\s*(?:<\|?/?(?:seed:)?(?:think|thinking|thought|reason|reasoning|reflection|channel|start_thinking|begin_of_thought|"
    r"start_of_thought|cot)\b|\[/?think|◁think|<unused94>|<\|channel\|>)",
    re.IGNORECASE,
)


class Entry(NamedTuple):
    """One token of the list: as it is written, its bytes where they are given, and the number beside it."""

    token: str
    data: bytes | None
    logprob: float


class NumberedTokens(Exception):
    """The endpoint names tokens by number only."""


def from_top(choice: dict[str, Any], rendered: Rendered, *, in_place: bool) -> Answer:
    """Log-probabilities of the options that are among the tokens given.

    Parameters
    ----------
    in_place
        Whether the letter follows the prompt: then its forms are those of the prompt. Behind a chat template
        the letter has no place in it, so all tokens that print it are summed, whatever blanks they carry; as
        they are where a server shows no token with its blank.

    Returns
    -------
    An option not among the tokens stays unknown: it is less probable than all of them, no more. Positive
    numbers, which are no log-probabilities, make the answer not observed; so does a token that may be one
    option or begin another ("1" and "10") of which no token shows that the vocabulary has it whole.

    Raises
    ------
    NumberedTokens
    """
    entries = _first_tokens(choice)
    if not entries:
        return Answer(reason=NO_LOGPROBS)
    printed = _printed(entries)
    if any(lp > _ROUNDING for _, lp in printed):
        return Answer(reason=NOT_FINITE)
    if _THINKS.match(max(printed, key=lambda pair: -math.inf if math.isnan(pair[1]) else pair[1])[0]):
        return Answer(reason=THINKS_FIRST)
    wanted = [set(forms) for forms in rendered.options]
    blanks = any(token[:1].isspace() and token.strip() for token, _ in printed)
    exact = in_place and (blanks or not any(form[:1].isspace() for forms in wanted for form in forms))
    if not exact:
        wanted = [{form.strip() for form in forms} for forms in wanted]
    found = []
    for forms in wanted:
        mine = [
            min(lp, 0.0) if lp > _NONE or math.isnan(lp) else -math.inf
            for token, lp in printed
            if (token if exact else token.strip()) in forms
        ]
        if any(map(math.isnan, mine)):
            return Answer(reason=NOT_FINITE)
        found.append(log_sum([lp for lp in mine if math.isfinite(lp)]))
    if _may_go_on(wanted, found):
        return Answer(reason=BEGINS_ANOTHER)
    return Answer(found, None, NOT_IN_TOP if any(map(math.isnan, found)) else "", 1)


def _may_go_on(wanted: Sequence[set[str]], found: Sequence[float]) -> bool:
    """Whether an option that was found begins one that was not."""
    seen = [form for forms, lp in zip(wanted, found, strict=True) if not math.isnan(lp) for form in forms]
    unseen = [form for forms, lp in zip(wanted, found, strict=True) if math.isnan(lp) for form in forms]
    return any(long.startswith(short) for long in unseen for short in seen)


def log_sum(values: Sequence[float]) -> float:
    """Logarithm of the sum of probabilities; NaN for none."""
    if not values:
        return math.nan
    top = max(values)
    return top + math.log(math.fsum(math.exp(v - top) for v in values)) if math.isfinite(top) else math.nan


def _first_tokens(choice: dict[str, Any]) -> list[Entry]:
    """The entries of the first position, each token once, in whichever shape they come."""
    logprobs = choice.get("logprobs")
    if isinstance(logprobs, list):
        logprobs = {"content": logprobs}
    if not isinstance(logprobs, dict):
        return []
    content = logprobs.get("content")
    if isinstance(content, list) and content and isinstance(content[0], dict):
        first = content[0]
        listed = _entries(first.get("top_logprobs"))
        chosen = _entries([first])
    else:
        listed = _entries(_at(logprobs.get("top_logprobs"), 0))
        token, number = _at(logprobs.get("tokens"), 0), _at(logprobs.get("token_logprobs"), 0)
        chosen = _entries([{"token": token, "logprob": number}])
    unique = list(dict.fromkeys(listed))
    known = {entry.token for entry in unique}
    return unique + [entry for entry in chosen if entry.token not in known]


def _entries(listed: Any) -> list[Entry]:
    if isinstance(listed, dict):
        pairs = listed.pairs if isinstance(listed, Repeated) else listed.items()
        listed = [v if isinstance(v, dict) else {"token": k, "logprob": v} for k, v in pairs]
    found = []
    for entry in listed if isinstance(listed, list) else []:
        token = (
            entry.get("token", entry.get("text", entry.get("decoded_token")))
            if isinstance(entry, dict)
            else None
        )
        if isinstance(token, str):
            found.append(Entry(token, _bytes(entry.get("bytes")), _number(entry.get("logprob"))))
    return found


def _printed(entries: Sequence[Entry]) -> list[tuple[str, float]]:
    """The tokens as they print.

    Raises
    ------
    NumberedTokens
    """
    tokens = []
    for token, data, _ in entries:
        if NUMBERED.match(token):
            if data is None:
                raise NumberedTokens(token)
            token = data.decode("utf-8", "replace")
        tokens.append(token)
    if any(t[:1] in "ĠĊ" and t for t in tokens):
        tokens = [_from_byte_letters(t) for t in tokens]
    elif any(t.startswith("▁") for t in tokens):
        tokens = [t.replace("▁", " ") for t in tokens]
    tokens = [bytes([int(m[1], 16)]).decode("latin-1") if (m := _BYTE.fullmatch(t)) else t for t in tokens]
    return [(token, entry.logprob) for token, entry in zip(tokens, entries, strict=True)]


def _from_byte_letters(token: str) -> str:
    """A token of a byte-level vocabulary, whose letters stand for bytes; others are left as they are."""
    table = _byte_letters()
    if not all(c in table for c in token):
        return token
    return bytes(table[c] for c in token).decode("utf-8", "replace")


@lru_cache(maxsize=1)
def _byte_letters() -> dict[str, int]:
    """GPT-2's alphabet: printable bytes are themselves, the others the letters from U+0100 on."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [b for b in range(256) if b not in plain]
    return {chr(b): b for b in plain} | {chr(256 + k): b for k, b in enumerate(others)}


def _number(value: Any) -> float:
    """A number, or NaN; some servers write infinities as text."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return math.nan
    try:
        return float(value)
    except (ValueError, OverflowError):
        return math.nan


def _bytes(value: Any) -> bytes | None:
    try:
        return bytes(value) if isinstance(value, list) and value else None
    except (ValueError, TypeError):
        return None


def _at(value: Any, place: int) -> Any:
    return value[place] if isinstance(value, list) and len(value) > place else None
