"""Models behind an OpenAI-compatible endpoint: asked many at a time, patiently, and never guessed for."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import openai

from maskedadv.errors import BadSetting
from scoring.api_settings import ApiSettings
from scoring.extract import extract
from scoring.items import Item
from scoring.plan import Piece
from scoring.progress import Progress
from scoring.prompts import Rendered
from scoring.store import Answer

# Why an answer is missing.
REFUSED = "refused"
NOT_STATED = "no_answer_stated"
CUT_OFF = "answer_cut_off"
NO_LOGPROBS = "no_logprobs_given"
NOT_IN_TOP = "option_not_in_top"
FAILED = "api_"  # and the HTTP status, or timeout, connection, bad_response
_LONGEST_WAIT = 60.0


def identify(settings: ApiSettings) -> dict[str, Any]:
    """The model's part of the fingerprint; an endpoint does not say which revision it runs."""
    return settings.identity()


def parameters(_: ApiSettings) -> int:
    """Endpoints do not tell the size of a model."""
    return 0


def start(
    settings: ApiSettings, pieces: Sequence[Piece], report: Callable[[str], None]
) -> tuple[Callable[[Piece], None], Callable[[Piece, None], list[Answer]]]:
    """Connect; give the functions that prepare a piece (nothing to do) and that ask it."""
    client = connect(settings)
    progress = Progress(settings.name, "tokens", sum(len(p.items) for p in pieces), report)
    spent = [0, 0]

    def ask(piece: Piece, _: None) -> list[Answer]:
        def one(pair: tuple[Item, Rendered]) -> Answer:
            answer, tokens = ask_one(client, settings, *pair)
            spent[0] += tokens[0]
            spent[1] += tokens[1]
            note = f"{piece.language}  {money(settings, *spent)}"
            progress.of(note).add(1, sum(tokens))
            return answer

        with ThreadPoolExecutor(settings.concurrency) as pool:
            return list(pool.map(one, zip(piece.items, piece.rendered, strict=True)))

    return (lambda _: None), ask


def connect(settings: ApiSettings) -> openai.OpenAI:
    """A client that leaves trying again to `ask_one`; local servers need no key.

    Raises
    ------
    BadSetting
    """
    if settings.answers not in {"text", "logprobs"} or settings.endpoint not in {"chat", "completions"}:
        raise BadSetting("--answers is text or logprobs, --endpoint chat or completions.")
    key = os.environ.get(settings.key_variable) or "none"
    return openai.OpenAI(base_url=settings.url, api_key=key, timeout=settings.timeout, max_retries=0)


def ask_one(
    client: openai.OpenAI, settings: ApiSettings, item: Item, rendered: Rendered
) -> tuple[Answer, tuple[int, int]]:
    """Ask one question; the answer, and the tokens read and written.

    Raises
    ------
    openai.APIStatusError
        A status that no further try can mend and that concerns every question, such as a wrong key.
    """
    reason = ""
    for attempt in range(settings.retries + 1):
        wait = settings.backoff * 2**attempt
        try:
            response = _request(client, settings, rendered.prompt)
            return _read(response, settings, item, rendered), _usage(response)
        except openai.APITimeoutError:
            reason = FAILED + "timeout"
        except openai.APIConnectionError:
            reason = FAILED + "connection"
        except openai.APIStatusError as error:
            reason = FAILED + str(error.status_code)
            if _about_this_question(error):
                return Answer(reason=REFUSED), (0, 0)
            if error.status_code not in {408, 409, 425, 429} and error.status_code < 500:
                raise
            wait = max(wait, _asked_to_wait(error))
        except (openai.APIError, ValueError, TypeError, AttributeError, KeyError, IndexError):
            reason = FAILED + "bad_response"
        if attempt < settings.retries:
            time.sleep(min(wait, _LONGEST_WAIT))
    return Answer(reason=reason), (0, 0)


def estimate(settings: ApiSettings, pieces: Sequence[Piece]) -> tuple[int, int]:
    """Tokens that will be read, by the rule of thumb of four bytes a token, and at most be written."""
    read = sum(math.ceil(len(r.prompt.encode()) / 4) + 8 for p in pieces for r in p.rendered)
    longest = settings.max_answer_tokens if settings.answers == "text" else 1
    return read, longest * sum(len(p.items) for p in pieces)


