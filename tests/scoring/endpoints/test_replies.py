"""Bodies of responses: parts, streams, halves of characters, odd numbers; and first tokens in every shape."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

pytest.importorskip("httpx2")

from maskedadv.scoring.endpoints.replies import read_reply
from maskedadv.scoring.endpoints.tokens import NumberedTokens, from_top
from maskedadv.scoring.endpoints.trouble import Trouble
from maskedadv.scoring.prompts.prompts import Rendered
from tests.scoring.endpoints.scripted import chat, top

LETTERS = Rendered("Question: ...\nAnswer:", ((" A",), (" B",), (" C",), (" D",)))
BARE = Rendered("问题：……\n答案：", (("A",), ("B",), ("C",), ("D",)))


def body(value: Any) -> bytes:
    return json.dumps(value).encode()


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("B", "B"),
        (None, ""),
        ([{"type": "text", "text": "The answer "}, {"type": "text", "text": "is B."}], "The answer is B."),
        (
            [
                {"type": "thinking", "thinking": [{"type": "text", "text": "A?"}]},
                {"type": "text", "text": "B"},
            ],
            "B",
        ),
        ([{"type": "reasoning", "text": "A"}, {"type": "output_text", "text": "B"}], "B"),
        ([{"type": "text", "text": {"value": "B", "annotations": []}}], "B"),
        (["B"], "B"),
        ({"type": "text", "text": "B"}, "B"),
        ("lone \ud83d half", "lone \ufffd half"),
        ("whole \ud83d\ude00", "whole 😀"),
    ],
)
def test_what_is_written(content: Any, text: str) -> None:
    reply = read_reply(body(chat(content)))
    assert reply.text == text
    reply.text.encode()  # can be kept


def test_a_part_that_refuses() -> None:
    reply = read_reply(body(chat([{"type": "refusal", "refusal": "I will not."}])))
    assert (reply.text, reply.refusal) == ("", "I will not.")


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        ({"prompt_tokens": 5, "completion_tokens": 2}, (5, 2)),
        ({"prompt_tokens": 5.0, "completion_tokens": None}, (5, None)),
        ({"prompt_tokens": "5", "completion_tokens": -1}, (None, None)),
        ({"prompt_tokens": True, "completion_tokens": 1e300}, (None, None)),
        ({"prompt_tokens": {"n": 1}, "completion_tokens": [2]}, (None, None)),
        ([1, 2], (None, None)),
        ("many", (None, None)),
        (None, (None, None)),
    ],
)
def test_odd_usage_is_unknown_and_loses_nothing(usage: Any, tokens: tuple[int | None, int | None]) -> None:
    reply = read_reply(body({**chat("B"), "usage": usage}))
    assert (reply.text, reply.read, reply.written) == ("B", *tokens)


def events(pieces: list[Any], end: str = "\n\n") -> bytes:
    lines = [f"data: {p if isinstance(p, str) else json.dumps(p)}{end}" for p in pieces]
    return (": comment" + end + "".join(lines)).encode()


@pytest.mark.parametrize("end", ["\n\n", "\r\n\r\n", "\n"])
def test_a_stream_is_put_together(end: str) -> None:
    deltas: list[dict[str, Any]] = [{"role": "assistant"}, {"content": "The answer "}, {"content": "is B."}]
    pieces: list[Any] = [{"choices": [{"index": 0, "delta": d, "finish_reason": None}]} for d in deltas]
    pieces += [{"choices": [{"index": 0, "delta": {}, "finish_reason": "length"}]}]
    pieces += [{"choices": [], "usage": {"prompt_tokens": 4, "completion_tokens": 2}}, "[DONE]"]
    reply = read_reply(events(pieces, end))
    assert (reply.text, reply.finish, reply.read, reply.written) == ("The answer is B.", "length", 4, 2)


def test_a_stream_of_a_completion_and_one_with_log_probabilities() -> None:
    pieces = [{"choices": [{"index": 0, "text": t}]} for t in (" B", ".")]
    assert read_reply(events(pieces)).text == " B."
    pieces = [{"choices": [{"index": 0, "delta": {"content": "B"}, **top([("B", -0.5), ("A", -1.0)])}]}]
    assert from_top(read_reply(events(pieces)).choices[0], LETTERS, in_place=False).logprobs[:2] == [
        -1.0,
        -0.5,
    ]


def test_a_stream_that_breaks_off_within_an_event_is_no_answer() -> None:
    whole = events([{"choices": [{"index": 0, "delta": {"content": "B"}}]}] * 2)
    with pytest.raises(Trouble, match="no JSON"):
        read_reply(whole[:-9])


@pytest.mark.parametrize(
    ("said", "meant"),
    [("MAX_TOKENS", "length"), ("model_length", "length"), ("SAFETY", "content_filter"), ("stop", "stop")],
)
def test_why_a_model_stopped_in_the_words_of_servers(said: str, meant: str) -> None:
    assert read_reply(body(chat("B", said))).finish == meant


@pytest.mark.parametrize("said", ["error", "insufficient_system_resource", "abort"])
def test_an_answer_that_failed_on_its_way_is_none(said: str) -> None:
    with pytest.raises(Trouble, match=said):
        read_reply(body(chat("The answer is", said)))


def test_an_error_in_a_stream_is_an_error() -> None:
    with pytest.raises(Trouble, match="402"):
        read_reply(events([{"error": {"message": "Insufficient credits", "code": 402}}]))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"null",
        b"[]",
        b'"B"',
        b"<html>",
        b"{",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"choices": [3]}',
        b'{"choices": [{"message": "B"}]}',
        b'{"choices": [{"message": {"content": 7}}]}',
        b'{"a": ' + b"9" * 5000 + b"}",
    ],
)
def test_what_is_no_answer(content: bytes) -> None:
    with pytest.raises(Trouble) as found:
        read_reply(content)
    assert found.value.reason == "bad_response"


# --- first tokens ---------------------------------------------------------------------------------

PAIRS = [("B", -0.22), ("A", -1.8), ("C", -4.0), ("D", -5.0)]
FOUR = [-1.8, -0.22, -4.0, -5.0]


def legacy(pairs: list[tuple[str, float]]) -> dict[str, Any]:
    content = {
        "choices": [
            {
                "text": "x",
                "logprobs": {
                    "tokens": [pairs[0][0]],
                    "token_logprobs": [pairs[0][1]],
                    "top_logprobs": "HERE",
                },
            }
        ]
    }
    listed = ", ".join(f"{json.dumps(t)}: {x}" for t, x in pairs)
    return read_reply(json.dumps(content).replace('"HERE"', "[{" + listed + "}]").encode()).choices[0]


@pytest.mark.parametrize("mark", [" ", "▁", "Ġ"])
@pytest.mark.parametrize("shape", [top, legacy])
@pytest.mark.parametrize("in_place", [True, False])
def test_marks_of_blanks_in_both_shapes_under_both_endpoints(mark: str, shape: Any, in_place: bool) -> None:
    pairs = [(mark + t, x) for t, x in PAIRS] + [("B", -6.0), ("A", -5.5)]
    found = from_top(shape(pairs), LETTERS, in_place=in_place)
    expected = list(FOUR)
    if not in_place:
        expected[0] = math.log(math.exp(-1.8) + math.exp(-5.5))
        expected[1] = math.log(math.exp(-0.22) + math.exp(-6.0))
    assert found.logprobs == pytest.approx(expected)
    assert found.reason == ""


def test_letters_of_other_scripts_in_a_byte_level_vocabulary() -> None:
    bengali = Rendered("...", ((" ক",), (" খ",)))
    pairs = [("Ġ" + "".join(map(_byte_letter, t.encode())), x) for t, x in (("ক", -0.5), ("খ", -1.5))]
    assert from_top(top(pairs), bengali, in_place=True).logprobs == [-0.5, -1.5]


def _byte_letter(b: int) -> str:
    """GPT-2's table, written down anew."""
    plain = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    others = [x for x in range(256) if x not in plain]
    return chr(b) if b in plain else chr(256 + others.index(b))


