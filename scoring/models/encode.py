"""From text to tokens: where the prompt ends is a matter of tokens, not of letters.

Prompt and option are encoded whole, for every option; what all of these encodings share is the prompt, the
rest of each is the option's tail. So a tokenizer may merge the colon with the letter, and an option never
loses the form it has in its place.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from maskedadv.scoring.prompts.prompts import Rendered

# Why an item cannot be scored with a tokenizer.
LOSSY = "tokenizer loses text"
ALIKE = "options encode alike"
NO_PREFIX = "no token before the options"
BEGINS_ANOTHER = "an option begins another"
_CHUNK = 256
_END = 160  # characters at the end of a prompt, where an option may change tokens
_SETTLED = 3  # tokens that must be alike before the first that an option changes


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
    """Encode questions, many texts at a time.

    Where the tokens of one option begin those of another ("1" and "10"), the end of the line is read after
    all of them: so complete options are compared, not the beginning of one with the whole of the other.
    """
    out = []
    for begin in range(0, len(rendered), _CHUNK):
        chunk = rendered[begin : begin + _CHUNK]
        found = _encode_chunk(chunk, codec)
        if open_ := [k for k, e in enumerate(found) if not e.reason and _begins_another(e)]:
            closed = [Rendered(chunk[k].prompt, _closed(chunk[k].options)) for k in open_]
            for k, e in zip(open_, _encode_chunk(closed, codec), strict=True):
                found[k] = replace(e, reason=e.reason or (BEGINS_ANOTHER if _begins_another(e) else ""))
        out += found
    return out


def _encode_chunk(chunk: Sequence[Rendered], codec: Codec) -> list[Encoded]:
    """Encode a prompt whole with its first option; with the others only its end, where tokens may merge."""
    forms = [[form for option in r.options for form in option] for r in chunk]
    whole = codec.encode([r.prompt + own[0] for r, own in zip(chunk, forms, strict=True)])
    ends = [_end(r.prompt) for r in chunk]
    near_texts = [end + form for end, own in zip(ends, forms, strict=True) for form in own]
    near = codec.encode(near_texts)
    texts = [*(r.prompt + own[0] for r, own in zip(chunk, forms, strict=True)), *near_texts]
    faithful = list(map(_same, codec.decode([*whole, *near]), texts))
    out: list[Encoded | None] = []
    place = 0
    for n, (r, own) in enumerate(zip(chunk, forms, strict=True)):
        ids = _joined(whole[n], near[place : place + len(own)])
        good = faithful[n] and all(faithful[len(chunk) + place + k] for k in range(len(own)))
        sizes = [len(option) for option in r.options]
        # The first of a chunk is looked at wholly in any case: a tokenizer may be like no other.
        sure = ids is not None and good and n > 0
        out.append(_split(ids, sizes, codec.start) if sure and ids is not None else None)
        place += len(own)
    unsure = [n for n, e in enumerate(out) if e is None]
    texts = [chunk[n].prompt + form for n in unsure for form in forms[n]]
    encoded = codec.encode(texts)
    taken = zip(encoded, map(_same, codec.decode(encoded), texts), strict=True)
    for n in unsure:
        ids_, good_ = zip(*(next(taken) for _ in forms[n]), strict=True)
        sizes = [len(option) for option in chunk[n].options]
        out[n] = _split(ids_, sizes, codec.start) if all(good_) else Encoded((), (), LOSSY)
    return [e for e in out if e is not None]


def _end(prompt: str) -> str:
    """The last lines of a prompt: enough for a tokenizer to come to the same tokens as after the whole."""
    lines = prompt.split("\n")
    return "\n".join(lines[-2:])[-_END:]


def _joined(whole: list[int], near: Sequence[list[int]]) -> list[list[int]] | None:
    """Encodings of all options, from that of the whole text with the first one and those of the ends.

    None where they cannot be relied on: the end of the whole text must come out of its last lines alone, from
    some token on, and the options must change nothing before `_SETTLED` tokens after that.
    """
    first = near[0]
    same = _shared(whole[::-1], first[::-1])  # tokens at the end that both have
    kept = len(first) - same  # tokens of the end's encoding that are not the whole's
    if any(_shared(first, one) < kept + _SETTLED for one in near[1:]):
        return None
    return [whole[: len(whole) - same] + one[kept:] for one in near]


def _shared(a: Sequence[int], b: Sequence[int]) -> int:
    """How many numbers two lists begin with alike."""
    return next((k for k, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def _begins_another(encoded: Encoded) -> bool:
    tails = sorted(tail for forms in encoded.tails for tail in forms)
    return any(b[: len(a)] == a for a, b in pairwise(tails))


def _closed(options: Sequence[Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(f"{form}\n" for form in forms) for forms in options)


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
