"""Tables that could not be read, or lost something: tests/data/cases/tables, each with what is expected."""

from __future__ import annotations

import csv
import gzip
import json
import zipfile
from pathlib import Path

import pandas as pd
import pytest

from maskedadv.cli.main import main
from maskedadv.errors import (
    AmbiguousKey,
    BadMapping,
    BadValue,
    DuplicateRows,
    LogTooLarge,
    MissingColumn,
    MixedRuns,
    UnknownSubset,
    WrongFormat,
)
from maskedadv.responses import read_responses
from maskedadv.scoring.importers.table import read_table
from maskedadv.scoring.importers.table_mapping import read_table_mapping

CASES = Path(__file__).resolve().parents[2] / "data" / "cases" / "tables"


@pytest.fixture
def take(tmp_path):
    """Import with a mapping given as text; (model, language, item) -> 1, 0 or None."""

    def call(*paths, mapping="", **options):
        if mapping:
            (tmp_path / "map.toml").write_text(mapping, encoding="utf-8")
            options["mapping"] = read_table_mapping(tmp_path / "map.toml")
        return read_table(list(paths), **({"subset": "CA"} | options))

    return call


def outcomes(imported):
    table = imported.answers
    values = [None if pd.isna(v) else int(v) for v in table["correct"]]
    return dict(zip(zip(table["model"], table["language"], table["item"], strict=True), values, strict=True))


def by_item(imported):
    return {item: value for (_, _, item), value in outcomes(imported).items()}


KEYED = '[columns]\nitem = "id"\n[fixed]\nmodel = "gpt-x"\nlanguage = "ko"\nsubset = "CS"\n'


def test_key_and_prediction(take):
    mapping = KEYED + '[answers]\nkey = "answer"\ngiven = "pred"\nmissing = ["FAILED", "FILTERED"]\n'
    found = take(CASES / "table_key_and_prediction" / "gpt-x.csv", mapping=mapping)
    assert by_item(found) == {"q1": 1, "q2": 0, "q3": None, "q4": None, "q5": None, "q6": 1, "q7": 1}
    assert found.answers["reason"].tolist()[2:5] == ["no answer given"] * 3


@pytest.mark.parametrize(
    ("rows", "said", "expected"),
    [
        ("A,The answer is A.|B,Answer: C|C,no idea", "", [1, 0, None]),  # written answers, read
        ("0,A|3,D|1,C|2,C", "", [1, 1, 0, 1]),  # numbers from 0 against letters
        ("1,A|4,D|2,C|3,C", "", [1, 1, 0, 1]),  # from 1, since 4 is the number of letters
        ("1,1|3,3|2,1", "", [1, 1, 0]),  # numbers on both sides, whatever they count from
        ("1,A|2,B", "first = 1", [1, 1]),
        ("1,A|2,B", "first = 0", [0, 0]),
        ("(a),a)|B.,**B**|Ｃ,c", "", [1, 1, 1]),
        (
            "Paris,paris.|Rome,Oslo|Wien,It is Wien",
            "",
            [1, 0, None],
        ),  # texts; one that holds the key is neither
        ("12,12|40,41", "", [1, 0]),  # numbers that are no positions
    ],
)
def test_conventions_of_keys_and_answers(take, tmp_path, rows, said, expected):
    lines = "".join(f"q{n},{row}\n" for n, row in enumerate(rows.split("|")))
    (tmp_path / "t.csv").write_text("id,answer,pred\n" + lines, encoding="utf-8")
    found = take(tmp_path / "t.csv", mapping=KEYED + f'[answers]\nkey = "answer"\ngiven = "pred"\n{said}\n')
    assert list(by_item(found).values()) == expected


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("1,A|2,C", "nothing tells whether they count options from 0 or from 1"),
        ("0,1|1,2|2,3|3,4", "the key's numbers begin with 0, the given ones with 1"),
        ("Paris,A|Rome,B", "say where the options' texts are"),
    ],
)
def test_conventions_that_nothing_tells_are_refused(take, tmp_path, rows, message):
    lines = "".join(f"q{n},{row}\n" for n, row in enumerate(rows.split("|")))
    (tmp_path / "t.csv").write_text("id,answer,pred\n" + lines, encoding="utf-8")
    with pytest.raises(AmbiguousKey, match=message):
        take(tmp_path / "t.csv", mapping=KEYED + '[answers]\nkey = "answer"\ngiven = "pred"\n')


