"""Models behind an OpenAI-compatible endpoint: asked many at a time, patiently, and never guessed for."""

from __future__ import annotations

import math
import queue
import threading
from collections.abc import Callable, Sequence
from typing import Any

import openai

from maskedadv.scoring.endpoints.request import (
    REFUSED,
    Talk,
    asked_to_wait,
    concerns_one_question,
    connect,
    may_pass,
    rejects_request,
    request,
)
from maskedadv.scoring.endpoints.settings import ApiSettings
from maskedadv.scoring.items.items import Item
from maskedadv.scoring.launch.plan import Piece
from maskedadv.scoring.launch.progress import Progress
from maskedadv.scoring.launch.store import Answer
from maskedadv.scoring.prompts.prompts import Rendered
from maskedadv.scoring.reading.read import read_answer

# Why an answer is missing; `maskedadv.scoring.endpoints.request` has the reasons that an endpoint gives.
NOT_STATED = "no_answer_stated"
CUT_OFF = "answer_cut_off"
NO_LOGPROBS = "no_logprobs_given"
NOT_IN_TOP = "option_not_in_top"
FAILED = "api_"  # and the HTTP status, or timeout, connection, bad_response
_LONGEST_WAIT = 60.0
_SURE = 10  # requests refused, and none answered: it is not the questions


def identify(settings: ApiSettings) -> dict[str, Any]:
    """The model's part of the fingerprint; an endpoint does not say which revision it runs."""
    return settings.identity()


def parameters(_: ApiSettings) -> int:
    """Endpoints do not tell the size of a model."""
    return 0


def start(
    name: str, settings: ApiSettings, pieces: Sequence[Piece], report: Callable[[str], None]
) -> tuple[Callable[[Piece], None], Callable[[Piece, None], list[Answer]]]:
    """Connect to the model, called `name` to the user.

    Gives the functions that prepare a piece (nothing to do) and that ask it.
    """
    talk = connect(settings)
    progress = Progress(name, "tokens", sum(len(p.items) for p in pieces), report)
    spent = [0, 0]
    lock = threading.Lock()

    def ask(piece: Piece, _: None) -> list[Answer]:
        def one(pair: tuple[Item, Rendered]) -> Answer:
            known = set(talk.changes)
            answer, tokens = ask_one(talk, *pair)
            with lock:
                if news := sorted(talk.changes - known):
                    report(f"{name} does not take every setting; asked with {', '.join(news)}.")
                spent[0] += tokens[0]
                spent[1] += tokens[1]
                note = f"{piece.language}  {money(settings, *spent)}"
                progress.of(note).add(1, sum(tokens))
            return answer

        pairs = [*zip(piece.items, piece.rendered, strict=True)]
        answers = _at_a_time(settings.concurrency, one, pairs, talk)
        if talk.rejection is not None and not talk.answered:
            raise talk.rejection
        return answers

    return (lambda _: None), ask


def ask_one(talk: Talk, item: Item, rendered: Rendered) -> tuple[Answer, tuple[int, int]]:
    """Ask one question; the answer, and the tokens read and written.

    Raises
    ------
    openai.APIStatusError
        A status that no further try can mend and that concerns every question, such as a wrong key.
    """
    settings = talk.settings
    reason = ""
    for attempt in range(settings.retries + 1):
        wait = settings.backoff * 2**attempt
        try:
            response, changes = request(talk, rendered.prompt)
            answer = _read(response, settings, item, rendered)._replace(asked_with=changes)
            talk.answered += 1
            return answer, _usage(response)
        except openai.APITimeoutError:
            reason = FAILED + "timeout"
        except openai.APIConnectionError:
            reason = FAILED + "connection"
        except openai.APIStatusError as error:
            if concerned := concerns_one_question(error):
                talk.answered += 1
                return Answer(reason=concerned), (0, 0)
            reason = FAILED + str(error.status_code)
            if rejects_request(error):
                talk.rejected, talk.rejection = talk.rejected + 1, error
                if talk.answered or talk.rejected < _SURE:
                    return Answer(reason=reason), (0, 0)
            if not may_pass(error):
                raise
            wait = max(wait, asked_to_wait(error))
        except (openai.APIError, ValueError, TypeError, AttributeError, KeyError, IndexError):
            reason = FAILED + "bad_response"
        if attempt < settings.retries and talk.stop.wait(min(wait, _LONGEST_WAIT)):
            break
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


def _at_a_time(
    count: int, one: Callable[[Any], Answer], questions: Sequence[Any], talk: Talk
) -> list[Answer]:
    """All answers in order, `count` asked at a time; the first error, or an interrupt, ends it at once.

    The threads are daemons: who interrupts a run must not wait for a server that is slow.

    Raises
    ------
    openai.APIStatusError
        What was raised for a question.
    """
    found: list[Answer | None] = [None] * len(questions)
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    done: queue.SimpleQueue[BaseException | None] = queue.SimpleQueue()
    for k in range(len(questions)):
        waiting.put(k)
    talk.stop.clear()

    def work() -> None:
        try:
            while not talk.stop.is_set():
                k = waiting.get_nowait()
                found[k] = one(questions[k])
        except queue.Empty:
            done.put(None)
        except BaseException as error:
            done.put(error)

    threads = min(max(count, 1), len(questions))
    for _ in range(threads):
        threading.Thread(target=work, daemon=True).start()
    try:
        for _ in range(threads):
            if (error := done.get()) is not None:
                raise error
    finally:
        talk.stop.set()
    return [answer for answer in found if answer is not None]


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
    reading = read_answer(
        said,
        len(item.options),
        item.language,
        letters=[forms[-1].strip() for forms in rendered.options],
        option_texts=item.options,
        cue=rendered.prompt.rsplit("\n", 1)[-1],
        finish_reason=choice.finish_reason,
    )
    if reading.option is None:
        return Answer(reason=CUT_OFF if choice.finish_reason == "length" else NOT_STATED, said=said)
    return Answer(chosen=reading.option, said=said)


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