def test_a_token_that_may_begin_another_option_is_no_answer() -> None:
    """Where digits are split, the first token of "10" is the whole of "1"."""
    digits = Rendered("...", (("1",), ("2",), ("10",)))
    split = from_top(top([("1", -0.1), ("2", -3.0), ("7", -4.0)]), digits, in_place=False)
    assert (split.logprobs, split.reason) == (None, "an option begins another")
    whole = from_top(top([("10", -0.1), ("1", -3.0), ("2", -4.0)]), digits, in_place=False)
    assert (whole.logprobs, whole.reason) == ([-3.0, -4.0, -0.1], "")
    unseen = from_top(top([("2", -0.1), ("7", -4.0)]), digits, in_place=False)
    assert unseen.reason == "option_not_in_top"


def test_bytes_as_sentencepiece_writes_them() -> None:
    pairs = [("<0x42>", -0.22), ("<0x41>", -1.8), ("▁C", -4.0), ("D", -5.0)]
    assert from_top(top(pairs), LETTERS, in_place=False).logprobs == FOUR


@pytest.mark.parametrize("in_place", [True, False])
def test_tokens_named_by_number(in_place: bool) -> None:
    pairs = [(f"token_id:{n}", x) for n, (_, x) in enumerate(PAIRS)]
    choice = top(pairs, [f" {t}".encode() for t, _ in PAIRS])
    assert from_top(choice, LETTERS, in_place=in_place).logprobs == FOUR
    with pytest.raises(NumberedTokens):
        from_top(top(pairs), LETTERS, in_place=in_place)


