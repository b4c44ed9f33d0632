"""`import table --guess`: the shapes that result files have, each read right without an edit."""

from __future__ import annotations

import csv
import io
import json
import random
import zipfile

import pytest

from maskedadv.cli.main import main
from maskedadv.errors import InputError
from maskedadv.scoring.importers.table import read_table
from maskedadv.scoring.importers.table_guess import guess_mapping
from maskedadv.scoring.importers.table_mapping import read_table_mapping

ITEMS = 24
MODELS = ("model-a", "org/model-b")
LANGUAGES = ("en", "eu")


def truth():
    """(model, language, item) -> right or wrong, at random."""
    dice = random.Random(5)
    return {(m, k, i): dice.random() < 0.6 for m in MODELS for k in LANGUAGES for i in range(ITEMS)}


TRUTH = truth()
KEYS = {i: (7 * i + 3) % 4 for i in range(ITEMS)}


def chosen(m, k, i):
    """The option that was given, from 0."""
    return KEYS[i] if TRUTH[m, k, i] else (KEYS[i] + 1 + i % 3) % 4


def rows(m, k):
    return [(f"q{i}", KEYS[i], chosen(m, k, i)) for i in range(ITEMS)]


def as_csv(header, body):
    out = io.StringIO()
    csv.writer(out).writerows([header, *body])
    return out.getvalue()


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def one(m="model-a", k="en"):
    return {(m, k, f"q{i}"): int(TRUTH[m, k, i]) for i in range(ITEMS)}


def alone(m="model-a", k="en", item=str, fixed=None):
    return {(fixed or m, k, item(i)): int(TRUTH[m, k, i]) for i in range(ITEMS)}


def answer_pred_csv(folder):
    body = [(i, "some question", "ABCD"[key], "ABCD"[given]) for i, key, given in rows("model-a", "en")]
    write(folder / "model-a.csv", as_csv(["id", "question", "answer", "pred"], body))
    return [folder / "model-a.csv"], one()


def gold_prediction_jsonl(folder):
    lines = [
        json.dumps({"gold": "ABCD"[key], "prediction": f"The answer is {'ABCD'[given]}.", "prompt": "Q?"})
        for _, key, given in rows("model-a", "en")
    ]
    write(folder / "model-a.jsonl", "\n".join(lines) + "\n")
    return [folder / "model-a.jsonl"], alone()


def model_in_the_file_name(folder):
    for k in LANGUAGES:
        for m in MODELS:
            body = [(i, int(key == given)) for i, key, given in rows(m, k)]
            write(
                folder / "res" / k / f"{m.replace('/', '__')}.csv", as_csv(["question_id", "correct"], body)
            )
    return [folder / "res"], {(m, k, f"q{i}"): int(v) for (m, k, i), v in TRUTH.items()}


def one_column_per_model(folder):
    body = [(f"q{i}", *(int(TRUTH[m, "en", i]) for m in MODELS)) for i in range(ITEMS)]
    write(folder / "wide.csv", as_csv(["item", *MODELS], body))
    return [folder / "wide.csv"], {(m, k, f"q{i}"): int(v) for (m, k, i), v in TRUTH.items() if k == "en"}


def one_column_per_item(folder):
    body = [(m, *(int(TRUTH[m, "en", i]) for i in range(ITEMS))) for m in MODELS]
    write(folder / "wide.csv", as_csv(["system", *(f"q{i}" for i in range(ITEMS))], body))
    return [folder / "wide.csv"], {(m, k, f"q{i}"): int(v) for (m, k, i), v in TRUTH.items() if k == "en"}


def records_keyed_by_number(folder):
    records = {
        str(i): {"origin_prompt": "Q?", "prediction": f"I choose option {'ABCD'[given]}", "gold": "ABCD"[key]}
        for i, (_, key, given) in enumerate(rows("model-a", "en"))
    }
    for value in records.values():
        value["prediction"] = f"Answer: {value['prediction'][-1]}"
    write(folder / "model-a" / "quiz.json", json.dumps(records, indent=1))
    return [folder / "model-a" / "quiz.json"], alone()


def letters_against_numbers(folder):
    body = [(i, key + 1, "abcd"[given]) for i, key, given in rows("model-a", "en")]
    write(folder / "model-a.tsv", as_csv(["qid", "gold", "predicted_answer"], body).replace(",", "\t"))
    return [folder / "model-a.tsv"], one()


def text_answers(folder):
    cities = ["Bilbao", "Gasteiz", "Donostia", "Iruña"]
    body = [(i, *cities, cities[key], f"{cities[given]}.") for i, key, given in rows("model-a", "en")]
    header = ["id", "A", "B", "C", "D", "Correct Answer", "model_answer"]
    write(folder / "model-a.csv", as_csv(header, body))
    return [folder / "model-a.csv"], one()


