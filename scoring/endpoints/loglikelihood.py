"""Whole log-probabilities of the options from a server, exactly as a local model gives them.

Prompt and option go as token ids, so that the server reads what `maskedadv.scoring.models.encode` cut; it
gives the log-probabilities of the prompt's own tokens back: as `prompt_logprobs` (vLLM), or by `echo`
(SGLang, llama.cpp and other servers with the older interface).
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from maskedadv.errors import EndpointFailed
from maskedadv.scoring.endpoints.patience import patiently
from maskedadv.scoring.endpoints.replies import Reply, read_reply
from maskedadv.scoring.endpoints.settings import ApiSettings
from maskedadv.scoring.endpoints.talk import Talk, paid_post
from maskedadv.scoring.endpoints.tokens import NOT_FINITE, log_sum
from maskedadv.scoring.endpoints.trouble import BAD_RESPONSE, Trouble
from maskedadv.scoring.launch.store import Answer
from maskedadv.scoring.models.encode import Codec, Encoded

PROMPT_LOGPROBS = "prompt_logprobs"
ECHO = "echo"  # instead of it
ONE_BY_ONE = "one prompt a request"
_NONE = -9000.0  # vLLM writes −9999 for minus infinity
_ROUNDING = 1e-4


def make_codec(talk: Talk) -> Codec:
    """The model's tokenizer: the one named in the settings, or the server's.

    Raises
    ------
    UnusableModel, PackageMissing
        The tokenizer named cannot be loaded.
    EndpointFailed
        The server has no `/tokenize`.
    """
    settings = talk.settings
    if settings.tokenizer is not None:
        return _local(settings.tokenizer)

    def encode_one(text: str) -> list[int]:
        return _tokenize(talk, text, special=False)

    def many(one: Any, values: Sequence[Any]) -> list[Any]:
        with ThreadPoolExecutor(settings.concurrency) as pool:
            return list(pool.map(one, values))

    plain, marked = encode_one("a"), _tokenize(talk, "a", special=True)
    places = [k for k in range(len(marked)) if marked[k : k + len(plain)] == plain]
    added = marked[: places[0]] if places else []
    start = tuple(t for k, t in enumerate(added) if k == 0 or t != added[k - 1])
    return Codec(
        lambda texts: many(encode_one, texts),
        lambda ids: many(lambda row: _detokenize(talk, row), ids),
        start,
        "",
    )


def describe_tokenizer(settings: ApiSettings) -> str | None:
    """What of the tokenizer decides the answers: the content of one named, None for the server's own."""
    return None if settings.tokenizer is None else _local(settings.tokenizer).fingerprint


def score_options(talk: Talk, encoded: Encoded) -> Answer:
    """Ask for the log-probabilities of a question's options.

    Raises
    ------
    Trouble
    EndpointFailed
        The server gives no log-probabilities of prompts, or does not read the tokens as they are.
    """
    if encoded.reason:
        return Answer(reason=encoded.reason)
    tails = [tail for forms in encoded.tails for tail in forms]
    while True:
        used = frozenset(talk.changes)
        try:
            values = _values(talk, encoded.prefix, tails, used)
            break
        except Trouble as trouble:
            other = ONE_BY_ONE if ONE_BY_ONE not in used else ECHO
            # Once answers came, what is refused is the question; unless another one found the words since.
            if (
                trouble.status not in {400, 422}
                or other in used
                or (talk.answered and other not in talk.changes)
            ):
                raise
            talk.changes.add(other)
    length = max(map(len, tails))
    if not all(-math.inf < v <= _ROUNDING for v in values):
        return Answer([math.nan] * len(encoded.tails), None, NOT_FINITE, length, None, _method(used))
    forms = iter(values)
    options = [log_sum([next(forms) for _ in group]) for group in encoded.tails]
    return Answer(options, None, "", length, None, _method(frozenset(talk.changes)))


def _values(
    talk: Talk, prefix: Sequence[int], tails: Sequence[Sequence[int]], used: Collection[str]
) -> list[float]:
    """The log-probability of each tail."""
    prompts = [[*prefix, *tail] for tail in tails]
    groups = [[p] for p in prompts] if ONE_BY_ONE in used else [prompts]
    found: list[float] = []
    for group in groups:
        for ids, choice in zip(group, _ask(talk, group, used), strict=True):
            tokens = _of_tokens(choice, ids, len(prefix))
            if tokens is None and ECHO not in used:
                talk.changes.add(ECHO)
                return _values(talk, prefix, tails, frozenset(talk.changes))
            if tokens is None:
                raise EndpointFailed(
                    "the endpoint gives no log-probabilities of the prompt's tokens (prompt_logprobs, or "
                    "echo with logprobs); take another --answers, or a server that has them, such as vLLM"
                )
            found.append(math.fsum(tokens))
    return found


