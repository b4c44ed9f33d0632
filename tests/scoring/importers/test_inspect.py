"""Inspect's logs: real archives of both compressions, JSON, epochs, every kind of score, and broken ones."""

from __future__ import annotations

import json
import math
import sys
import zipfile as plain_zipfile
from pathlib import Path

import pytest

from maskedadv.errors import (
    BadMapping,
    BadSetting,
    BadValue,
    BrokenLog,
    LimitedRun,
    LogTooLarge,
    MixedRuns,
    PackageMissing,
    UnreadableFile,
    WrongFormat,
)
from maskedadv.responses import read_responses
from maskedadv.scoring.importers import archives, inspect_files, jsonstream
from maskedadv.scoring.importers.inspect import read_inspect
from maskedadv.scoring.importers.mapping import read_mapping

LOGS = Path(__file__).resolve().parents[2] / "data" / "logs"
LABELS = {f"toy/test/{i}": ["CA", "CS", "CA"][i % 3] for i in range(6)}
zstd = pytest.mark.skipif(
    inspect_files.zipfile is plain_zipfile and sys.version_info < (3, 14),
    reason="backports.zstd is not installed",
)


def header(path):
    return inspect_files.read_header(path)


@zstd
@pytest.mark.parametrize("version", ["0.3.120", "0.3.285"])
@pytest.mark.parametrize("case", ["eval", "json"])
def test_accuracy_is_what_inspect_reports(version, case):
    logs = sorted((LOGS / f"inspect_{version}").glob(f"{case}/*"))
    if not logs:
        pytest.skip("this version's JSON log is not kept")
    for path in logs:
        found = read_inspect([path], labels=LABELS)
        reported = header(path)["results"]["scores"][0]["metrics"]["accuracy"]["value"]
        assert found.answers["correct"].mean() == pytest.approx(reported, abs=1e-12)
        assert found.answers["item"].tolist() == [f"toy/test/{i}" for i in range(6)]
        assert set(found.answers["n_options"]) == {4}
        assert set(found.answers["model"]) == {"mockllm/m"}


@zstd
def test_the_two_compressions_and_json_hold_the_same():
    cases = ["inspect_0.3.120/eval", "inspect_0.3.285/eval", "inspect_0.3.285/json"]
    tables = [read_inspect([LOGS / case], tasks=["toy_en"]).answers for case in cases]
    assert len(tables[0]) == 4
    assert all(table.equals(tables[0]) for table in tables)
    assert plain_zipfile.ZipFile(next((LOGS / cases[0]).glob("*en*"))).infolist()[0].compress_type == 8
    assert plain_zipfile.ZipFile(next((LOGS / cases[1]).glob("*en*"))).infolist()[0].compress_type == 93


@zstd
def test_epochs():
    (path,) = (LOGS / "inspect_0.3.285" / "epochs").glob("*.eval")
    first = read_inspect([path], labels=LABELS)
    assert len(first.answers) == 6
    assert first.dropped.set_index("reason")["count"].to_dict() == {"later epoch": 12}
    mean = read_inspect([path], labels=LABELS, epochs="mean")
    reported = header(path)["results"]["scores"][0]["metrics"]["accuracy"]["value"]
    assert mean.answers["p_correct"].mean() == pytest.approx(reported, abs=1e-12)
    assert set(mean.answers["p_correct"].round(3)) - {0.0, 1.0}  # epochs do differ
    assert "correct" not in mean.answers
    # The first epoch by hand: the mock model answers A B D C A A, then goes on in steps of five.
    samples = [s for s in inspect_files.read_samples(path) if s["epoch"] == 1]
    assert first.answers["correct"].tolist() == [int(s["scores"]["choice"]["value"] == "C") for s in samples]


