"""Damaged and hostile logs: a right answer, a counted drop or a named refusal; never a traceback."""

from __future__ import annotations

import json
import math
import random
import shutil
import zipfile as plain_zipfile
from pathlib import Path

import pytest

from maskedadv.errors import (
    AmbiguousKey,
    BadMapping,
    BrokenLog,
    InputError,
    ItemInBothSubsets,
    ItemNotUnique,
    LogTooLarge,
    NothingToImport,
    UnknownModel,
    WrongFormat,
)
from maskedadv.scoring.importers.inspect import read_inspect
from maskedadv.scoring.importers.lighteval import read_lighteval
from maskedadv.scoring.importers.lm_eval import read_lm_eval
from maskedadv.scoring.importers.mapping import read_mapping
from maskedadv.scoring.importers.table import read_table

LOGS = Path(__file__).resolve().parents[2] / "data" / "logs"
MAP = """
[[task]]
pattern = 'toy_gen'
language = "en"
subset = "CA"
item = "generated/{doc.sample_id}"

[[task]]
pattern = 'toy_.*'
language = "en"
subset = "CA"
item = "{doc.id}{doc.specific.sample_id}"
"""
ODD = [
    None,
    [],
    {},
    0,
    -1,
    2**70,
    1.5,
    math.nan,
    math.inf,
    "",
    "x",
    "\ud800",
    True,
    [[1]],
    {"a": 1},
    "A" * 1000,
    "[0]",
]
TABLE = b'model,subset,language,item,correct\nm,CA,en,001,1\nm,CA,eu,001,0\nm,CS,en,"1,5",\nm,CS,eu,"1,5",1\n'


@pytest.fixture
def rules(tmp_path):
    path = tmp_path / "map.toml"
    path.write_text(MAP, encoding="utf-8")
    return read_mapping(path)


def write_log(folder, records):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "samples_global_mmlu_eu_x_2026-01-02T03-04-05.jsonl"
    path.write_text("".join(json.dumps(r) + "\n" for r in records), encoding="utf-8")
    return path


def record(n=0, **changes):
    doc = {"sample_id": f"s/{n}", "cultural_sensitivity_label": "CA"}
    arguments = {f"gen_args_{k}": {"arg_0": "Q", "arg_1": f" {c}"} for k, c in enumerate("ABC")}
    lps = [["-1.0", "True"], ["-2.0", "False"], ["-3.0", "False"]]
    base = {"doc_id": n, "doc": doc, "target": "A", "arguments": arguments, "resps": [[lp] for lp in lps]}
    return base | {"filtered_resps": lps, "filter": "none", "acc": 1.0} | changes


# --- damage at random ---------------------------------------------------------------------------


def flip(rng, data):
    """Change, drop, repeat or insert bytes."""
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 3, 40])):
        at = rng.randrange(len(data) or 1)
        kind = rng.random()
        if kind < 0.5 and data:
            data[at] = rng.randrange(256)
        elif kind < 0.65:
            del data[at : at + rng.randrange(1, 200)]
        elif kind < 0.8:
            data[at:at] = data[at : at + rng.randrange(1, 200)]
        elif kind < 0.9:
            data[at:at] = rng.choice([b"null", b"NaN", b"1e999", b'"', b"\\ud800", b"\x00", b"9" * 30])
        else:
            del data[at:]
    return bytes(data)


def replace_node(rng, node):
    """Put an odd value somewhere into nested JSON."""
    while isinstance(node, dict | list) and node:
        key = rng.choice(list(node)) if isinstance(node, dict) else rng.randrange(len(node))
        if rng.random() < 0.35 or not isinstance(node[key], dict | list) or not node[key]:
            node[key] = rng.choice(ODD)
            return
        node = node[key]


