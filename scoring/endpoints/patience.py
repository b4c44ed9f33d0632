"""How long an endpoint is tried: again where that may help, no more where it is in vain."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from maskedadv.errors import EndpointFailed
from maskedadv.scoring.endpoints.secrets import hide
from maskedadv.scoring.endpoints.talk import Talk
from maskedadv.scoring.endpoints.trouble import Trouble, concerns_one_question, may_pass, rejects_request

_SHOWN = 5  # different things that an endpoint says are shown
_TRIES = 10  # tries without an answer, and none ever: nobody is there
_FEW = 3  # ... to so many questions
_LOST = 30  # questions in a row without an answer, after others had one
_LONGEST_WAIT = 60.0  # seconds between tries, where the endpoint asks for no other time
_LONGEST_PAUSE = 900.0


def wait_for_turn(talk: Talk) -> bool:
    """Wait as long as the endpoint asked for; whether the talk goes on."""
    while (left := talk.not_before - time.monotonic()) > 0:
        if talk.stop.wait(min(left, 1.0)):
            return False
    return not talk.stop.is_set()


def note_answer(talk: Talk) -> None:
    """The endpoint had a word for a question."""
    with talk.lock:
        talk.answered += 1
        talk.tries = talk.lost = 0


def note_trouble(talk: Talk, trouble: Trouble) -> None:
    """A try had no answer: show once what the endpoint said, wait as it asks, give up where it is in vain.

    Raises
    ------
    EndpointFailed
        The trouble is every question's, or nobody answers.
    """
    if trouble.wait > _LONGEST_PAUSE:
        raise _failed(talk, trouble, f"asks to be left alone for {trouble.wait:,.0f} seconds")
    if trouble.wait:
        talk.not_before = max(talk.not_before, time.monotonic() + trouble.wait)
    show(talk, trouble)
    if rejects_request(trouble):
        with talk.lock:
            talk.rejected += 1
            vain = not talk.answered and talk.rejected >= _TRIES
        if vain:
            raise _failed(talk, trouble, f"refused {_TRIES} questions and answered none")
    elif not may_pass(trouble):
        raise _failed(talk, trouble, "refuses what every question needs")
    with talk.lock:
        talk.tries += 1


def note_lost(talk: Talk, trouble: Trouble) -> None:
    """A question had no answer after all tries.

    Raises
    ------
    EndpointFailed
        So had many in a row, or a few where none ever had one.
    """
    with talk.lock:
        talk.lost += 1
        never = not talk.answered and talk.lost >= _FEW and talk.tries >= _TRIES
        vain = never or talk.lost >= _LOST
    if vain:
        raise _failed(talk, trouble, f"gave no answer to {talk.lost} questions in a row")


def refuse_silence(talk: Talk) -> None:
    """Refuse to call it an answer where no question at all had any, be they few.

    Raises
    ------
    EndpointFailed
    """
    if talk.lost and not talk.answered:
        raise EndpointFailed(f"the endpoint gave no answer to {talk.lost} questions, and none to any other")


def show(talk: Talk, trouble: Trouble) -> None:
    """Report what an endpoint said, each thing once."""
    said = hide(trouble.said, talk.secrets)
    alike = "".join("0" if c.isdigit() else c for c in f"{trouble.reason} {said}")
    with talk.lock:
        new = alike not in talk.said and len(talk.said) < _SHOWN
        talk.said.add(alike)
    if new and said:
        talk.report(f"{talk.name}: the endpoint says ({trouble.reason}): {said}")


def _failed(talk: Talk, trouble: Trouble, what: str) -> EndpointFailed:
    talk.stop.set()
    said = hide(str(trouble), talk.secrets)
    return EndpointFailed(f"the endpoint {what} ({said}); what it answered is kept")


def patiently(talk: Talk, one: Callable[[], Any], *, counts: bool = True) -> Any:
    """What `one` gives, tried again while that may help.

    Parameters
    ----------
    counts
        Whether the tries say something of the questions; the request for a tokenizer does not.

    Raises
    ------
    Trouble
        The last try's, or one that concerns this question.
    EndpointFailed
        No question will be answered.
    """
    settings, last = talk.settings, Trouble("stopped")
    for attempt in range(settings.retries + 1):
        if not wait_for_turn(talk):
            raise last
        try:
            return one()
        except Trouble as trouble:
            last = trouble
        if not counts and not may_pass(last):
            raise last
        if counts:
            if concerns_one_question(last):
                raise last
            note_trouble(talk, last)
            if rejects_request(last):
                raise last
        wait = min(settings.backoff * 2**attempt, _LONGEST_WAIT)
        if attempt < settings.retries and talk.stop.wait(wait):
            raise last
    if counts:
        note_lost(talk, last)
    raise last