@zstd
def test_no_answer_is_not_incorrect_and_partial_credit_is_neither():
    found = read_inspect([LOGS / "inspect_0.3.285" / "values"], labels=LABELS)
    # The scorer gives C, I, P, N, C, I.
    assert found.answers["correct"].astype(object).where(found.answers["correct"].notna(), None).tolist() == (
        [1, 0, None, None, 1, 0]
    )
    assert found.answers["reason"].tolist()[2:4] == ["partly right", "no answer (N)"]
    mean = read_inspect([LOGS / "inspect_0.3.285" / "values"], labels=LABELS, epochs="mean").answers
    assert mean["p_correct"].tolist()[:3] == [1.0, 0.0, 0.5]
    assert math.isnan(mean["p_correct"].iloc[3])


@zstd
def test_output_is_a_valid_response_table(tmp_path):
    found = read_inspect([LOGS / "inspect_0.3.120" / "eval"])
    found.answers.to_parquet(tmp_path / "a.parquet")
    assert len(read_responses(tmp_path / "a.parquet").correct) == 8


def test_without_the_zstd_package_only_zstd_archives_are_refused(monkeypatch):
    if sys.version_info >= (3, 14):
        pytest.skip("zstd is part of this Python")
    monkeypatch.setattr(inspect_files, "zipfile", plain_zipfile)
    assert len(read_inspect([LOGS / "inspect_0.3.120" / "eval"]).answers) == 8
    with pytest.raises(PackageMissing, match=r"pip install backports\.zstd"):
        read_inspect([LOGS / "inspect_0.3.285" / "eval"])


# --- logs made here -----------------------------------------------------------------------------


def sample(n=0, value="C", epoch=1, **changes):
    metadata = {"language": "eu", "subset": "CA"}
    score = {"choice": {"value": value, "answer": "A"}}
    return {
        "id": f"s/{n}",
        "epoch": epoch,
        "choices": ["a", "b"],
        "scores": score,
        "metadata": metadata,
    } | changes


def head(task="toy", *, status="success", limit=None, args=None, **changes):
    spec = {"task": task, "model": "org/m", "created": "2026-01-02T03:04:05", "task_args": args or {}}
    return {
        "status": status,
        "eval": spec | {"config": {"limit": limit}, "dataset": {"samples": 9}},
    } | changes


def write_eval(path, samples, top=None, **settings):
    with plain_zipfile.ZipFile(path, "w", plain_zipfile.ZIP_DEFLATED) as archive:
        for n, one in enumerate(samples):
            archive.writestr(f"samples/{one.get('id', n)}_epoch_{one.get('epoch', 1)}.json", json.dumps(one))
        archive.writestr("header.json", json.dumps(top or head(**settings)))
    return path


def write_json(path, samples, top=None, **settings):
    path.write_text(json.dumps((top or head(**settings)) | {"samples": samples}), encoding="utf-8")
    return path


def outcomes(path, **options):
    correct = read_inspect([path], **options).answers["correct"]
    return correct.astype(object).where(correct.notna(), None).tolist()


def test_every_kind_of_value(tmp_path):
    values = ["C", "I", "P", "N", True, False, 1, 0, 1.0, 0.0, 0.25]
    path = write_json(tmp_path / "a.json", [sample(n, value) for n, value in enumerate(values)])
    assert outcomes(path) == [1, 0, None, None, 1, 0, 1, 0, 1, 0, None]


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        ("maybe", BadValue, "neither C, I, P, N nor a number"),
        (7, BadValue, "not between 0 and 1"),
        (-1, BadValue, "not between 0 and 1"),
        ([1, 0], BadValue, "nor a number"),
        ({"a": 1, "b": 0}, BadSetting, r"several values \(a, b\).*--scorer choice.a"),
    ],
)
def test_values_that_are_no_outcome(tmp_path, value, error, message):
    with pytest.raises(error, match=message):
        read_inspect([write_json(tmp_path / "a.json", [sample(0, value)])])


def test_scores_by_name(tmp_path):
    scores = {"match": {"value": "I"}, "judge": {"value": {"strict": 0, "kind": 1}}}
    path = write_json(tmp_path / "a.json", [sample(0, scores=scores)])
    with pytest.raises(BadSetting, match=r"several scores \(match, judge\); choose with --scorer"):
        read_inspect([path])
    assert outcomes(path, scorer="match") == [0]
    assert outcomes(path, scorer="judge.kind") == [1]
    with pytest.raises(BadSetting, match="no score 'other'"):
        read_inspect([path], scorer="other")