def damage(rng, path):
    data = path.read_bytes()
    if path.suffix == ".eval" and rng.random() < 0.5:
        with plain_zipfile.ZipFile(path) as old:
            members = {name: old.read(name) for name in old.namelist()}
        name = rng.choice(list(members))
        content = json.loads(members[name])
        replace_node(rng, content)
        with plain_zipfile.ZipFile(path, "w") as new:
            for each, raw in (members | {name: json.dumps(content).encode()}).items():
                new.writestr(each, raw)
        return
    if path.suffix in {".json", ".jsonl"} and rng.random() < 0.7:
        if path.suffix == ".json" or data.startswith(b"["):
            content = json.loads(data)
            replace_node(rng, content)
            path.write_bytes(json.dumps(content).encode())
        else:
            lines = [json.loads(line) for line in data.splitlines()]
            replace_node(rng, rng.choice(lines))
            path.write_bytes("\n".join(map(json.dumps, lines)).encode())
        return
    path.write_bytes(flip(rng, data))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("program", ["lm_eval", "lighteval", "inspect", "table"])
def test_damaged_logs_are_read_or_refused(tmp_path, rules, program, seed):
    rng = random.Random(f"{program} {seed}")
    read = {
        "lm_eval": lambda p: read_lm_eval([p], rules=rules, labels={"toy/test/2": "CA", "toy/test/5": "CS"}),
        "lighteval": lambda p: read_lighteval([p], rules=rules),
        "inspect": lambda p: read_inspect([p], allow_limited=True, epochs=rng.choice(["first", "mean"])),
        "table": lambda p: read_table([p / "t.csv"]),
    }[program]
    versions = [p for p in LOGS.iterdir() if p.name.startswith(program)]
    if program == "inspect":  # deflate: the test above rewrites archives with the standard library
        versions = [LOGS / "inspect_0.3.120"]
    refused = 0
    for n in range(25):
        folder = tmp_path / str(n)
        if program == "table":
            folder.mkdir()
            (folder / "t.csv").write_bytes(TABLE)
        else:
            shutil.copytree(rng.choice(versions), folder)
        for path in list(folder.rglob("*@*")):
            path.rename(path.with_name(path.name.replace("@", "|")))
        damage(rng, rng.choice(sorted(p for p in folder.rglob("*") if p.is_file())))
        try:
            answers = read(folder).answers
        except InputError:
            refused += 1
        else:
            assert len(answers)
            assert set(answers["subset"]) <= {"CA", "CS"}
    assert refused


# --- each by name -------------------------------------------------------------------------------


def test_a_results_file_of_a_later_run_does_not_name_the_model(tmp_path):
    """Up to 0.4.2 every run into a folder wrote results.json anew; the sample logs stayed."""
    for arguments, lp in (("pretrained=org/first", "-1.0"), ("pretrained=org/second", "-2.0")):
        name = arguments.replace("=", "__").replace("/", "__")
        sample = record(filtered_resps=[[lp, False], ["-3", False], ["-4", False]])
        path = tmp_path / f"{name}_global_mmlu_eu_x.jsonl"
        path.write_text(json.dumps([sample]), encoding="utf-8")
        meta = {"results": {}, "configs": {"global_mmlu_eu_x": {}}, "config": {"model_args": arguments}}
        (tmp_path / "results.json").write_text(json.dumps(meta), encoding="utf-8")
    with pytest.raises(UnknownModel, match="org__first"):
        read_lm_eval([tmp_path])
    second = read_lm_eval([tmp_path / "pretrained__org__second_global_mmlu_eu_x.jsonl"])
    assert second.answers["model"].tolist() == ["org/second"]


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"filtered_resps": [["-1.0", "True"]]}, BrokenLog, "3 options were asked, 1 answered"),
        ({"filtered_resps": [["x", 1], ["-2", 1], ["-3", 1]]}, BrokenLog, "no log-probabilities"),
        ({"filtered_resps": [[], ["-2", 1], ["-3", 1]]}, BrokenLog, "no log-probabilities"),
        ({"filtered_resps": "text"}, BrokenLog, "not a list"),
        ({"arguments": []}, BrokenLog, "not a list"),
        ({"arguments": 5}, BrokenLog, "not a list"),
        ({"doc": {"sample_id": "\ud800", "cultural_sensitivity_label": "CA"}}, BrokenLog, "half a character"),
        ({"doc": "no object"}, BadMapping, "no item id"),
        ({"doc": {"sample_id": ["a"], "cultural_sensitivity_label": "CA"}}, BadMapping, "holds a list"),
        ({"doc": {"sample_id": "  ", "cultural_sensitivity_label": "CA"}}, BadMapping, "no item id"),
        ({"target": "Z", "acc": 0.0}, None, "no right option"),
        ({"target": None, "acc": 0.0}, None, "no right option"),
        ({"target": "[", "acc": 0.0}, None, "no right option"),
        ({"filtered_resps": [["nan", 1], ["-2", 1], ["-3", 1]]}, None, "not finite"),
        ({"filtered_resps": [["-inf", 1], ["-2", 1], ["-3", 1]]}, None, "not finite"),
        ({"doc_id": 2**80}, None, None),
        ({"doc_id": "0"}, None, None),
        ({"resps": 5}, None, None),
        ({"acc": "1.0"}, None, None),
        ({"acc": math.nan}, None, None),
    ],
)
def test_records_that_are_odd(tmp_path, changes, error, message):
    path = write_log(tmp_path / "org__m", [record(**changes)])
    if error is not None:
        with pytest.raises(error, match=message) as caught:
            read_lm_eval([path])
        assert "half" in message or "record 1" in str(caught.value)
        return
    answers = read_lm_eval([path]).answers
    if message is None:
        assert answers["correct"].tolist() == [1]
    else:
        assert answers["correct"].isna().tolist() == [True]
        assert message in answers["reason"].iloc[0]