def percent_encoded_folders(folder):
    for k in LANGUAGES:
        for m in MODELS:
            body = [(i, bool(key == given)) for i, key, given in rows(m, k)]
            write(folder / "out" / m.replace("/", "%2F") / f"{k}.csv", as_csv(["id", "is_correct"], body))
    return [folder / "out"], {(m, k, f"q{i}"): int(v) for (m, k, i), v in TRUTH.items()}


def workbook(folder):
    body = [(m, k, f"q{i}", int(v)) for (m, k, i), v in TRUTH.items()]
    write_xlsx(folder / "results.xlsx", [["Model", "Language", "Question ID", "Correct"], *body])
    return [folder / "results.xlsx"], {(m, k, f"q{i}"): int(v) for (m, k, i), v in TRUTH.items()}


def zipped_csv(folder):
    with zipfile.ZipFile(folder / "all.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for m in MODELS:
            body = [
                (k, i, {True: "Correct", False: "Incorrect"}[a == b])
                for k in LANGUAGES
                for i, a, b in rows(m, k)
            ]
            name = m.replace("/", "__")
            archive.writestr(f"all/{name}.csv", as_csv(["lang", "id", "result"], body))
    return [folder / "all.zip"], {(m, k, f"q{i}"): int(v) for (m, k, i), v in TRUTH.items()}


def patterns(folder):
    body = [
        (m, k, "".join(str(int(TRUTH[m, k, i])) for i in range(ITEMS))) for m in MODELS for k in LANGUAGES
    ]
    write(folder / "patterns.csv", as_csv(["model", "lang", "responses"], body))
    return [folder / "patterns.csv"], {(m, k, str(i + 1)): int(v) for (m, k, i), v in TRUTH.items()}


def numbered_patterns_in_json(folder):
    data = {m: [int(TRUTH[m, "en", i]) for i in range(ITEMS)] for m in MODELS}
    write(folder / "p.json", json.dumps(data))
    return [folder / "p.json"], {(m, k, str(i + 1)): int(v) for (m, k, i), v in TRUTH.items() if k == "en"}


def letters_in_a_column_per_model(folder):
    body = [(f"q{i}", "ABCD"[KEYS[i]], *("ABCD"[chosen(m, "en", i)] for m in MODELS)) for i in range(ITEMS)]
    write(folder / "wide.csv", as_csv(["id", "answer", *MODELS], body))
    return [folder / "wide.csv"], {(m, k, f"q{i}"): int(v) for (m, k, i), v in TRUTH.items() if k == "en"}


def language_names_in_folders(folder):
    """As TUMLU has it: language/model/subject.json, lists of records, written answers, ids anew in each."""
    expected = {}
    for name, k in (("basque", "eu"), ("english", "en")):
        for m in MODELS:
            records = [
                {
                    "question": "Q",
                    "choices": list("wxyz"),
                    "answer": "ABCD"[key],
                    "output": f"Answer: {'ABCD'[given]}",
                }
                for _, key, given in rows(m, k)
            ]
            for subject in ("law", "art"):
                path = folder / "out" / name / m.replace("/", "__") / f"{subject}.json"
                write(path, json.dumps(records, indent=1))
                expected |= {(m, k, f"{subject}/{i}"): int(TRUTH[m, k, i]) for i in range(ITEMS)}
    return [folder / "out"], expected


def predictions_of_opencompass(folder):
    for code, k in (("eus_Latn", "eu"), ("eng_Latn", "en")):
        for m in MODELS:
            records = {
                str(n): {
                    "origin_prompt": [{"role": "HUMAN"}],
                    "prediction": "ABCD"[given],
                    "gold": "ABCD"[key],
                }
                for n, (_, key, given) in enumerate(rows(m, k))
            }
            path = folder / "run" / "predictions" / m.replace("/", "__") / f"belebele_{code}.json"
            write(path, json.dumps(records, indent=1))
    return [folder / "run"], {(m, k, str(i)): int(v) for (m, k, i), v in TRUTH.items()}


SHAPES = [
    *(language_names_in_folders, predictions_of_opencompass),
    *(
        answer_pred_csv,
        gold_prediction_jsonl,
        model_in_the_file_name,
        one_column_per_model,
        one_column_per_item,
    ),
    *(records_keyed_by_number, letters_against_numbers, text_answers, percent_encoded_folders, workbook),
    *(zipped_csv, patterns, numbered_patterns_in_json, letters_in_a_column_per_model),
]


def write_xlsx(path, table):
    """A small workbook with shared nothing: inline texts and numbers."""

    def cell(value):
        if isinstance(value, str):
            return f'<c t="inlineStr"><is><t>{value}</t></is></c>'
        return f"<c><v>{value}</v></c>"

    body = "".join(f"<row>{''.join(map(cell, row))}</row>" for row in table)
    space = "http://schemas.openxmlformats.org"
    link = f"{space}/officeDocument/2006/relationships"
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{space}/package/2006/content-types"><Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" '
        'ContentType="application/xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{space}/package/2006/relationships"><Relationship Id="r1" '
        f'Type="{link}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{space}/spreadsheetml/2006/main" '
        f'xmlns:r="{link}"><sheets><sheet name="S" sheetId="1" r:id="r1"/>'
        "</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{space}/package/2006/relationships">'
        f'<Relationship Id="r1" Type="{link}/worksheet" Target="worksheets/s.xml"/>'
        "</Relationships>",
        "xl/worksheets/s.xml": f'<worksheet xmlns="{space}/spreadsheetml/2006/main"><sheetData>{body}'
        "</sheetData></worksheet>",
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, text)