def test_options_tell_texts_from_letters(take, tmp_path):
    body = 'id,A,B,C,answer,pred\nq1,2,3,5,5,C\nq2,7,9,4,9,9\nq3,1,6,8,8,"A"\nq4,33,1,2,33,B\n'
    (tmp_path / "t.csv").write_text(body, encoding="utf-8")
    mapping = KEYED + '[answers]\nkey = "answer"\ngiven = "pred"\noptions = ["A", "B", "C"]\n'
    found = take(tmp_path / "t.csv", mapping=mapping)
    assert by_item(found) == {"q1": 1, "q2": 1, "q3": 0, "q4": 0}
    assert set(found.answers["n_options"]) == {3}
    record = {"id": "q1", "options": ["Bilbao", "Iruña"], "answer": "Iruña", "pred": "B"}
    (tmp_path / "t.jsonl").write_text(json.dumps(record) + "\n", encoding="utf-8")
    mapping = mapping.replace('["A", "B", "C"]', '"options"')
    assert by_item(take(tmp_path / "t.jsonl", mapping=mapping)) == {"q1": 1}


def test_a_key_in_another_file(take, tmp_path):
    (tmp_path / "t.csv").write_text("id,pred\nq1,A\nq2,B\nq3,C\n", encoding="utf-8")
    (tmp_path / "keys.jsonl").write_text('{"id": "q1", "answer": "A"}\n{"id": "q2", "answer": "C"}\n')
    mapping = KEYED + '[answers]\nkey = "answer"\ngiven = "pred"\nkey_file = "keys.jsonl"\n'
    found = take(tmp_path / "t.csv", mapping=mapping)
    assert by_item(found) == {"q1": 1, "q2": 0, "q3": None}
    assert found.answers["reason"].tolist() == ["", "", "no right option"]
    (tmp_path / "keys.jsonl").write_text('{"id": "q1", "answer": "A"}\n{"id": "q1", "answer": "C"}\n')
    with pytest.raises(BadMapping, match="'q1' has two keys, 'A' and 'C'"):
        take(tmp_path / "t.csv", mapping=mapping)


PATH = "[path]\npattern = '(?P<model>[^/]+)/(?P<set>.+)\\.csv'\n[columns]\nitem = \"{set}/{id}\"\n"


def test_path_as_source(take, monkeypatch):
    expected = {
        ("model-a", "eu", "history/1"): 1, ("model-a", "eu", "history/2"): 0,
        ("model-a", "eu", "law/1"): 0, ("model-a", "eu", "law/2"): 0,
        ("model-b", "eu", "history/1"): 1, ("model-b", "eu", "history/2"): 1,
    }  # fmt: skip
    folder = CASES / "table_path_as_source"
    assert outcomes(take(folder / "results", mapping=PATH)) == expected
    assert outcomes(take(*sorted(folder.glob("results/*/*.csv")), mapping=PATH)) == expected
    parts = '[columns]\nmodel = "{path.-2}"\nitem = "{stem}/{id}"\n'
    assert outcomes(take(folder / "results", mapping=parts)) == expected
    monkeypatch.chdir(folder)
    first = '[columns]\nmodel = "{path.1}"\nitem = "{stem}/{id}"\n'
    assert outcomes(take(Path("results"), mapping=first)) == expected
    assert outcomes(take(*Path("results").rglob("*.csv"), mapping=first)) == expected
    with pytest.raises(BadMapping, match=r"no part \{path.7\} \(there are: path.0 results, path.1 model-a"):
        take(Path("results"), mapping=first.replace("path.1", "path.7"))
    with pytest.raises(BadMapping, match="does not fit"):
        take(Path("results"), mapping=PATH.replace(r"\.csv", r"\.tsv"))
    with pytest.raises(MissingColumn, match=r"\{sett\} in the mapping is neither"):
        take(Path("results"), mapping=PATH.replace("{set}", "{sett}"))


def test_folders_by_name_and_encoded(take, tmp_path):
    for model in ("org%2Fm", "n"):
        place = tmp_path / "out" / f"model={model}" / "language=eu"
        place.mkdir(parents=True)
        (place / "part.csv").write_text("item,correct\n1,1\n")
    (tmp_path / "out" / "README.md").write_text("words")
    found = take(tmp_path / "out")
    assert outcomes(found) == {("org/m", "eu", "1"): 1, ("n", "eu", "1"): 1}
    assert any("README.md" in note for note in found.notes)


