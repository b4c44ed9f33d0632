"""What a run may cost: bounds that hold, limits that are not passed."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

pytest.importorskip("httpx2")

from maskedadv.errors import BadSetting, CostReached
from maskedadv.scoring.endpoints.cost import bound, estimate, most_tokens
from maskedadv.scoring.endpoints.purse import Purse
from maskedadv.scoring.endpoints.settings import ApiSettings
from maskedadv.scoring.items.items import Item
from maskedadv.scoring.launch.plan import make_pieces
from maskedadv.scoring.prompts.prompts import load_prompts
from tests.scoring.endpoints.scripted import Response, chat, serve, write_questions
from tests.scoring.launch.test_launch import run

TEXTS = {
    "sw": "Mji mkuu wa Tanzania ni upi kati ya miji hii iliyoorodheshwa hapa chini?",
    "el": "Ποια είναι η πρωτεύουσα της Ελλάδας και πότε ιδρύθηκε;",
    "te": "ఆంధ్రప్రదేశ్ రాజధాని ఏది? దాని చరిత్ర ఏమిటి?",
    "ar": "ﷺ ﷽ ما عاصمة مصر؟",
    "ko": "대한민국의 수도는 어디입니까?",
}


def test_the_bound_holds_for_tokenizers_of_every_kind(byte_tokenizer: Any) -> None:
    """One of a token a byte, in the longest normal form; a trained one; both with a template around."""
    import unicodedata

    for text in TEXTS.values():
        longest = max(len(unicodedata.normalize(f, text).encode()) for f in ("NFC", "NFD", "NFKC", "NFKD"))
        assert longest + 100 < most_tokens(text)
        assert len(byte_tokenizer.encode(text).ids) <= len(text.encode()) < most_tokens(text)


def test_the_bound_is_above_the_estimate() -> None:
    items = [Item(f"q{k}", "CA", "en", text, ("a", "b"), 0) for k, text in enumerate(TEXTS.values())]
    pieces = make_pieces({"s": items}, load_prompts())
    for answers in ("text", "choice", "logprobs", "loglikelihood"):
        settings = ApiSettings("m", "http://x/v1", answers=answers)
        about, most = estimate(settings, pieces), bound(settings, pieces)
        assert about[0] < most[0]
        assert about[1] == most[1]
    whole = bound(ApiSettings("m", "http://x/v1", answers="loglikelihood"), pieces)
    assert whole[0] > 2 * bound(ApiSettings("m", "http://x/v1"), pieces)[0] - 1


def test_a_plan_says_which_is_which(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    items = write_questions(tmp_path / "set.jsonl", 100)
    command = ("score", "plan", items, "-o", tmp_path / "out", "-m", "m", "--api", "http://x/v1")
    assert run(*command, "--price-in", 10, "--price-out", 100) == 0
    printed = capsys.readouterr()
    assert "about 5." in printed.out
    assert ", at most 5." in printed.out
    assert "At most: a token for every byte" in " ".join(printed.err.split())


@pytest.mark.parametrize("concurrency", [1, 8])
def test_the_limit_is_not_passed_and_the_rest_is_said_and_taken_up(
    concurrency: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    items = write_questions(tmp_path / "set.jsonl", 40)
    paid = []

    def respond(_path: str, _body: dict[str, Any]) -> Response:
        paid.append(1)
        return 200, {**chat(), "usage": {"prompt_tokens": 100, "completion_tokens": 400}}, {}

    with serve(respond) as server:
        command = ["score", "run", items, "-o", tmp_path / "out", "-m", "m", "--api", server.url]
        command += ["--price-in", 0, "--price-out", 1000, "--concurrency", concurrency]
        assert run(*command, "--max-cost", 8) == 1
        said = " ".join(capsys.readouterr().err.split())
        assert 0.4 * len(paid) <= 8
        assert len(paid) >= 18 - concurrency  # the most that an answer may cost is 0.512
        assert "--max-cost 8.00" in said
        assert f"{40 - len(paid)} of m" in said
        assert run(*command, "--max-cost", 30) == 0
    assert len(paid) == 40  # nothing was paid twice
    assert len(pd.read_parquet(tmp_path / "out" / "responses.parquet")) == 40


def test_tries_count_that_may_have_been_paid(tmp_path: Path) -> None:
    """An answer that is no answer costs as much; so it is taken for as much as it may cost."""
    items = write_questions(tmp_path / "set.jsonl", 40)
    with serve(lambda _p, _b: (200, b"{}", {})) as server:
        command = ("score", "run", items, "-o", tmp_path / "out", "-m", "m", "--api", server.url)
        assert run(*command, "--price-out", 1000, "--max-cost", 2, "--retries", 2, "--concurrency", 1) == 1
    assert len(server.requests) == 3


def test_an_endpoint_that_tells_no_usage_is_taken_for_the_most(tmp_path: Path) -> None:
    items = write_questions(tmp_path / "set.jsonl", 40)
    with serve(lambda _p, _b: (200, {**chat(), "usage": {"completion_tokens": "few"}}, {})) as server:
        command = ("score", "run", items, "-o", tmp_path / "out", "-m", "m", "--api", server.url)
        assert run(*command, "--price-out", 1000, "--max-cost", 2, "--concurrency", 1) == 1
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    "more", [("--max-cost", 1), ("--max-cost", 0, "--price-in", 1), ("--max-cost", "nan", "--price-in", 1)]
)
def test_limits_that_cannot_hold_are_refused(
    more: tuple[object, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    items = write_questions(tmp_path / "set.jsonl", 1)
    assert run("score", "run", items, "-o", tmp_path / "out", "-m", "m", "--api", "http://x/v1", *more) == 2
    assert "--max-cost" in capsys.readouterr().err


def test_two_models_share_a_purse(tmp_path: Path) -> None:
    items = write_questions(tmp_path / "set.jsonl", 10)
    with serve(lambda _p, _b: (200, {**chat(), "usage": {"completion_tokens": 500}}, {})) as server:
        command = ("score", "run", items, "-o", tmp_path / "out", "-m", "a", "-m", "b", "--api", server.url)
        assert run(*command, "--price-out", 1000, "--max-cost", 7.6, "--concurrency", 4) == 1
    assert len(server.requests) == 15


def test_a_purse_waits_for_requests_under_way() -> None:
    purse = Purse(1.0)
    purse.set_aside(0.7)
    waiter = threading.Thread(target=purse.set_aside, args=(0.5,))
    waiter.start()
    waiter.join(0.2)
    assert waiter.is_alive()
    purse.settle(0.7, 0.2)
    waiter.join(10)
    assert not waiter.is_alive()
    with pytest.raises(CostReached):
        purse.set_aside(0.9)
    with pytest.raises(BadSetting):
        Purse(-1.0)
