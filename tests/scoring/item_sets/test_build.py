"""The whole pipeline: forty questions in five scripts, through every step, interrupted, changed, reviewed."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

pytest.importorskip("httpx2")

from maskedadv.scoring.item_sets.tables import DECISIONS, LEFT_OUT, read_table, table_of, write_step
from maskedadv.scoring.items.items import check_items
from maskedadv.scoring.items.sources import read_items
from tests.scoring.item_sets.scripted_models import (
    BY_QUESTION,
    LOCAL,
    PIVOT,
    QUESTIONS,
    QUICK,
    Models,
    label_of,
    options,
)
from tests.scoring.item_sets.test_annotate import REASONS as NOT_LABELLED
from tests.scoring.item_sets.test_annotate import run
from tests.scoring.item_sets.test_translate import FLAGS
from tests.scoring.item_sets.test_translate import REASONS as NOT_TRANSLATED

KEY = "sk-very-secret-0123456789"


def write_build(folder: Path, url: str, *, models: str = "a", timeout: float = 30, **changes: str) -> Path:
    """A build file, and the questions beside it."""
    (folder / "questions.csv").write_bytes(QUESTIONS.read_bytes())
    shared = f'api = "{url}"\ntimeout = {timeout}\nretries = 2\n'
    annotators = "".join(f'[[annotate.model]]\nname = "{m}"\nmodel = "{m}"\n{shared}' for m in models)
    parts = {
        "set": '[set]\nname = "forty"\nseed = 3\n',
        "source": (
            '[[source]]\nname = "forty"\nitems = "questions.csv"\nlicence = "CC0-1.0"\nsubject = "topic"\n'
        ),
        "annotate": annotators,
        "sample": '[sample]\ncap = 7\nsubset = "all"\nby_subject = false\n',
        "translate": (
            f'[translate.model]\nmodel = "t"\n{shared}[translate.back_model]\nmodel = "back"\n{shared}'
        ),
        "review": '[review]\ndecisions = "decisions.parquet"\n',
    }
    path = folder / "build.toml"
    path.write_text("\n".join({**parts, **changes}.values()), "utf-8")
    return path


def left_out(out: Path) -> dict[str, tuple[str, str]]:
    rows = read_table(out / "left_out.parquet", LEFT_OUT, "what was left out").to_pylist()
    return {row["item"]: (row["step"], row["reason"]) for row in rows}


def files_of(out: Path) -> dict[str, bytes]:
    return {
        str(p.relative_to(out)): p.read_bytes()
        for p in sorted(out.rglob("*"))
        if p.is_file() and "_said" not in p.parts
    }


def tables_of(out: Path) -> dict[str, pd.DataFrame]:
    return {p.stem: pyarrow.parquet.read_table(p).to_pandas() for p in sorted(out.glob("*.parquet"))}


def test_the_whole_pipeline(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    models, out = Models(slow=2 * QUICK), tmp_path / "set"
    with models.serve() as server:
        file = write_build(tmp_path, server.url, timeout=QUICK)
        assert run("items", "build", file, "-o", out) == 0
        printed = capsys.readouterr()
        gone = left_out(out)
        # By hand: who has no label, who was not drawn, who has no counterpart that may be used.
        for name, reason in NOT_LABELLED.items():
            step, found = gone.pop(name)
            assert step == "annotate"
            assert found == "no_label", reason
        over = {name for name, why in gone.items() if why == ("sample", "over_cap")}
        labelled = {name for name in LOCAL if name not in NOT_LABELLED}
        for language in ("fr", "el", "zh", "bn", "ar"):
            there = [name for name in labelled if name.startswith(language)]
            assert sum(name.startswith(language) for name in over) == max(0, len(there) - 7)
        drawn = labelled - over
        for name in drawn & {*NOT_TRANSLATED, *FLAGS}:
            wanted = ("translate", NOT_TRANSLATED.get(name, "flagged"))
            assert gone.pop(name) == wanted, name
        assert set(gone) == over

        items = read_items([out / "items.parquet"]).items
        kept = drawn - {*NOT_TRANSLATED, *FLAGS}
        assert {x.item for x in items} == kept
        assert not check_items(items)
        for x in items:
            row = (PIVOT if x.language == "en" else LOCAL)[x.item]
            assert (x.question, list(x.options)) == (row["question"], options(row))
            assert x.subset == label_of(x.item)
            assert "ABCD"[x.answer or 0] == LOCAL[x.item]["answer"]
            assert x.extra["licence"] == "CC0-1.0"
            assert x.extra["subject"] == LOCAL[x.item]["topic"]
            assert x.extra["made"] == ("translation" if x.language == "en" else "source")

        card = json.loads((out / "card.json").read_text("utf-8"))
        assert card["items"] == len(kept)
        for r in card["counts"]:
            assert r["read"] == 8
            assert r["CS"] == sum(label_of(n) == "CS" and n.startswith(r["language"]) for n in kept)
        assert card["sources"][0]["licence"] == "CC0-1.0"
        assert {m["role"] for m in card["models"]} == {"annotator", "translator", "back-translator"}
        assert sum(r["items"] for r in card["left_out"]) == 40 - len(kept)
        assert "No person has looked" in (out / "card.md").read_text("utf-8")
        assert max(map(len, printed.out.split("\n\nMade now")[0].splitlines())) <= 80

        # Nothing is asked, made or touched again.
        asked, before = len(server.requests), files_of(out)
        times = {p: p.stat().st_mtime_ns for p in out.glob("*.parquet")}
        assert run("items", "build", file, "-o", out) == 0
        assert "Nothing has changed." in capsys.readouterr().out
        assert files_of(out) == before
        assert {p: p.stat().st_mtime_ns for p in out.glob("*.parquet")} == times
        # A damaged file is made again, of the answers that were paid for.
        for name in ("annotations", "translations", "items"):
            path = out / f"{name}.parquet"
            path.write_bytes(path.read_bytes()[:-40])
        assert run("items", "build", file, "-o", out) == 0
        assert files_of(out) == before
        assert len(server.requests) == asked


@pytest.mark.parametrize("after", [5, 44, 60, 95])
def test_interrupted_at_each_step_and_run_again(tmp_path: Path, after: int) -> None:
    """While annotating, at the first translations, in their midst, and while translating back."""
    whole, models = Models(), Models()
    for name in ("whole", "again"):
        (tmp_path / name).mkdir()
    with whole.serve() as server:
        file = write_build(tmp_path / "whole", server.url)
        assert run("items", "build", file, "-o", tmp_path / "whole" / "set") == 0
        assert sum(whole.sent.values()) > after
    release = models.interrupt_after(after)
    out = tmp_path / "again" / "set"
    with models.serve() as server:
        file = write_build(tmp_path / "again", server.url)
        assert run("items", "build", file, "-o", out) == 130
        assert not (out / "items.parquet").exists()
        assert not list(out.glob(".*"))
        release.set()
        assert run("items", "build", file, "-o", out) == 0
        address = server.url
    one, two = tables_of(out), tables_of(tmp_path / "whole" / "set")
    assert one.keys() == two.keys()
    for name, table in one.items():
        pd.testing.assert_frame_equal(table, two[name])
    cards = [json.loads((tmp_path / n / "set" / "card.json").read_text("utf-8")) for n in ("whole", "again")]
    for card in cards:
        for model in card["models"]:
            model["endpoint"] = address
    assert cards[0] == cards[1]
    assert models.sent == whole.sent  # no answer was paid for twice


def test_only_what_changed_is_made_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    models, out = Models(script=False), tmp_path / "set"

    def made() -> set[str]:
        assert run("items", "build", tmp_path / "build.toml", "-o", out) == 0
        line = next(x for x in capsys.readouterr().out.splitlines() if x.startswith(("Made now", "Nothing")))
        return set(line.removeprefix("Made now: ").rstrip(".").split(", ")) - {"Nothing has changed"}

    with models.serve() as server:
        write_build(tmp_path, server.url)
        assert made() == {"annotations", "labels", "sample", "translations", "left_out", "items"}
        asked = len(server.requests)
        write_build(tmp_path, server.url, sample="[sample]\ncap = 5\nby_subject = false\n")
        assert made() == {"sample", "translations", "left_out", "items"}
        assert len(server.requests) == asked  # a smaller sample is part of the larger one
        # A question was mended: one label, and one translation there and back, are asked for.
        write_build(tmp_path, server.url)
        assert made()
        text = (tmp_path / "questions.csv").read_text("utf-8")
        mended = text.replace("Combien font 12 × 12 ?", "Combien font exactement 12 × 12 ?")
        monkeypatch.setitem(BY_QUESTION, "Combien font exactement 12 × 12 ?", "fr-5")
        (tmp_path / "questions.csv").write_text(mended, "utf-8")
        asked = len(server.requests)
        models.sent.clear()
        drawn = "fr-5" in set(pd.read_parquet(out / "sample.parquet")["item"])
        assert made() == {"annotations", *(("sample", "translations", "items") if drawn else ())}
        assert len(server.requests) - asked in ({2, 3} if drawn else {1})
        assert pd.read_parquet(out / "annotations.parquet")["reason"].eq("").all()


def test_a_review_decides(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    models, out = Models(), tmp_path / "set"
    everything = "[sample]\ncap = 100\nby_subject = false\n"

    def decision(name: str, **more: Any) -> dict[str, Any]:
        about = {"item": name, "language": LOCAL[name]["lang"], "keep": True, "reason": "", "n_people": 3}
        return about | {"cultural_sensitivity_label": "", "translated_options": None} | more

    mended = {"translated_question": "Which one?", "translated_options": ["p", "q", "r", "s"]}
    rows = [
        decision("fr-1", keep=False, reason="the key is wrong"),
        decision("fr-2", cultural_sensitivity_label="CA"),
        decision("fr-4", required_knowledge="cultural", cultural_sensitivity_label="CS"),
        decision("fr-7", required_knowledge="none", cultural_sensitivity_label="CS"),  # contradict each other
        decision("el-6"),  # flagged, and people found it right
        decision("zh-1", **mended),  # the model refused it
        decision("bn-1", translated_question="x", translated_options=["p", "q"]),
    ]
    with models.serve() as server:
        file = write_build(tmp_path, server.url, sample=everything)
        assert run("items", "build", file, "-o", out) == 0
        assert "items review" in " ".join(capsys.readouterr().err.split())
        asked = len(server.requests)
        schema = DECISIONS.append(pa.field("required_knowledge", pa.string()))  # as a review writes more
        write_step(tmp_path / "decisions.parquet", table_of(rows, schema))
        assert run("items", "build", file, "-o", out) == 0
        assert len(server.requests) == asked
    gone = left_out(out)
    assert gone["fr-1"] == ("review", "review")
    assert gone["bn-1"] == ("review", "options_differ")
    found = {(x.item, x.language): x for x in read_items([out / "items.parquet"]).items}
    assert found["fr-2", "fr"].subset == found["fr-2", "en"].subset == "CA"
    assert found["fr-2", "fr"].extra["required_knowledge"] == ""
    assert found["fr-4", "en"].extra["required_knowledge"] == "cultural"  # a model had said dialect
    assert (found["fr-7", "fr"].subset, found["fr-7", "fr"].extra["required_knowledge"]) == ("CS", "")
    assert ("el-6", "en") in found
    assert found["zh-1", "en"].question == "Which one?"
    assert found["zh-1", "en"].extra["made"] == "review"
    card = json.loads((out / "card.json").read_text("utf-8"))
    assert card["review"]["reviewed"] == 7
    assert card["review"]["kept"] == 6


def test_mended_english_holds_whichever_language_it_was_mended_beside() -> None:
    from maskedadv.scoring.item_sets.merge import merge_items
    from maskedadv.scoring.items.items import Item

    items = [Item("q", "CS", language, "?", ("a", "b"), 0) for language in ("de", "fr")]
    made = {"item": "q", "reason": "", "flagged": False, "why": "", "translator": "t"}
    raw = {**made, "translated_question": "raw", "translated_options": ["1", "2"]}
    mended = {"translated_question": "mended", "translated_options": ["1", "2"]}
    for language in ("de", "fr"):
        decisions = {("q", language): {"keep": True, "cultural_sensitivity_label": "", **mended}}
        found, gone = merge_items(items, [raw], decisions, pivot="en")
        assert [(x.language, x.question) for x in found] == [("de", "?"), ("fr", "?"), ("en", "mended")]
        assert not gone


def test_several_annotators_ties_stay_out_and_the_card_has_their_agreement(tmp_path: Path) -> None:
    models, out = Models(script=False), tmp_path / "set"
    models.dissent = {("b", "fr-5"), ("b", "zh-1")}
    with models.serve() as server:
        file = write_build(tmp_path, server.url, models="ab")
        assert run("items", "build", file, "-o", out) == 0
    gone = left_out(out)
    assert gone["fr-5"] == gone["zh-1"] == ("annotate", "tie")
    card = json.loads((out / "card.json").read_text("utf-8"))
    pooled = {r["field"]: r for r in card["agreement"] if r["language"] == "all"}
    assert pooled["cultural_sensitivity_label"]["unanimous"] == 38 / 40
    assert "Agreement of the annotators" in (out / "card.md").read_text("utf-8")


def test_given_labels_and_given_counterparts_need_no_model(tmp_path: Path) -> None:
    rows = []
    for name, row in LOCAL.items():
        for language, texts in ((row["lang"], row), ("en", PIVOT[name])):
            about = {"item": name, "subset": label_of(name), "language": language, "answer": row["answer"]}
            rows.append(about | {"question": texts["question"], "options": options(texts), "subject": "s"})
    (tmp_path / "given.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows), "utf-8")
    file = tmp_path / "build.toml"
    file.write_text(
        '[set]\nname = "given"\n[[source]]\nname = "g"\nitems = "given.jsonl"\nlicence = "MIT"\n'
        'label = "given"\n[sample]\ncap = 5\n'
    )
    assert run("items", "build", file, "-o", tmp_path / "set") == 0
    items = read_items([tmp_path / "set" / "items.parquet"]).items
    assert len(items) == 50
    assert {x.extra["made"] for x in items} == {"source"}
    assert len(pd.read_parquet(tmp_path / "set" / "left_out.parquet")) == 15
    assert not (tmp_path / "set" / "_said").exists()


def test_keys_are_nowhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", KEY)
    models, out = Models(), tmp_path / "set"
    with models.serve() as server:
        file = write_build(tmp_path, server.url)
        file.write_text(file.read_text().replace("retries = 2", 'retries = 2\nkey_variable = "MY_KEY"'))
        assert run("items", "build", file, "-o", out) == 0
        assert {h["Authorization"] for h in server.headers} == {f"Bearer {KEY}"}
    printed = capsys.readouterr()
    texts = [
        printed.out.encode(),
        printed.err.encode(),
        *(p.read_bytes() for p in out.rglob("*") if p.is_file()),
    ]
    assert len(texts) > 10
    assert not any(KEY[3:14].encode() in text for text in texts)


def test_cost_is_told_before_and_the_cap_holds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    models, out = Models(), tmp_path / "set"
    with models.serve() as server:
        file = write_build(tmp_path, server.url)
        priced = file.read_text().replace("retries = 2", "retries = 2\nprice_in = 1.0\nprice_out = 2.0")
        file.write_text(priced)
        assert run("items", "build", file, "-o", out, "--plan") == 0
        assert not server.requests
        lines = capsys.readouterr().out.splitlines()
        assert lines[1].split()[:3] == ["annotate", "a", "40"]
        assert lines[2].split()[:3] == ["translate", "t", "40"]
        assert run("items", "build", file, "-o", out, "--max-cost", "0.01") == 1
        assert "--max-cost" in capsys.readouterr().err
        assert 0 < sum(models.sent.values()) < 60
        assert run("items", "build", file, "-o", out, "--max-cost", "50") == 0
        capsys.readouterr()
        assert run("items", "build", file, "-o", out, "--plan") == 0
        assert [x.split()[2] for x in capsys.readouterr().out.splitlines()[1:]] == ["0", "0"]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"set": ""}, "the table [set] is missing"),
        ({"set": '[set]\nname = ""'}, "name is empty"),
        ({"set": "[set]\nname = 7"}, "name is 7, and should be a text"),
        ({"source": ""}, "no [[source]]"),
        ({"source": '[[source]]\nname = "x"\nitems = "questions.csv"'}, "the key 'licence' is missing"),
        ({"source": '[[source]]\nname = "x"\nitems = 3\nlicence = "y"'}, "items is a path"),
        ({"source": '[[source]]\nname = "x"\nitems = "no.csv"\nlicence = "y"'}, "no.csv"),
        ({"annotate": ""}, "is to be annotated"),
        ({"annotate": '[[annotate.model]]\nmodel = "m"\napi = "x"'}, "no address"),
        (
            {"annotate": '[[annotate.model]]\nmodel = "m"\napi = "http://x"\nkey = "sk"'},
            "environment variables",
        ),
        ({"annotate": '[[annotate.model]]\nmodel = "m"\napi = "http://u:p@x"'}, "environment variable"),
        ({"annotate": "[annotate]\nmodel = 3"}, "[[annotate.model]]"),
        ({"sample": "[sample]\ncap = 0"}, "[sample]: cap is at least 1, not 0"),
        (
            {
                "source": '[[source]]\nname = "x"\nitems = "questions.csv"\nlicence = "y"\nsubject = "topik"',
                "sample": "[sample]\ncap = 5",
            },
            "40 items have no 'topik'",
        ),
        ({"sample": "[sample]\ncap = true"}, "whole number"),
        ({"sample": '[sample]\ncap = 5\nsubset = "XX"'}, "one of CA, CS, all"),
        ({"sample": "[sample]\ncaps = 5"}, "'caps' is not known"),
        ({"translate": '[translate]\nflagged = "maybe"'}, "one of out, in"),
        ({"translate": "[translat]\nx = 1"}, "'translat' is not known"),
        ({"review": "x = ["}, "is not TOML"),
    ],
)
def test_build_files_that_are_refused(
    changes: dict[str, str], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write_build(tmp_path, "http://127.0.0.1:9/v1", **changes)
    assert run("items", "build", file, "-o", tmp_path / "set") == 2
    assert says in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "set").exists()


def test_other_folders_are_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write_build(tmp_path, "http://127.0.0.1:9/v1")
    out = tmp_path / "mine"
    out.mkdir()
    (out / "items.parquet").write_text("mine")
    assert run("items", "build", file, "-o", out) == 2
    assert (out / "items.parquet").read_text() == "mine"
    assert run("items", "build", file, "-o", tmp_path / "nothing", "--max-cost", "-1") == 2
    assert "holds something that is no maskedadv result" in " ".join(capsys.readouterr().err.split())


def test_two_at_once_do_not_pay_twice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A second build of the same folder, begun while the first one asks, is told so."""
    models, out, codes = Models(script=False), tmp_path / "set", []
    alone = threading.Lock()

    def second(*_: object) -> None:
        with alone:
            if not codes:
                codes.append(run("items", "build", tmp_path / "build.toml", "-o", out))

    models.before = second
    with models.serve() as server:
        file = write_build(tmp_path, server.url)
        assert run("items", "build", file, "-o", out) == 0
    assert codes == [2]
    assert "is being written by another process" in " ".join(capsys.readouterr().err.split())
    assert set(models.sent.values()) == {1}