def test_records_under_a_key(take):
    folder = CASES / "table_records_under_a_key"
    mapping = '[records]\nat = "results"\n[columns]\nitem = "sample_id"\nmodel = "{metadata.model}"\n'
    found = take(folder / "nested.json", mapping=mapping, language="en")
    assert outcomes(found) == {("m", "en", f"q{n}"): (n + 1) % 2 for n in range(4)}
    mapping = '[records]\nat = "."\n[fixed]\nmodel = "m"\nlanguage = "en"\n[answers]\nkey = "gold"\n'
    found = take(folder / "numbered.json", mapping=mapping + 'given = "prediction"\n')
    assert by_item(found) == {"0": 0, "1": 1, "2": 0, "3": 1}
    with pytest.raises(
        WrongFormat, match=r"one JSON object with the keys metadata, results; .*\[records\] at"
    ):
        take(folder / "nested.json", model="m", language="en")
    with pytest.raises(
        BadMapping, match=r"'answers' leads nowhere; the file is one JSON object with the keys"
    ):
        take(folder / "nested.json", mapping=mapping.replace('"."', '"answers"') + 'given = "prediction"\n')


def test_records_deep_inside(take, tmp_path):
    data = {"runs": {"m": {"q1": {"res": {"ok": 1}}}, "n": {"q1": {"res": {"ok": 0}}}}}
    (tmp_path / "t.json").write_text(json.dumps(data))
    mapping = '[records]\nat = "runs.*"\n[columns]\nmodel = "{key.0}"\nitem = "{key}"\ncorrect = "res.ok"\n'
    assert outcomes(take(tmp_path / "t.json", mapping=mapping, language="eu")) == {
        ("m", "eu", "q1"): 1,
        ("n", "eu", "q1"): 0,
    }
    (tmp_path / "t.json").write_text(json.dumps({"m": {"q1": True, "q2": None}}))
    mapping = '[records]\nat = "*"\n[columns]\nmodel = "{key.0}"\nitem = "{key.1}"\ncorrect = "value"\n'
    assert by_item(take(tmp_path / "t.json", mapping=mapping, language="eu")) == {"q1": 1, "q2": None}


def test_words_for_right_and_missing(take):
    path = CASES / "table_words_for_right_and_missing" / "t.csv"
    words = '[values]\nCorrect = 1\nIncorrect = 0\nFAILED = ""\nNA = ""\nyes = true\n"-1" = ""\n'
    expected = {"0": 1, "1": 0, "2": None, "3": None, "4": None, "5": 1, "6": None}
    assert by_item(take(path, mapping=words)) == expected
    with pytest.raises(BadValue) as told:
        take(path)
    listed = "'-1' (1), 'Correct' (1), 'FAILED' (1), 'Incorrect' (1), 'NA' (1), 'yes' (1)"
    assert "6 values are not 0, 1, true, false or empty (row 1: 'Correct'" in str(told.value)
    assert f'[values] in a mapping, 1, 0 or "": {listed}' in str(told.value)
    with pytest.raises(BadMapping, match=r"Correct must be 1 .right., 0 .wrong. or"):
        take(path, mapping='[values]\nCorrect = "yes"\n')


def test_labels_that_are_neither_are_all_named_in_order(take, tmp_path):
    (tmp_path / "t.csv").write_text(
        "model,subset,language,item,correct\n" + "".join(f"m,{s},en,{n},1\n" for n, s in enumerate("zyxwvz"))
    )
    with pytest.raises(
        UnknownSubset, match=r"5 labels .*'v' \(1\), 'w' \(1\), 'x' \(1\), 'y' \(1\), 'z' \(2\)"
    ):
        take(tmp_path / "t.csv", subset=None)


def test_messages_list_all_columns(take):
    for name in ("t.jsonl", "t.csv"):
        path = CASES / "table_message_lists_only_mapped_columns" / name
        with pytest.raises(MissingColumn, match=r"found: system, question_id, score"):
            take(path)


def test_the_same_answer_in_two_files(take, tmp_path):
    folder = CASES / "table_message_two_files_one_answer"
    with pytest.raises(MixedRuns) as told:
        take(folder / "a.csv", folder / "b.csv")
    assert "a.csv" in str(told.value)
    assert "b.csv" in str(told.value)
    assert "--task" not in str(told.value)
    (tmp_path / "c.csv").write_text((folder / "a.csv").read_text())
    found = take(folder / "a.csv", tmp_path / "c.csv")
    assert len(found.answers) == 1
    assert found.dropped["count"].tolist() == [1]


def test_repeated_rows(take, tmp_path):
    path = CASES / "table_repeated_rows" / "t.csv"
    found = take(path)
    assert by_item(found) == {"1": 1, "2": 0}
    assert dict(zip(found.dropped["reason"], found.dropped["count"], strict=True)) == {
        "same answer logged again": 2
    }
    (tmp_path / "t.csv").write_text(path.read_text().replace("m,en,2,0\nm,en,1,1", "m,en,2,0\nm,en,1,0"))
    with pytest.raises(DuplicateRows, match=r"row 1 \(1\) and row 3 \(0\) of item '1'"):
        take(tmp_path / "t.csv")