def money(settings: ApiSettings, read: int, written: int) -> str:
    """What tokens cost, or how many they are where no prices are given."""
    if not (settings.price_in or settings.price_out):
        return f"{read:,} tokens read, {written:,} written"
    return f"cost {(read * settings.price_in + written * settings.price_out) / 1e6:,.2f}"


def _request(client: openai.OpenAI, settings: ApiSettings, prompt: str) -> Any:
    logprobs = settings.answers == "logprobs"
    common: dict[str, Any] = {
        "model": settings.name,
        "temperature": 0,
        "max_tokens": 1 if logprobs else settings.max_answer_tokens,
    }
    if settings.endpoint == "completions":
        complete: Any = client.completions.create
        return complete(prompt=prompt, **common, **({"logprobs": settings.top} if logprobs else {}))
    extra = {"logprobs": True, "top_logprobs": settings.top} if logprobs else {}
    chat: Any = client.chat.completions.create
    return chat(messages=[{"role": "user", "content": prompt}], **common, **extra)


def _read(response: Any, settings: ApiSettings, item: Item, rendered: Rendered) -> Answer:
    choice = response.choices[0]
    chat = settings.endpoint == "chat"
    if chat and getattr(choice.message, "refusal", None):
        return Answer(reason=REFUSED, said=str(choice.message.refusal))
    if choice.finish_reason == "content_filter":
        return Answer(reason=REFUSED)
    if settings.answers == "logprobs":
        return _from_top(_top(choice, chat), rendered, exact=not chat)
    said = choice.message.content if chat else choice.text
    if said is None:
        said = ""
    if not isinstance(said, str):
        raise TypeError("the answer is no text")
    chosen = extract(said, len(item.options), item.language)
    if chosen is None:
        return Answer(reason=CUT_OFF if choice.finish_reason == "length" else NOT_STATED, said=said)
    return Answer(chosen=chosen, said=said)


def _top(choice: Any, chat: bool) -> dict[str, float]:
    """The most probable first tokens."""
    if choice.logprobs is None:
        return {}
    if not chat:
        return dict(choice.logprobs.top_logprobs[0])
    found: dict[str, float] = {}
    for entry in choice.logprobs.content[0].top_logprobs:
        found[entry.token] = max(entry.logprob, found.get(entry.token, -math.inf))
    return found


def _from_top(top: dict[str, float], rendered: Rendered, *, exact: bool) -> Answer:
    """Log-probabilities of the options that are among the tokens given.

    Behind a chat template the letter has no place in the prompt, so its forms are summed, whatever blanks
    they carry. An option not among the tokens stays unknown: it is less probable than all of them, no more.
    """
    if not top:
        return Answer(reason=NO_LOGPROBS)
    found = []
    for forms in rendered.options:
        wanted = set(forms) if exact else {forms[-1].strip()}
        found.append(
            _log_sum([lp for token, lp in top.items() if (token if exact else token.strip()) in wanted])
        )
    missing = any(map(math.isnan, found))
    return Answer(found, None, NOT_IN_TOP if missing else "", 1)


def _log_sum(values: Sequence[float]) -> float:
    if not values:
        return math.nan
    top = max(values)
    return top + math.log(sum(math.exp(v - top) for v in values)) if math.isfinite(top) else math.nan


def _usage(response: Any) -> tuple[int, int]:
    usage = response.usage
    return (usage.prompt_tokens or 0, usage.completion_tokens or 0) if usage is not None else (0, 0)


def _about_this_question(error: openai.APIStatusError) -> bool:
    """A 4xx that refuses the question's content rather than the request."""
    text = f"{error.code} {error.body}".lower()
    return error.status_code in {400, 403, 422} and ("content_filter" in text or "content_policy" in text)


def _asked_to_wait(error: openai.APIStatusError) -> float:
    try:
        return float(error.response.headers.get("retry-after", 0))
    except ValueError:
        return 0.0