def test_failed_and_unscored_samples_are_not_observed(tmp_path):
    samples = [sample(0, scores={}, error={"message": "x"}), sample(1, scores=None), sample(2, math.nan)]
    found = read_inspect([write_json(tmp_path / "a.json", samples)])
    assert found.answers["reason"].tolist() == ["sample failed", "not scored", "not scored"]


def test_answers_that_state_no_option_are_noted(tmp_path):
    samples = [sample(0, "I", scores={"choice": {"value": "I", "answer": ""}}), sample(1, "I")]
    found = read_inspect([write_json(tmp_path / "a.json", samples)])
    assert any("1 answers scored as incorrect state no option" in note for note in found.notes)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"status": "cancelled"}, "status 'cancelled'"),
        ({"limit": 3}, r"limited \(3\)"),
        ({"limit": [2, 5]}, r"limited \(\[2, 5\]\)"),
        ({"invalidated": True}, "invalidated"),
    ],
)
def test_incomplete_runs(tmp_path, settings, message):
    path = write_eval(tmp_path / "a.eval", [sample()], **settings)
    with pytest.raises(LimitedRun, match=message):
        read_inspect([path])
    assert outcomes(path, allow_limited=True) == [1]


def test_a_limit_beyond_the_data_set_is_none(tmp_path):
    assert outcomes(write_eval(tmp_path / "a.eval", [sample()], limit=9)) == [1]


def test_killed_runs_have_no_header(tmp_path):
    path = tmp_path / "a.eval"
    with plain_zipfile.ZipFile(path, "w") as archive:
        start = head()
        del start["status"]
        archive.writestr("_journal/start.json", json.dumps(start))
        archive.writestr("samples/s/0_epoch_1.json", json.dumps(sample()))
    with pytest.raises(LimitedRun, match="'started'"):
        read_inspect([path])
    assert outcomes(path, allow_limited=True) == [1]


def test_tasks_with_other_arguments_are_other_tasks(tmp_path):
    for code in ("eu", "en"):
        one = sample(metadata={"subset": "CA"})
        write_eval(tmp_path / f"{code}.eval", [one], task="suite/quiz", args={"code": code})
    rules = tmp_path / "map.toml"
    text = "[[task]]\npattern = 'quiz'\nlanguage = '{task_args.code}'\nsubset = 'CS'\nitem = '{id}'\n"
    rules.write_text(text, encoding="utf-8")
    found = read_inspect([tmp_path], rules=read_mapping(rules))
    assert sorted(found.answers["language"]) == ["en", "eu"]
    assert sorted(found.answers["task"]) == ["suite/quiz(code=en)", "suite/quiz(code=eu)"]
    with pytest.raises(BadMapping, match="no language"):
        read_inspect([tmp_path])


def test_samples_without_a_label(tmp_path):
    path = write_json(tmp_path / "a.json", [sample(0, metadata={"language": "eu"}), sample(1)])
    assert read_inspect([path]).dropped["count"].tolist() == [1]
    assert read_inspect([path], subset="CS").answers["subset"].tolist() == ["CS", "CA"]
    marked = write_json(
        tmp_path / "b.json", [sample(0, metadata={"language": "eu", "subset": "-"}), sample(1)]
    )
    assert read_inspect([marked], subset="CS").answers["subset"].tolist() == ["CA"]
    with pytest.raises(BadMapping, match="'Euskara hau', which is no language code"):
        read_inspect([write_json(tmp_path / "c.json", [sample(metadata={"language": "Euskara hau"})])])


def test_the_same_sample_twice(tmp_path):
    with pytest.raises(MixedRuns, match=r"1 samples have the id and epoch of another \(s/0\)"):
        read_inspect([write_json(tmp_path / "a.json", [sample(), sample(0, "I")])])


