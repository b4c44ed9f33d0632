"""Ask a model a request for each item: read the answer, have it repaired once, and say why one is missing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from maskedadv.scoring.endpoints.cost import money, most_tokens
from maskedadv.scoring.endpoints.messages import Messages, Said, ask_messages, most_of_messages
from maskedadv.scoring.endpoints.patience import refuse_silence
from maskedadv.scoring.endpoints.settings import ApiSettings
from maskedadv.scoring.endpoints.statements import CUT_OFF
from maskedadv.scoring.endpoints.talk import Talk, connect
from maskedadv.scoring.endpoints.threads import at_a_time
from maskedadv.scoring.item_sets.objects import Unusable, read_object
from maskedadv.scoring.item_sets.said import SaidLog, request_key
from maskedadv.scoring.launch.progress import Progress
from maskedadv.scoring.launch.store import may_pass

_TRIES = 2  # the first, and one to repair it
_REPAIR = (
    "This answer cannot be used: {detail}. Answer again, with one JSON object as described at the beginning "
    "and nothing else."
)
_SHOWN, _TOLD = 4000, 1000  # tokens at most of an answer, and of what is wrong with it, that are sent back


@dataclass(frozen=True)
class Request:
    """What one item is asked.

    Attributes
    ----------
    item, language
        Whose it is, for the log.
    messages, schema
        System and user message; the form of the answer.
    read
        What an answer's object says; raises `Unusable`.
    """

    item: str
    language: str
    messages: Messages
    schema: Mapping[str, Any]
    read: Callable[[dict[str, Any]], Mapping[str, Any]]


@dataclass(frozen=True)
class Outcome:
    """What came of a request.

    Attributes
    ----------
    fields
        What was read; empty where `reason` says why there is nothing.
    said
        All raw answers.
    """

    fields: Mapping[str, Any]
    reason: str
    detail: str
    said: tuple[str, ...]
    asked_with: str

    def row(self) -> dict[str, Any]:
        """As columns of a table."""
        about = {"reason": self.reason, "detail": self.detail, "said": list(self.said)}
        return {**self.fields, **about, "asked_with": self.asked_with}


def ask_requests(
    name: str,
    settings: ApiSettings,
    requests: Sequence[Request],
    log: SaidLog,
    report: Callable[[str], None],
) -> list[Outcome]:
    """Ask all that the log has no answer to, and give what came of each request.

    Raises
    ------
    EndpointFailed, CostReached
        What had an answer before is kept in the log.
    """
    found = {k: done for k, r in enumerate(requests) if isinstance(done := follow(settings, r, log), Outcome)}
    left = [k for k in range(len(requests)) if k not in found]
    if not left:
        return [found[k] for k in range(len(requests))]
    talk = connect(settings, name, report)
    progress = Progress(name, "tokens", len(left), report)
    counted = [0]

    def one(k: int) -> None:
        found[k] = _ask(talk, name, requests[k], log)
        with talk.lock:
            used = talk.read + talk.written
            progress.of(money(settings, talk.read, talk.written)).add(1, used - counted[0])
            counted[0] = used

    at_a_time(settings.concurrency, one, [(k,) for k in left], talk)
    refuse_silence(talk)
    return [found[k] for k in range(len(requests))]


def _ask(talk: Talk, name: str, request: Request, log: SaidLog) -> Outcome:
    while True:
        state = follow(talk.settings, request, log)
        if isinstance(state, Outcome):
            return state
        said = ask_messages(talk, state, request.schema)
        if may_pass(said.reason):
            return Outcome({}, said.reason, said.text, (), said.asked_with)
        key = request_key(talk.settings, state, request.schema)
        log.keep(key, said, model=name, item=request.item, language=request.language)


def follow(settings: ApiSettings, request: Request, log: SaidLog) -> Outcome | Messages:
    """What came of a request by the answers in the log; the next messages where one is missing."""
    messages = request.messages
    said: list[Said] = []
    while (answer := log.find(request_key(settings, messages, request.schema))) is not None:
        said.append(answer)
        try:
            return _outcome(said, request.read(_object(answer)), "", "")
        except Unusable as trouble:
            if answer.reason not in {"", CUT_OFF} or len(said) == _TRIES:
                return _outcome(said, {}, trouble.reason, trouble.detail)
            repair = _REPAIR.format(detail=_within(trouble.detail, _TOLD))
            shown = _within(answer.text, _SHOWN) or "-"
            messages = (*request.messages, ("assistant", shown), ("user", repair))
    return messages


def _object(answer: Said) -> dict[str, Any]:
    if answer.reason == CUT_OFF:
        raise Unusable(CUT_OFF, "it was cut off before its end; be shorter")
    if answer.reason:
        raise Unusable(answer.reason, answer.text)
    return read_object(answer.text)


def _within(text: str, tokens: int) -> str:
    """The beginning of a text that has no more tokens than this, whatever the tokenizer."""
    while most_tokens(text) > tokens:
        text = text[: len(text) * 3 // 4]
    return text


def _outcome(said: Sequence[Said], fields: Mapping[str, Any], reason: str, detail: str) -> Outcome:
    return Outcome(fields, reason, detail, tuple(s.text for s in said), said[-1].asked_with)


def most_left(
    settings: ApiSettings, requests: Sequence[Request], log: SaidLog
) -> tuple[int, tuple[int, int], tuple[int, int]]:
    """Requests without an answer yet; tokens (read, written) of one try each; the most, with repairs.

    No token is less than a byte, so that the bound holds for every tokenizer.
    """
    count, usual, most = 0, [0, 0], [0, 0]
    for request in requests:
        state = follow(settings, request, log)
        if isinstance(state, Outcome):
            continue
        count += 1
        read, written = most_of_messages(settings, state, request.schema)
        usual[0] += sum(len(text.encode()) for _, text in state) // 4
        usual[1] += written
        tries = _TRIES if state == request.messages else 1
        most[0] += read + (tries - 1) * (read + _SHOWN + _TOLD + most_tokens(_REPAIR))
        most[1] += written * tries
    return count, (usual[0], usual[1]), (most[0], most[1])
