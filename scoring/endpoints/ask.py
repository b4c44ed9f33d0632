"""Models behind an OpenAI-compatible endpoint: asked many at a time, patiently, and never guessed for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from maskedadv.errors import EndpointFailed
from maskedadv.scoring.endpoints.adapt import post_adapting
from maskedadv.scoring.endpoints.bodies import body_of
from maskedadv.scoring.endpoints.cost import money, most_of
from maskedadv.scoring.endpoints.loglikelihood import describe_tokenizer, make_codec, score_options
from maskedadv.scoring.endpoints.patience import note_answer, patiently, refuse_silence, show
from maskedadv.scoring.endpoints.secrets import hide
from maskedadv.scoring.endpoints.settings import ApiSettings
from maskedadv.scoring.endpoints.statements import read_choice
from maskedadv.scoring.endpoints.talk import Talk, connect
from maskedadv.scoring.endpoints.threads import at_a_time
from maskedadv.scoring.endpoints.tokens import NumberedTokens
from maskedadv.scoring.endpoints.trouble import Trouble, concerns_one_question
from maskedadv.scoring.items.items import Item
from maskedadv.scoring.launch.progress import Progress
from maskedadv.scoring.launch.store import FAILED, Answer, may_pass
from maskedadv.scoring.launch.work import Keep, Wanted
from maskedadv.scoring.models.encode import Codec, Encoded, encode
from maskedadv.scoring.prompts.prompts import Rendered

_POOL = 4096  # questions that are tokenised together


def identify(settings: ApiSettings) -> dict[str, Any]:
    """The model's part of the fingerprint; an endpoint does not say which revision it runs."""
    more = {"tokenizer": describe_tokenizer(settings)} if settings.tokenizer else {}
    return settings.identity() | more


def parameters(_: ApiSettings) -> int:
    """Endpoints do not tell the size of a model."""
    return 0


def answer(
    name: str,
    settings: ApiSettings,
    identity: Mapping[str, Any],  # noqa: ARG001
    wanted: Wanted,
    keep: Keep,
    report: Callable[[str], None],
) -> None:
    """Ask a model all that is wanted, many questions at a time.

    Parameters
    ----------
    name
        What the user calls the model.
    wanted
        Pieces, and positions of the questions to ask in each.
    keep
        Given a position in `wanted`, and answers with their positions in the piece, as they come.

    Raises
    ------
    EndpointFailed, CostReached
        What had an answer before is kept.
    """
    talk = connect(settings, name, report)
    codec = make_codec(talk) if settings.answers == "loglikelihood" else None
    progress = Progress(name, "tokens", sum(len(positions) for _, positions in wanted), report)
    counted = [0]
    failed: list[tuple[int, int, Answer]] = []

    def one(place: tuple[int, int], encoded: Encoded | None) -> None:
        n, k = place
        piece = wanted[n][0]
        found = ask_one(talk, piece.items[k], piece.rendered[k], encoded)
        if not may_pass(found.reason):
            keep(n, [(k, found)])
        with talk.lock:
            if may_pass(found.reason):
                failed.append((n, k, found))
            used = talk.read + talk.written
            note = f"{piece.language}  {money(settings, talk.read, talk.written)}"
            progress.of(note).add(1, used - counted[0])
            counted[0] = used

    places = [(n, k) for n, (_, positions) in enumerate(wanted) for k in positions]
    with ThreadPoolExecutor(1) as ahead:  # the next questions are tokenised while these are asked
        pools = [places[begin : begin + _POOL] for begin in range(0, len(places), _POOL)]
        prepared = ahead.submit(_prepare, codec, wanted, pools[0] if pools else [])
        for number, pool in enumerate(pools):
            encoded = prepared.result()
            if number + 1 < len(pools):
                prepared = ahead.submit(_prepare, codec, wanted, pools[number + 1])
            at_a_time(settings.concurrency, one, [*zip(pool, encoded, strict=True)], talk)
    refuse_silence(talk)
    for (
        n,
        k,
        found,
    ) in failed:  # last, when it is clear that somebody answers: a run that ends before asks again
        keep(n, [(k, found)])


def _prepare(
    codec: Codec | None, wanted: Wanted, pool: Sequence[tuple[int, int]]
) -> Sequence[Encoded | None]:
    """Tokens of questions, where they are sent."""
    if codec is None:
        return [None] * len(pool)
    return encode([wanted[n][0].rendered[k] for n, k in pool], codec)


def ask_one(talk: Talk, item: Item, rendered: Rendered, encoded: Encoded | None = None) -> Answer:
    """Ask one question, again where that may help.

    Raises
    ------
    EndpointFailed
        No question will be answered.
    CostReached
    """
    try:
        if encoded is not None:
            found: Answer = patiently(talk, lambda: score_options(talk, encoded))
        else:
            found = patiently(talk, lambda: _ask(talk, item, rendered))
    except Trouble as trouble:
        concerned = concerns_one_question(trouble)
        if concerned:
            note_answer(talk)
            show(talk, trouble)
        return Answer(reason=concerned or FAILED + trouble.reason)
    note_answer(talk)
    return found if found.said is None else found._replace(said=hide(found.said, talk.secrets))


def _ask(talk: Talk, item: Item, rendered: Rendered) -> Answer:
    """One try.

    Raises
    ------
    Trouble, EndpointFailed, CostReached
    """
    settings = talk.settings
    path = "chat/completions" if settings.endpoint == "chat" else "completions"
    try:
        reply, used = post_adapting(
            talk, path, lambda used: body_of(settings, rendered, used), most_of(settings, rendered)
        )
        return read_choice(reply, settings, item, rendered, used)
    except NumberedTokens as error:
        raise EndpointFailed(
            f"the endpoint names tokens by their numbers ({error}); have it name them by their text"
        ) from None