def test_a_set_of_which_nothing_is_left_says_where_it_went(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    models, out = Models(script=False), tmp_path / "set"
    with models.serve() as server:
        file = write_build(tmp_path, server.url, translate="")
        assert run("items", "build", file, "-o", out) == 2
    assert "of 40, 35 fell out for no_counterpart at translate" in " ".join(capsys.readouterr().err.split())
    assert len(left_out(out)) == 40
    assert not (out / "items.parquet").exists()


def test_a_killed_build_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed without a word, with a key in the environment that no list of processes shows."""
    models, out = Models(script=False), tmp_path / "set"
    shown: list[bytes] = []
    monkeypatch.setenv("OPENAI_API_KEY", KEY)

    def kill() -> None:
        shown.append(Path(f"/proc/{process.pid}/cmdline").read_bytes())
        process.kill()

    release = models.interrupt_after(50, kill)
    with models.serve() as server:
        file = write_build(tmp_path, server.url)
        command = [sys.executable, "-m", "maskedadv", "items", "build", str(file), "-o", str(out)]
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
            assert process.wait(120) == -signal.SIGKILL
        release.set()
        assert (out / "annotations.parquet").exists()
        assert run("items", "build", file, "-o", out) == 0
    assert KEY.encode() not in shown[0]
    assert set(models.sent.values()) == {1}
    assert not [p for p in out.rglob("*") if p.name.endswith((".partial", ".lock"))]
    assert len(read_items([out / "items.parquet"]).items) == 70


def test_items_that_cannot_be_asked_are_shown_to_no_model(tmp_path: Path) -> None:
    models, out = Models(script=False), tmp_path / "set"
    with models.serve() as server:
        file = write_build(tmp_path, server.url)
        text = (tmp_path / "questions.csv").read_text("utf-8")
        lines = text.splitlines()
        lines[1] = lines[1].replace("1799", "1789")  # two equal options
        lines[2] = lines[2].removesuffix("B")  # no right option
        (tmp_path / "questions.csv").write_text("\n".join(lines), "utf-8")
        assert run("items", "build", file, "-o", out) == 0
    gone = left_out(out)
    assert gone["fr-1"] == gone["fr-2"] == ("read", "not_askable")
    assert not {name for _, _, name in models.sent} & {"fr-1", "fr-2"}
    card = json.loads((out / "card.json").read_text("utf-8"))
    assert {r["language"]: r["read"] for r in card["counts"]}["fr"] == 8