@pytest.mark.parametrize(
    ("name", "first", "items"), [("lost", "system_x", 9_000), ("refused", "model", 12_000)]
)
def test_headers_over_64_kib(take, tmp_path, name, first, items):
    names = [f"q{i:06d}" if name == "lost" else f"q{i}" for i in range(items)]
    with (tmp_path / "t.csv").open("w", newline="") as file:
        rows = [[m, *[(i + (m == "m2")) % 2 for i in range(items)]] for m in ("m1", "m2")]
        csv.writer(file).writerows([[first, *names], *rows])
    mapping = (CASES / "csv_header_over_64k" / f"{name}.toml").read_text()
    found = outcomes(take(tmp_path / "t.csv", mapping=mapping))
    assert found == {(m, "en", q): (i + (m == "m2")) % 2 for m in ("m1", "m2") for i, q in enumerate(names)}


@pytest.mark.parametrize("name", ["excel_sep", "blank_line", "utf16", "latin1", "mac_cr"])
def test_check_and_import_read_the_same_csv(take, name):
    path = CASES / "csv_reader_of_import_is_weaker" / f"{name}.csv"
    answers = []
    for read in (
        lambda: read_responses(path).items.tolist(),
        lambda: sorted(set(take(path).answers["item"])),
    ):
        try:
            answers.append(read())
        except Exception as error:  # both refuse alike
            answers.append(("UTF-16" in str(error), str(path) in str(error)))
    assert answers[0] == answers[1]
    assert (name in {"excel_sep", "blank_line", "mac_cr"}) == isinstance(answers[0], list)


def test_r_and_json_lines_given_to_check(capsys):
    folder = CASES / "table_r_and_json"
    assert read_responses(folder / "r.csv").models.tolist()[0] == "org/model-a"
    with pytest.raises(SystemExit) as stop:
        main(["check", str(folder / "rows.jsonl")])
    assert stop.value.code == 2
    assert "maskedadv import table" in capsys.readouterr().err


def test_patterns(take, tmp_path):
    (tmp_path / "t.csv").write_text("name,lang,resp\nm,en,01.1\nn,eu,1109\n")
    mapping = '[columns]\nmodel = "name"\nlanguage = "lang"\nitem = "item{n}"\n[patterns]\ncolumn = "resp"\n'
    found = outcomes(take(tmp_path / "t.csv", mapping=mapping))
    assert [found["m", "en", f"item{n}"] for n in (1, 2, 3, 4)] == [0, 1, None, 1]
    assert [found["n", "eu", f"item{n}"] for n in (1, 2, 3, 4)] == [1, 1, 0, None]
    (tmp_path / "t.csv").write_text("name,lang,resp\nm,en,01.1\nk,en,1111\nn,eu,110\n")
    with pytest.raises(
        BadValue, match=r"1 patterns are not as long as the others \(row 3: 3 signs, the others 4\)"
    ):
        take(tmp_path / "t.csv", mapping=mapping.replace('item = "item{n}"\n', ""))
    (tmp_path / "t.csv").write_text("name,lang,resp,key\nm,en,ABCA,ABDA\n")
    with pytest.raises(BadValue, match=r"'A' \(2\), 'B' \(1\), 'C' \(1\)"):
        take(tmp_path / "t.csv", mapping=mapping)


def test_packed_tables_and_bombs(take, tmp_path):
    text = "model,language,item,correct\nm,en,1,1\n"
    (tmp_path / "t.jsonl.gz").write_bytes(
        gzip.compress(b'{"model":"m","language":"en","item":1,"correct":1}\n')
    )
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
        archive.writestr("a/b.csv", text)
        archive.writestr("readme.md", "words")
    for name in ("t.jsonl.gz", "t.zip"):
        assert outcomes(take(tmp_path / name)) == {("m", "en", "1"): 1}
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("b.csv", text + " " * 40_000_000)
    with pytest.raises(LogTooLarge, match="more than 250 times its size"):
        take(tmp_path / "bomb.zip")
    (tmp_path / "bomb.jsonl.gz").write_bytes(gzip.compress(b" " * 40_000_000))
    with pytest.raises(LogTooLarge, match="more than 250 times its size"):
        take(tmp_path / "bomb.jsonl.gz")


def test_the_input_is_never_replaced(tmp_path, capsys):
    path = tmp_path / "n.csv"
    text = "model,subset,language,item,correct\nm,CA,en,1,1\n"
    path.write_text(text)
    for source in (path, tmp_path):
        with pytest.raises(SystemExit) as stop:
            main(["import", "table", str(source), "-o", str(path), "--overwrite"])
        assert stop.value.code == 2
        assert "is not replaced" in capsys.readouterr().err
    assert path.read_text() == text
