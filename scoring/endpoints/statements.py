"""What a reply states: an option written, chosen by structured output, or given as probabilities."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from typing import Any

from maskedadv.scoring.endpoints.bodies import CHOSEN, IN_WORDS, SCHEMA, letters_of
from maskedadv.scoring.endpoints.replies import Reply
from maskedadv.scoring.endpoints.settings import STOP, ApiSettings
from maskedadv.scoring.endpoints.tokens import from_top
from maskedadv.scoring.endpoints.trouble import REFUSED
from maskedadv.scoring.items.items import Item
from maskedadv.scoring.launch.store import Answer
from maskedadv.scoring.prompts.prompts import Rendered
from maskedadv.scoring.reading.read import CUT_OFF as UNFINISHED
from maskedadv.scoring.reading.read import read_answer

NOT_STATED = "no_answer_stated"
CUT_OFF = "answer_cut_off"
BY_SCHEMA = "schema"
_OBJECT = re.compile(r"\{[^{}]*\}")


def read_choice(
    reply: Reply, settings: ApiSettings, item: Item, rendered: Rendered, changes: Collection[str]
) -> Answer:
    """Read a reply as the settings ask for it; `changes`: what its request said otherwise.

    Raises
    ------
    NumberedTokens
    """
    how = set(changes) - {IN_WORDS}
    if reply.refusal:
        answer = Answer(reason=REFUSED, said=reply.refusal)
    elif reply.finish == "content_filter":
        answer = Answer(reason=REFUSED)
    elif settings.answers == "logprobs":
        answer = from_top(reply.choices[0], rendered, in_place=settings.endpoint == "completions")
    elif settings.answers == "choice":
        letter = None if IN_WORDS in changes else _chosen(reply.text, rendered)
        how.add(IN_WORDS if letter is None else SCHEMA)
        answer = (
            _stated(reply, settings, item, rendered)
            if letter is None
            else Answer(chosen=letter, said=reply.text, read_by=BY_SCHEMA)
        )
    else:
        answer = _stated(reply, settings, item, rendered)
    return answer._replace(asked_with=", ".join(sorted(how)))


def _chosen(text: str, rendered: Rendered) -> int | None:
    """The option in an answer that follows the schema; None for one that does not."""
    letters = letters_of(rendered)
    for candidate in (text, *reversed(_OBJECT.findall(text))):
        try:
            value: Any = json.loads(candidate)
        except (ValueError, RecursionError):
            continue
        letter = value.get(CHOSEN) if isinstance(value, dict) else value
        if isinstance(letter, str) and letter.strip() in letters:
            return letters.index(letter.strip())
    return None


def _stated(reply: Reply, settings: ApiSettings, item: Item, rendered: Rendered) -> Answer:
    """The option that a written answer states; of a completion only the first line is one."""
    full = reply.written is not None and reply.written >= settings.max_answer_tokens
    text, ended = reply.text, reply.finish != "length" and (reply.finish == "stop" or not full)
    if settings.endpoint == "completions":
        text, more, _ = reply.text.partition(STOP)
        ended = ended or bool(more)
    reading = read_answer(
        text,
        len(item.options),
        item.language,
        letters=letters_of(rendered),
        option_texts=item.options,
        cue=rendered.prompt.rsplit("\n", 1)[-1],
        finish_reason="stop" if ended else "length",
    )
    if reading.option is None:
        cut = not ended or reading.read_by == UNFINISHED
        return Answer(reason=CUT_OFF if cut else NOT_STATED, said=reply.text, read_by=reading.read_by)
    return Answer(chosen=reading.option, said=reply.text, read_by=reading.read_by)