def test_ids_that_do_not_tell_questions_apart(tmp_path):
    docs = [{"sample_id": "same", "cultural_sensitivity_label": "CA", "q": q} for q in "ab"]
    with pytest.raises(ItemNotUnique, match="'same'"):
        read_lm_eval([write_log(tmp_path / "org__m", [record(n, doc=doc) for n, doc in enumerate(docs)])])
    labels = [{"sample_id": "same", "cultural_sensitivity_label": label} for label in ("CA", "CS")]
    with pytest.raises(ItemInBothSubsets, match="'same'"):
        read_lm_eval([write_log(tmp_path / "org__n", [record(n, doc=doc) for n, doc in enumerate(labels)])])


def test_questions_that_the_data_set_holds_twice(tmp_path):
    doc = record()["doc"]
    found = read_lm_eval([write_log(tmp_path / "org__m", [record(0, doc=doc), record(7, doc=doc)])])
    assert len(found.answers) == 1
    assert found.dropped["reason"].tolist() == ["question repeated in the data set"]


def test_an_unparsable_key_everywhere_is_not_an_accuracy_of_zero(tmp_path):
    samples = [record(n, target="Z", acc=0.0) for n in range(3)]
    found = read_lm_eval([write_log(tmp_path / "org__m", samples)])
    assert found.answers["correct"].isna().all()


def test_an_error_in_the_middle_of_a_log_names_its_line(tmp_path):
    path = write_log(tmp_path / "org__m", [record(n) for n in range(5)])
    lines = path.read_text(encoding="utf-8").splitlines()
    lines[2] = lines[2][:50]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    with pytest.raises(BrokenLog, match="line 3"):
        read_lm_eval([path])
    path.write_text("\n".join(lines[:3]), encoding="utf-8")
    found = read_lm_eval([path])
    assert len(found.answers) == 2
    assert found.dropped["reason"].tolist() == ["record cut off at the end of the file"]


def test_logs_of_other_programs(tmp_path):
    path = write_log(tmp_path / "org__m", [{"id": 1, "answer": "x"}])
    with pytest.raises(WrongFormat, match="its fields are id, answer"):
        read_lm_eval([path])
    with pytest.raises(WrongFormat):
        read_lm_eval([LOGS / "README.md"])
    archive = tmp_path / "samples_global_mmlu_eu_x.jsonl"
    shutil.copy(next((LOGS / "inspect_0.3.120" / "eval").glob("*")), archive)
    with pytest.raises(BrokenLog, match="zip archive"):
        read_lm_eval([archive], model="m")


