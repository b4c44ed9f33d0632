"""What of a text is the answer: reasoning between any of the public marks is no part of it."""

from __future__ import annotations

import re
from typing import NamedTuple

_NAME = (
    r"(?:\w{1,16}[:_ ▁-])?(?:think|thinking|thoughts?|thought_process|reason|reasoning|reflection|scratchpad"
    r"|analysis|cot|antthinking|inner_monologue|rationale|deliberation)"
)
# Opening marks and the closing ones that end them; written by the chat templates of reasoning models:
# <think>, [THINK], ◁think▷, <seed:think>, <|START_THINKING|>, <|begin_of_thought|>, <unused94>thought, ...
_CLOSING = re.compile(
    rf"""<\s*/\s*{_NAME}\s*>|\[\s*(?:/|end\s)\s*{_NAME}\s*\]|◁\s*/\s*{_NAME}\s*▷|<\|\s*/\s*{_NAME}\s*\|>
    |\{{\s*/\s*{_NAME}\s*\}}|<[|｜](?:end|END)(?:[_▁ ]of)?[_▁ ]{_NAME}[|｜]>|<[|｜]{_NAME}_end[|｜]>
    |<[|｜](?:begin|START)(?:_of)?_(?:solution|response|answer)[|｜]>
    |<unused95>|<channel\|>|\.\.\.done\ thinking\.
    |<\|im_start\|>\s*answer\b|<\|channel\|>\s*final\b(?:\s*<\|message\|>)?
    |assistant\s?final(?=[\s*A-Z(\\]|$)|(?<=\n)Here\ is\ my\ response:""",
    re.IGNORECASE | re.VERBOSE,
)
_OPENING = re.compile(
    rf"""<\s*{_NAME}(?:\s[^<>]{{0,80}})?>|\[\s*(?:(?:begin|start)\s)?{_NAME}\s*\]|◁\s*{_NAME}\s*▷|<\|\s*{_NAME}\s*\|>|\{{\s*{_NAME}\s*\}}
    |<[|｜](?:begin|START)(?:[_▁ ]of)?[_▁ ]{_NAME}[|｜]>|<[|｜]{_NAME}_(?:start|begin)[|｜]>
    |<unused94>|<\|channel>\s*thought|\A\s*thinking\.\.\.(?=\s)|<\|im_start\|>\s*think\b
    |<\|channel\|>\s*(?:analysis|commentary)\b|\A\s*analysis(?=[A-Z])|\A\s*Here\ is\ my\ thought\ process:
    |<details\s+type=["']reasoning["'][^<>]{{0,80}}>""",
    re.IGNORECASE | re.VERBOSE,
)
_DETAILS = re.compile(r"<details\s+type=[\"']reasoning[\"'].*?</details>", re.IGNORECASE | re.DOTALL)
_LEFT_OVER = re.compile(r"<[|｜][\w▁ ]{1,40}[|｜]>|</?s>|\[/?INST\]", re.IGNORECASE)


class Final(NamedTuple):
    """The final part of a text. `reasoned`: reasoning was marked and closed; `cut_off`: it never ended."""

    text: str
    reasoned: bool
    cut_off: bool


def without_reasoning(text: str) -> Final:
    """What follows the last closing mark, up to an opening one that nothing closes.

    A closing mark alone is enough, since many chat templates write the opening one into the prompt.
    """
    if "<details" in text.lower() and "</details>" in text.lower():
        text = _DETAILS.sub("", text)
    end = 0
    for match in _CLOSING.finditer(text):
        end = match.end()
    answer = text[end:]
    opened = _OPENING.search(answer)
    if opened:
        answer = answer[: opened.start()]
    return Final(_LEFT_OVER.sub("\n", answer), end > 0, opened is not None)


_TAG = re.compile(
    r"<(?P<tag>answer|final_answer|final|solution|response|output|result|choice)>(?P<said>.*?)(?:</(?P=tag)>|\Z)"
    r"|<\|begin_of_box\|>(?P<box>.*?)<\|end_of_box\|>",
    re.IGNORECASE | re.DOTALL,
)


def tagged_answer(text: str) -> str | None:
    """What stands between the last answer tags (<answer>, <|begin_of_box|>), if there are any."""
    tags = list(_TAG.finditer(text))
    if not tags:
        return None
    last = tags[-1]
    return last["said"] if last["said"] is not None else last["box"]