def outcomes(imported):
    table = imported.answers
    names = ["model", "language", "item"]
    return {
        tuple(map(str, key)): int(v)
        for *key, v in table[[*names, "correct"]].dropna().itertuples(index=False)
    }


@pytest.mark.parametrize("shape", SHAPES, ids=lambda f: f.__name__)
def test_shapes_that_are_read_without_an_edit(tmp_path, shape):
    paths, expected = shape(tmp_path)
    text, missing = guess_mapping(paths)
    (tmp_path / "map.toml").write_text(text, encoding="utf-8")
    found = outcomes(read_table(paths, mapping=read_table_mapping(tmp_path / "map.toml"), subset="CA"))
    languages = {k for _, k, _ in expected}
    if len(languages) == 1 and "und" in text:  # nothing in the files says the language
        assert any("language" in note for note in missing)
        found = {(m, next(iter(languages)), i): v for (m, _, i), v in found.items()}
    if len({m for m, _, _ in expected}) == 1:  # nor the model, but the file's name
        found = {("model-a", k, i): v for (_, k, i), v in found.items()}
    assert found == expected, text


def run(*arguments):
    with pytest.raises(SystemExit) as stop:
        main([str(argument) for argument in arguments])
    return stop.value.code


def test_the_command_writes_a_mapping_that_import_takes(tmp_path, capsys):
    (path,), expected = answer_pred_csv(tmp_path)
    mapping, out = tmp_path / "map.toml", tmp_path / "r.csv"
    assert run("import", "table", path, "--guess", "-o", mapping, "--language", "en", "--subset", "CA") == 0
    assert "Not used: question" in mapping.read_text()
    assert run("import", "table", path, "--map", mapping, "-o", out) == 0
    with out.open() as file:
        table = {(r["model"], r["language"], r["item"]): int(r["correct"]) for r in csv.DictReader(file)}
    assert table == expected
    assert run("import", "table", path, "--guess", "-o", mapping) == 2  # it is there
    assert run("import", "table", path, "--guess", "-o", tmp_path / "map.csv") == 2
    capsys.readouterr()
    assert run("import", "table", path, "--guess") == 0
    assert "[answers]" in capsys.readouterr().out


def test_words_that_mean_nothing_are_asked_for(tmp_path):
    words = ["Correct", "Incorrect", "FAILED", "Correct", "hmm", "Correct", "Incorrect"]
    write(tmp_path / "m.csv", as_csv(["id", "lang", "result"], [(n, "eu", w) for n, w in enumerate(words)]))
    text, missing = guess_mapping([tmp_path / "m.csv"])
    assert "Correct = 1" in text
    assert 'FAILED = ""' in text
    assert '# "hmm" = ""' in text
    assert any("'hmm' (1)" in note for note in missing)


@pytest.mark.parametrize(
    "content",
    [
        b"mod\xe2l,item,correct\nm,a,1\n",  # no UTF-8
        b"model,sub\x18ject,item,correct\nm,x,a,1\n",  # a control character in a name, and so in a comment
        b"model,item\x7f,correct\nm,a,1\n",
        b"model,item,correct,{language\nm,a,1,en\n",  # half a template
        b"model,item,correct\n",  # no rows
        b'model,sub,5",\n',
    ],
)
def test_what_a_guess_writes_can_be_read(tmp_path, content):
    """Found by fuzzing: a refusal, or TOML."""
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    try:
        text, _ = guess_mapping([path])
    except InputError:
        return
    write(tmp_path / "map.toml", text)
    read_table_mapping(tmp_path / "map.toml")