def test_folders_without_logs_and_choices_without_matches(tmp_path):
    for read in (read_lm_eval, read_lighteval, read_inspect):
        with pytest.raises(NothingToImport, match="no log lies under"):
            read([tmp_path])
    write_log(tmp_path / "org__m", [record()])
    (tmp_path / "folder.jsonl").mkdir()
    with pytest.raises(NothingToImport, match="no logs of the tasks nothing"):
        read_lm_eval([tmp_path], tasks=["nothing"])
    with pytest.raises(NothingToImport, match="begins with '2031'; the runs are of 2026-01-02T03-04-05"):
        read_lm_eval([tmp_path], run="2031")


def test_links_to_folders_are_followed_once(tmp_path):
    """A model's folder is often a link to another disk; leaving it out would leave out the model."""
    write_log(tmp_path / "elsewhere" / "org__m", [record()])
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "org__m").symlink_to(tmp_path / "elsewhere" / "org__m")
    (tmp_path / "logs" / "again").symlink_to(tmp_path / "logs")
    (tmp_path / "logs" / "lost.jsonl").symlink_to(tmp_path / "nowhere")
    found = read_lm_eval([tmp_path / "logs"])
    assert found.logs["model"].tolist() == ["org/m"]
    assert len(found.answers) == 1


def test_a_log_written_twice_counts_once(tmp_path):
    path = write_log(tmp_path / "org__m", [record()])
    path.write_bytes(2 * path.read_bytes())
    found = read_lm_eval([path])
    assert len(found.answers) == 1
    assert found.dropped[["reason", "count"]].to_numpy().tolist() == [["same answer logged again", 1]]


def test_results_files_that_are_odd(tmp_path):
    folder = tmp_path / "org__m"
    path = write_log(folder, [record()])
    meta = folder / "results_2026-01-02T03-04-05.json"
    for content in ("{", "[" * 100_000, "\ufeff{"):
        meta.write_text(content, encoding="utf-8")
        with pytest.raises(BrokenLog, match="results file"):
            read_lm_eval([path])
    for odd in ODD:
        data = {
            "results": {"global_mmlu_eu_x": odd},
            "configs": {},
            "config": odd,
            "n-samples": odd,
            "n-shot": odd,
        }
        meta.write_text(json.dumps(data | {"model_name": "m", "date": odd}), encoding="utf-8")
        assert len(read_lm_eval([path]).answers) == 1


def test_a_real_zip_bomb(tmp_path):
    """A third of a MiB that would unpack to 300 MiB is refused from its directory alone."""
    path = tmp_path / "a.eval"
    with plain_zipfile.ZipFile(path, "w", plain_zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        with archive.open("samples/a_epoch_1.json", "w") as member:
            for _ in range(300):
                member.write(b" " * 2**20)
        header = {"status": "success", "eval": {"task": "t", "model": "m"}}
        archive.writestr("header.json", json.dumps(header))
    with pytest.raises(LogTooLarge, match="would unpack to 300 MiB"):
        read_inspect([path])


def test_a_member_that_lies_about_its_size(tmp_path):
    path = tmp_path / "a.eval"
    with plain_zipfile.ZipFile(path, "w", plain_zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(
            "header.json", json.dumps({"status": "success", "eval": {"task": "t", "model": "m"}})
        )
        archive.writestr("samples/a_epoch_1.json", json.dumps({"id": "x", "pad": "y" * 10_000}))
    raw = bytearray(path.read_bytes())
    size = (10_000 + len(json.dumps({"id": "x", "pad": ""}))).to_bytes(4, "little")
    assert raw.count(size) == 2
    path.write_bytes(bytes(raw).replace(size, (100).to_bytes(4, "little")))
    with pytest.raises(BrokenLog):
        read_inspect([path])


def test_scores_that_no_reading_explains_are_not_imported(tmp_path):
    samples = [record(n, target=str(n % 3), acc=float(n % 2)) for n in range(6)]
    with pytest.raises(AmbiguousKey):
        read_lm_eval([write_log(tmp_path / "org__m", samples)])