def _ask(talk: Talk, prompts: Sequence[Sequence[int]], used: Collection[str]) -> list[dict[str, Any]]:
    """One request; the choices in the order of the prompts."""
    body: dict[str, Any] = {
        "model": talk.settings.name,
        "prompt": list(prompts) if len(prompts) > 1 else prompts[0],
        "max_tokens": 1,
        "temperature": 0,
        **({ECHO: True, "logprobs": 1} if ECHO in used else {PROMPT_LOGPROBS: 0}),
    }
    total = sum(map(len, prompts))
    reply: Reply = paid_post(talk, "completions", body, (total, len(prompts)), read_reply)
    if reply.read is not None and reply.read != total:
        raise EndpointFailed(
            f"the endpoint read {reply.read} tokens where {total} were sent: it does not take token ids as "
            "they are"
        )
    by_place = {choice.get("index", k): choice for k, choice in enumerate(reply.choices)}
    if sorted(by_place) != list(range(len(prompts))):
        raise Trouble(BAD_RESPONSE, f"{len(reply.choices)} choices for {len(prompts)} prompts", paid=True)
    return [by_place[k] for k in range(len(prompts))]


def _of_tokens(choice: dict[str, Any], ids: Sequence[int], begin: int) -> list[float] | None:
    """Log-probabilities of the tokens from `begin` on; None where the choice does not hold the prompt's."""
    rows = choice.get(PROMPT_LOGPROBS)
    if isinstance(rows, list) and len(rows) == len(ids):
        return [_number(_entry(rows[k], ids[k])) for k in range(begin, len(ids))]
    logprobs = choice.get("logprobs")
    listed = logprobs.get("token_logprobs") if isinstance(logprobs, dict) else None
    if isinstance(listed, list) and len(listed) in {len(ids), len(ids) + 1} and listed[0] is None:
        return [_number(value) for value in listed[begin : len(ids)]]
    return None


def _entry(row: Any, token: int) -> Any:
    entry = row.get(str(token)) if isinstance(row, dict) else None
    return entry.get("logprob") if isinstance(entry, dict) else entry


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return math.nan
    return float(value) if value > _NONE else -math.inf


def _method(used: Collection[str]) -> str:
    return ECHO if ECHO in used else PROMPT_LOGPROBS


def _tokenize(talk: Talk, text: str, *, special: bool) -> list[int]:
    body = {
        "model": talk.settings.name,
        "prompt": text,
        "content": text,  # llama.cpp's words for the same
        "add_special_tokens": special,
        "add_special": special,
        "parse_special": False,
    }
    found = _extra(talk, "/tokenize", body).get("tokens")
    if isinstance(found, list) and all(isinstance(t, int) for t in found):
        return found
    raise EndpointFailed("the endpoint's /tokenize gives no token ids; name the tokenizer with --tokenizer")


def _detokenize(talk: Talk, ids: Sequence[int]) -> str:
    found = _extra(talk, "/detokenize", {"model": talk.settings.name, "tokens": list(ids)})
    text = found.get("prompt", found.get("content", found.get("text")))
    if isinstance(text, str):
        return text
    raise EndpointFailed("the endpoint's /detokenize gives no text; name the tokenizer with --tokenizer")


def _extra(talk: Talk, path: str, body: dict[str, Any]) -> dict[str, Any]:
    """A request beside the questions, that costs nothing."""

    def one() -> Any:
        try:
            return json.loads(talk.post(path, body))
        except (ValueError, RecursionError):
            raise Trouble(BAD_RESPONSE, f"{path} gives no JSON") from None

    try:
        found = patiently(talk, one, counts=False)
    except Trouble as trouble:
        raise EndpointFailed(
            f"the endpoint has no {path} that answers ({trouble}); name the tokenizer with --tokenizer"
        ) from None
    return found if isinstance(found, dict) else {}


def _local(path: str) -> Codec:
    from maskedadv.scoring.models.settings import HfSettings
    from maskedadv.scoring.models.unit import load_codec, load_config

    settings = HfSettings(path, device="cpu")
    return load_codec(settings, load_config(settings).model_type)