def test_newest_log_of_a_task(tmp_path):
    old = head()
    old["eval"]["created"] = "2025-01-01T00:00:00"
    write_json(tmp_path / "a.json", [sample(0, "I")], old)
    write_json(tmp_path / "b.json", [sample(0, "C")])
    assert outcomes(tmp_path) == [1]
    assert outcomes(tmp_path, run="2025") == [0]


def test_json_that_is_cut_off(tmp_path):
    path = write_json(tmp_path / "a.json", [sample(n) for n in range(3)])
    text = path.read_text(encoding="utf-8")
    path.write_text(text[: text.rindex('"scores"')], encoding="utf-8")
    found = read_inspect([path])
    assert len(found.answers) == 2
    assert found.dropped["reason"].tolist() == ["record cut off at the end of the file"]
    assert found.dropped["count"].tolist() == [1]


def test_zip_bombs_are_refused_before_they_unpack(tmp_path, monkeypatch):
    path = tmp_path / "a.eval"
    monkeypatch.setattr(archives, "SMALL", 2**20)
    with plain_zipfile.ZipFile(path, "w", plain_zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        archive.writestr("header.json", json.dumps(head()))
        archive.writestr("samples/s_epoch_1.json", b" " * 2**24)
    with pytest.raises(LogTooLarge, match="would unpack to 16 MiB"):
        read_inspect([path])


def test_members_that_are_larger_than_any_sample(tmp_path, monkeypatch):
    path = write_eval(tmp_path / "a.eval", [sample(0, messages=["x" * 5000])])
    monkeypatch.setattr(inspect_files, "MAX_RECORD", 4000)
    with pytest.raises(LogTooLarge, match=r"member samples/s/0_epoch_1\.json"):
        read_inspect([path])
    text = write_json(tmp_path / "b.json", [sample(0, messages=["x" * 2_000_000])])
    monkeypatch.setattr(jsonstream, "MAX_RECORD", 4000)
    with pytest.raises(LogTooLarge):
        read_inspect([text])


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b"", BrokenLog),
        (b"not a zip", BrokenLog),
        (b"PK\x03\x04 not really", BrokenLog),
        (None, BrokenLog),  # a real archive, cut
    ],
)
def test_broken_archives(tmp_path, content, error):
    path = write_eval(tmp_path / "a.eval", [sample()])
    path.write_bytes(path.read_bytes()[:-30] if content is None else content)
    with pytest.raises(error):
        read_inspect([path])


def test_damaged_members(tmp_path):
    path = write_eval(tmp_path / "a.eval", [sample()])
    raw = bytearray(path.read_bytes())
    raw[80:90] = b"\x00" * 10
    path.write_bytes(raw)
    with pytest.raises(BrokenLog, match="cannot be unpacked"):
        read_inspect([path])
    with plain_zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", json.dumps(head()))
        archive.writestr("samples/a_epoch_1.json", b'{"id": "\xff"}')
    with pytest.raises(BrokenLog, match="not UTF-8 JSON"):
        read_inspect([path])
    with plain_zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", json.dumps(head()))
        archive.writestr("samples/a_epoch_1.json", "[1]")
    with pytest.raises(BrokenLog, match="a JSON list"):
        read_inspect([path])


def test_what_is_no_log_of_inspect(tmp_path):
    (tmp_path / "a.jsonl").write_text("{}", encoding="utf-8")
    (tmp_path / "b.json").write_text("[1]", encoding="utf-8")
    (tmp_path / "c.json").write_text('{"eval": 3}', encoding="utf-8")
    for name in ("a.jsonl", "b.json", "c.json"):
        with pytest.raises(WrongFormat, match=r"not a log of Inspect|one JSON object"):
            read_inspect([tmp_path / name])
    write_json(tmp_path / "d.json", [sample()])
    assert outcomes(tmp_path) == [1]  # in a folder the others are passed over
    with pytest.raises(UnreadableFile):
        read_inspect([tmp_path / "none.eval"])
    with pytest.raises(BrokenLog, match="not a sample with an id"):
        read_inspect([write_json(tmp_path / "e.json", [{"epoch": 1}], task="e")])
