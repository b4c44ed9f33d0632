"""From text to tokens: where the prompt ends is a matter of tokens, not of letters.

Prompt and option are encoded whole, for every option; what all of these encodings share is the prompt, the
rest of each is the option's tail. So a tokenizer may merge the colon with the letter, and an option never
loses the form it has in its place.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from maskedadv.scoring.prompts.prompts import Rendered

# Why an item cannot be scored with a tokenizer.
LOSSY = "tokenizer loses text"
ALIKE = "options encode alike"
NO_PREFIX = "no token before the options"
_CHUNK = 256


@dataclass(frozen=True)
class Codec:
    """A tokenizer: text to ids without special tokens, ids back to text, and the tokens that begin a text."""

    encode: Callable[[Sequence[str]], list[list[int]]]
    decode: Callable[[Sequence[Sequence[int]]], list[str]]
    start: tuple[int, ...]
    fingerprint: str


@dataclass(frozen=True)
class Encoded:
    """One question as tokens.

    Attributes
    ----------
    prefix
        What all options share, with the tokens that begin a text.
    tails
        Per option, per form of its letter, the tokens that follow; never empty.
    reason
        Why the item cannot be scored; '' where it can.
    """

    prefix: tuple[int, ...]
    tails: tuple[tuple[tuple[int, ...], ...], ...]
    reason: str = ""

    def n_tail_tokens(self) -> int:
        """Tokens of the longest tail."""
        return max((len(tail) for forms in self.tails for tail in forms), default=0)

    def n_input_tokens(self) -> int:
        """Tokens a model has to read for the longest option: all but the last."""
        return len(self.prefix) + max(self.n_tail_tokens() - 1, 0)


def encode(rendered: Sequence[Rendered], codec: Codec) -> list[Encoded]:
    """Encode questions, many texts at a time."""
    out = []
    for begin in range(0, len(rendered), _CHUNK):
        chunk = rendered[begin : begin + _CHUNK]
        texts = [r.prompt + form for r in chunk for forms in r.options for form in forms]
        whole = codec.encode(texts)
        faithful = map(_same, codec.decode(whole), texts)
        taken = zip(whole, faithful, strict=True)
        for r in chunk:
            forms = [len(f) for f in r.options]
            ids, good = zip(*(next(taken) for _ in range(sum(forms))), strict=True)
            out.append(_split(ids, forms, codec.start) if all(good) else Encoded((), (), LOSSY))
    return out


def codec_of(tokenizer: Any, model_type: str = "", *, adds_begin: bool = False) -> Codec:
    """A Hugging Face tokenizer, fast or slow, as a codec.

    Special tokens written in a question ("<s>") are text like any other. A text begins with what the
    tokenizer itself adds, a repeated begin token once only; where it adds none, the begin token is added if
    the tokenizer says `add_bos_token` (`adds_begin`: its configuration file does, which the library may not
    heed) or the model is a Gemma, which cannot do without.
    """
    options: dict[str, Any] = {"split_special_tokens": True}
    try:
        tokenizer(["a"], add_special_tokens=False, **options)
    except (ValueError, TypeError, NotImplementedError):
        options = {}

    def encode_texts(texts: Sequence[str]) -> list[list[int]]:
        ids = tokenizer(list(texts), add_special_tokens=False, return_attention_mask=False, **options)
        return [list(map(int, row)) for row in ids["input_ids"]]

    fast = getattr(tokenizer, "backend_tokenizer", None)

    def decode_ids(ids: Sequence[Sequence[int]]) -> list[str]:
        if fast is not None:
            return list(fast.decode_batch([list(row) for row in ids], skip_special_tokens=False))
        return [tokenizer.decode(list(row), clean_up_tokenization_spaces=False) for row in ids]

    if fast is not None:
        described = fast.to_str()
    else:
        described = repr((type(tokenizer).__name__, sorted(tokenizer.get_vocab().items())))
    wanted = adds_begin or bool(getattr(tokenizer, "add_bos_token", False))
    start = _start(tokenizer, encode_texts, wanted=wanted or model_type.startswith("gemma"))
    fingerprint = hashlib.sha256(f"{described}{start}".encode()).hexdigest()
    return Codec(encode_texts, decode_ids, start, fingerprint)


def _start(
    tokenizer: Any, encode_texts: Callable[[Sequence[str]], list[list[int]]], *, wanted: bool
) -> tuple[int, ...]:
    """The special tokens before a text, each once in a row; those after it (end of text) are left out."""
    plain = encode_texts(["a"])[0]
    marked = list(map(int, tokenizer(["a"], add_special_tokens=True)["input_ids"][0]))
    places = [k for k in range(len(marked)) if marked[k : k + len(plain)] == plain]
    added = marked[: places[0]] if places else []
    start = [t for k, t in enumerate(added) if k == 0 or t != added[k - 1]]
    begin = tokenizer.bos_token_id
    if begin is not None and wanted and begin not in start and begin not in plain[:1]:
        start = [begin, *start]
    return tuple(start)


def _split(ids: Sequence[list[int]], forms: Sequence[int], start: tuple[int, ...]) -> Encoded:
    """Cut the encodings where they part; none may end before that."""
    low, high = min(ids), max(ids)  # in the order of lists, what these two share, all share
    shared = min(map(len, ids)) - 1
    while low[:shared] != high[:shared]:
        shared -= 1
    prefix = (*start, *ids[0][:shared])
    tails = iter(tuple(row[shared:]) for row in ids)
    grouped = tuple(tuple(next(tails) for _ in range(count)) for count in forms)
    if not prefix:
        return Encoded((), grouped, NO_PREFIX)
    by_option = [set(group) for group in grouped]
    alike = len(set().union(*by_option)) < sum(map(len, by_option))
    return Encoded(prefix, grouped, ALIKE if alike else "")


def _same(decoded: str, text: str) -> bool:
    """Whether nothing was lost; a tokenizer may put characters into an equivalent normal form."""
    return decoded == text or (unicodedata.normalize("NFKC", decoded) == unicodedata.normalize("NFKC", text))