@pytest.mark.parametrize("in_place", [True, False])
@pytest.mark.parametrize("shape", [top, legacy])
def test_tokens_that_print_alike_are_summed(shape: Any, in_place: bool) -> None:
    pairs = [(" B", -1.0), (" B", -2.0), (" A", -1.5), (" C", -4.0), (" D", -5.0)]
    found = from_top(shape(pairs), LETTERS, in_place=in_place)
    assert found.logprobs == pytest.approx([-1.5, math.log(math.exp(-1) + math.exp(-2)), -4.0, -5.0])


def test_a_token_listed_again_because_it_was_chosen_counts_once() -> None:
    assert from_top(top([*PAIRS, PAIRS[0]]), LETTERS, in_place=False).logprobs == FOUR


def test_a_server_that_shows_no_blanks_gives_the_letters_in_any_form() -> None:
    assert from_top(legacy(PAIRS), LETTERS, in_place=True).logprobs == FOUR
    assert from_top(legacy([*PAIRS, (" B", -7.0)]), LETTERS, in_place=True).reason == "option_not_in_top"
    assert from_top(legacy([*PAIRS, (" B", -7.0)]), BARE, in_place=True).logprobs == FOUR


@pytest.mark.parametrize("none", [-9999.0, -1e30, -100.0, "-Infinity", -9999])
@pytest.mark.parametrize("shape", [top, legacy])
def test_placeholders_are_no_probabilities(none: Any, shape: Any) -> None:
    pairs = [("B", 0.0), ("A", -9999.0), ("C", -9999.0), ("D", -9999.0)]
    choice = json.loads(json.dumps(shape(pairs)).replace("-9999.0", str(none)))
    found = from_top(choice, LETTERS, in_place=False)
    assert found.reason == "option_not_in_top"
    assert [math.isnan(x) for x in found.logprobs] == [True, False, True, True]


@pytest.mark.parametrize("bad", [0.3, 5.0, math.nan, None, "x"])
def test_numbers_that_are_no_log_probabilities(bad: Any) -> None:
    choice = top([("B", -0.2), ("A", -1.0), ("C", -3.0), ("D", -4.0)])
    choice["logprobs"]["content"][0]["top_logprobs"][1]["logprob"] = bad
    found = from_top(choice, LETTERS, in_place=False)
    assert (found.logprobs, found.reason) == (None, "not_finite")


def test_a_hair_above_0_is_rounding() -> None:
    assert from_top(top([("B", 1e-7), *PAIRS[1:]]), LETTERS, in_place=False).logprobs[1] == 0.0


@pytest.mark.parametrize(
    "token",
    [
        "<think>",
        "<|channel|>",
        "<thinking>",
        "[THINK]",
        "◁think▷",
        "<|START_THINKING|>",
        "<reasoning>",
        "\n<think>",
    ],
)
def test_the_first_token_of_a_thought_is_no_answer(token: str) -> None:
    found = from_top(top([(token, -0.001), *PAIRS]), LETTERS, in_place=False)
    assert (found.logprobs, found.reason) == (None, "thinks_first")


@pytest.mark.parametrize(
    "logprobs",
    [
        None,
        [],
        {},
        {"content": []},
        {"content": None, "top_logprobs": None},
        "x",
        {"top_logprobs": [None], "tokens": [], "token_logprobs": []},
    ],
)
def test_no_log_probabilities(logprobs: Any) -> None:
    assert from_top({"logprobs": logprobs}, LETTERS, in_place=True).reason == "no_logprobs_given"
