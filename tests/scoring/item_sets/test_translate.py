"""Translating forty questions in five scripts: what is flagged and why, what is missing, asked, and kept."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

pytest.importorskip("httpx2")

from maskedadv.scoring.items.sources import read_items
from tests.scoring.item_sets.scripted_models import LOCAL, PIVOT, QUESTIONS, QUICK, Models, options
from tests.scoring.item_sets.test_annotate import frame_of, run

REASONS = {
    "el-4": "no_json",
    "zh-1": "refused",
    "bn-4": "other_script",
    "ar-4": "options_differ",
}
FLAGS = {
    "el-6": ["numbers_differ"],
    "zh-6": ["units_differ"],
    "fr-4": ["back_translation"],
    "ar-7": ["back_translation"],
}


def command(out: Path, url: str, *more: object) -> tuple[object, ...]:
    patience = ("--retries", 2, "--timeout", 30)
    return ("items", "translate", QUESTIONS, "-o", out, "-m", "m", "--api", url, *patience, *more)


def test_forty_questions_translated_in_every_way(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    models, out = Models(slow=2 * QUICK), tmp_path / "t.parquet"
    with models.serve() as server:
        assert run(*command(out, server.url, "--back", "--timeout", QUICK)) == 0
        found = frame_of(out)
        missing = found[found["reason"] != ""]
        assert missing["reason"].to_dict() == REASONS
        assert missing["translated_question"].isna().all()
        good = found[found["reason"] == ""]
        flags = {name: list(kinds) for name, kinds in good["flags"].items() if len(kinds)}
        assert flags == FLAGS
        assert (found["flagged"] == found.index.isin([*FLAGS, *REASONS])).all()
        assert found.loc["el-6", "why"] == "numbers differ (question: 3 is missing, 5 is new)"
        assert "kilometre is missing, mile is new" in found.loc["zh-6", "why"]
        assert found.loc["fr-4", "why"] == "not translated back (no_json)"
        for name, row in good.drop(["el-6", "zh-6"]).iterrows():
            assert row["translated_question"] == PIVOT[str(name)]["question"]
            assert list(row["translated_options"]) == options(PIVOT[str(name)])
        assert (found["answer"] == [LOCAL[str(name)]["answer"] for name in found.index]).all()
        back = good.drop(["fr-4", "ar-7"])
        assert (back["similarity"] == 1).all()  # the script gives the very same text back
        assert good.loc["ar-7", "similarity"] < 0.4
        assert pd.isna(good.loc["fr-4", "similarity"])
        assert not any("right" in json.loads(b["messages"][1]["content"]) for _, b in server.requests)
        printed = capsys.readouterr()
        assert "1 units_differ" in printed.out
        assert max(map(len, printed.out.split("Written to")[0].splitlines())) <= 80
        asked, content = len(server.requests), out.read_bytes()
        assert run(*command(out, server.url, "--back", "--timeout", QUICK)) == 0
        assert len(server.requests) == asked
        # Without translating back it is another table, of the same translations, for which nothing is asked.
        other = tmp_path / "other.parquet"
        (tmp_path / "other.parquet.said").write_bytes(b"")
        assert out.read_bytes() == content
        assert run(*command(out, server.url)) == 2
        assert run(*command(out, server.url, "--overwrite")) == 0
        assert len(server.requests) == asked
        assert frame_of(out)["similarity"].isna().all()
        assert not other.exists()


def test_items_that_have_a_counterpart_are_left_alone(tmp_path: Path) -> None:
    item = {"item": "x", "question": "?", "options": ["a", "b"], "answer": "A"}
    both = [json.dumps({**item, "language": language}) for language in ("en", "fr")]
    (tmp_path / "x.jsonl").write_text("\n".join(both))
    models, out = Models(script=False), tmp_path / "t.parquet"
    with models.serve() as server:
        asked = (
            "items",
            "translate",
            QUESTIONS,
            tmp_path / "x.jsonl",
            "-o",
            out,
            "-m",
            "m",
            "--api",
            server.url,
        )
        assert run(*asked) == 0
        alone = ("items", "translate", tmp_path / "x.jsonl", "-o", tmp_path / "u.parquet", *asked[6:])
        assert run(*alone) == 2
    assert sorted(frame_of(out).index) == sorted(LOCAL)
    assert sum(models.sent.values()) == len(read_items([QUESTIONS], unlabelled=True).items)


@pytest.mark.parametrize("after", [9, 55])
def test_an_interrupted_translation_goes_on(tmp_path: Path, after: int) -> None:
    """Interrupted while translating, and while translating back."""
    whole, models = Models(), Models()
    with whole.serve() as server:
        assert run(*command(tmp_path / "whole.parquet", server.url, "--back")) == 0
    release = models.interrupt_after(after)
    out = tmp_path / "t.parquet"
    with models.serve() as server:
        assert run(*command(out, server.url, "--back")) == 130
        assert not out.exists()
        release.set()
        assert run(*command(out, server.url, "--back")) == 0
    pd.testing.assert_frame_equal(frame_of(out), frame_of(tmp_path / "whole.parquet"))
    assert models.sent == whole.sent
