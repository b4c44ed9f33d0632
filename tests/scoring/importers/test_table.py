"""Plain tables, long and wide, of every file type; and every way of getting one wrong."""

from __future__ import annotations

import gzip

import numpy as np
import pandas as pd
import pytest

from maskedadv.errors import (
    AggregateOnly,
    BadId,
    BadMapping,
    BadValue,
    BrokenLog,
    DuplicateRows,
    ItemInBothSubsets,
    MissingColumn,
    MissingId,
    NothingToImport,
    UnknownSubset,
    UnreadableFile,
    WrongFormat,
)
from maskedadv.responses import read_responses
from maskedadv.scoring.importers.table import read_table
from maskedadv.scoring.importers.table_mapping import read_table_mapping

PLAIN = """model,subset,language,item,correct
m,CA,en,001,1
m,CA,eu,001,0
m,CS,en,1e5,
m,CS,eu,1e5,1
"""


@pytest.fixture
def table(tmp_path):
    def write(text, name="t.csv", **kwargs):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        if "map" in kwargs:
            map_file = tmp_path / "map.toml"
            map_file.write_text(kwargs.pop("map"), encoding="utf-8")
            kwargs["mapping"] = read_table_mapping(map_file)
        return read_table([path], **kwargs)

    return write


def correct(found):
    column = found.answers["correct"]
    return column.astype(object).where(column.notna(), None).tolist()


@pytest.mark.parametrize(
    "text",
    [
        PLAIN,
        PLAIN.replace(",", ";"),
        PLAIN.replace(",", "\t"),
        "\ufeff" + PLAIN,
        PLAIN.replace("\n", "\r\n"),
        PLAIN.replace("001,1", "001,True").replace("001,0", "001,false"),
        PLAIN.replace("001,1", "001,1.0"),
    ],
)
def test_csv_dialects_and_ids_that_look_like_numbers(table, text):
    found = table(text)
    assert correct(found) == [1, 0, None, 1]
    assert found.answers["item"].tolist() == ["001", "001", "1e5", "1e5"]


def test_all_file_types_agree(tmp_path):
    frame = pd.DataFrame(
        {
            "model": "m",
            "subset": "CA",
            "language": ["en", "eu"],
            "item": ["001", "NA"],
            "correct": [True, None],
        }
    )
    frame.to_parquet(tmp_path / "t.parquet")
    frame.to_json(tmp_path / "t.jsonl", orient="records", lines=True)
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(frame.to_csv(index=False).encode()))
    tables = [read_table([tmp_path / name]).answers for name in ("t.parquet", "t.jsonl", "t.csv.gz")]
    for one in tables:
        assert one["item"].tolist() == ["001", "NA"]
        assert one["correct"].astype(object).tolist()[0] == 1
        assert one["correct"].isna().tolist() == [False, True]


def test_output_is_a_valid_response_table(table, tmp_path):
    table(PLAIN).answers.to_csv(tmp_path / "out.csv", index=False)
    assert read_responses(tmp_path / "out.csv").items.tolist() == ["001", "1e5"]


LONG_MAP = """
[columns]
model = "system"
item = "id"
correct = "score"
[fixed]
language = "eu"
[subsets]
local = "CS"
global = "CA"
[columns.x]
"""


def test_a_mapping_of_columns_and_values(table):
    text = "system,id,kind,score,notes\na,1,local,1,x\nb,1,local,0,y\na,2,global,1,z\n"
    mapping = LONG_MAP.replace("[columns.x]\n", "").replace('item = "id"', 'item = "id"\nsubset = "kind"')
    found = table(text, map=mapping).answers
    assert found["subset"].tolist() == ["CS", "CS", "CA"]
    assert found["model"].tolist() == ["a", "b", "a"]
    assert set(found["language"]) == {"eu"}


def test_a_matrix_of_items_and_models(table):
    text = "item,m/1,m/2,m/3\nx,1,0,\ny,0,1,1\n"
    mapping = '[fixed]\nlanguage = "eu"\nsubset = "CS"\n[wide]\ncolumns = "model"\n'
    found = table(text, map=mapping).answers
    cells = {(r.item, r.model): r.correct for r in found.itertuples()}
    assert len(cells) == 6
    assert cells["x", "m/1"] == 1
    assert cells["x", "m/2"] == 0
    assert cells["x", "m/3"] is pd.NA
    assert cells["y", "m/2"] == 1


def test_a_matrix_of_models_and_items(table):
    text = "system;a;b\nm1;1;0\nm2;0;1\n"
    mapping = (
        '[columns]\nmodel = "system"\n[fixed]\nlanguage = "eu"\nsubset = "CS"\n[wide]\ncolumns = "item"\n'
    )
    found = table(text, map=mapping).answers
    assert sorted(zip(found["model"], found["item"], found["correct"], strict=True)) == [
        ("m1", "a", 1), ("m1", "b", 0), ("m2", "a", 0), ("m2", "b", 1),
    ]  # fmt: skip


def test_one_column_per_language_and_columns_that_are_neither(table):
    text = "model,item,note,en,eu\nm,x,hello,0.25,0.75\n"
    mapping = (
        '[fixed]\nsubset = "CA"\n[wide]\ncolumns = "language"\nvalue = "p_correct"\nonly = ["en", "eu"]\n'
    )
    found = table(text, map=mapping).answers
    assert found.set_index("language")["p_correct"].to_dict() == {"en": 0.25, "eu": 0.75}
    with pytest.raises(BadValue, match=r"'p_correct': 1 values .*'hello'"):
        table(text, map=mapping.replace('only = ["en", "eu"]\n', ""))
    with pytest.raises(MissingColumn, match="'fr', which"):
        table(text, map=mapping.replace('"eu"]', '"fr"]'))


OPTIONS = '[options]\nright = "r"\nwrong = "w"\n'


def test_log_probabilities_of_options(table):
    text = "model,subset,language,item,r,w\nm,CA,en,x,-1;-2,-3\nm,CA,en,y,-3,-1;-2;-2\nm,CA,en,z,-1,nan\n"
    found = table(text, map=OPTIONS)
    p = (np.exp(-1) + np.exp(-2)) / (np.exp(-1) + np.exp(-2) + np.exp(-3))
    assert found.answers["p_correct"].iloc[0] == pytest.approx(p)
    assert found.answers["crm_logit"].iloc[0] == pytest.approx(np.log(p / (1 - p)))
    assert correct(found) == [1, 0, None]
    assert found.answers["n_options"].tolist() == [3, 4, 2]
    assert found.answers["reason"].tolist()[2] == "log-probability not finite"
    assert correct(table(text.replace("-1;-2,-3", "-2;-3,-2"), map=OPTIONS))[0] == 0  # a tie is no win


def test_the_best_of_several_right_options(table):
    text = "model,subset,language,item,r,w,best\nm,CA,en,x,-9;-1,-2,1\nm,CA,en,y,-9;-1,-2,0\n"
    found = table(text, map=OPTIONS + 'best = "best"\n')
    assert correct(found) == [1, 0]
    assert set(found.answers["n_options"]) == {2}
    with pytest.raises(BadValue, match="row 1: best is '2', not a place from 0 to 1"):
        table(text.replace("-2,1", "-2,2"), map=OPTIONS + 'best = "best"\n')
    with pytest.raises(BadValue, match="row 1: 'x;-1' is not numbers"):
        table(text.replace("-9;-1,-2,1", "x;-1,-2,1"), map=OPTIONS)


def test_lists_in_json_and_parquet(tmp_path):
    frame = pd.DataFrame(
        {"model": ["m"], "subset": "CA", "language": "en", "item": "x", "r": [[-1.0, -2.0]], "w": [[-3.0]]}
    )
    frame.to_json(tmp_path / "a.jsonl", orient="records", lines=True)
    frame.to_parquet(tmp_path / "a.parquet")
    map_file = tmp_path / "map.toml"
    map_file.write_text(OPTIONS, encoding="utf-8")
    for name in ("a.jsonl", "a.parquet"):
        found = read_table([tmp_path / name], mapping=read_table_mapping(map_file))
        assert found.answers["n_options"].tolist() == [3]


def test_veritasqa_gives_its_published_figures(shared, tmp_path):
    source = shared / "data" / "veritasqa_option_loglik.csv.gz"
    published = pd.read_csv(source, dtype={"item_id": "str"})
    columns = '[columns]\nlanguage = "lang"\nitem = "item_id"\n'
    options = '[fixed]\nsubset = "CS"\n[options]\nright = "lprob_true"\nwrong = "lprob_false"\n'
    map_file = tmp_path / "map.toml"
    map_file.write_text(columns + 'correct = "mc1"\n' + options, encoding="utf-8")
    found = read_table([source], mapping=read_table_mapping(map_file))
    mc1 = published.groupby(["lang", "model"])["mc1"].mean()
    ours = found.answers.groupby(["language", "model"], observed=True)["correct"].mean()
    assert len(mc1) == 60
    assert ours.to_numpy(dtype=float) == pytest.approx(mc1.to_numpy(), abs=1e-12)
    # The share of the true options is the published MC2, to the five digits it is printed with.
    assert found.answers["p_correct"].to_numpy() == pytest.approx(published["mc2"].to_numpy(), abs=6e-6)

    # MC1 asks whether the best true answer beats all false ones; which of the true ones is best is not
    # published, but one place per question explains all fifteen models at once.
    def best(rows):
        places = range(min(len(t.split(";")) for t in rows["lprob_true"]))
        values = [
            [float(t.split(";")[k]) > max(map(float, f.split(";"))) for k in places]
            for t, f in zip(rows["lprob_true"], rows["lprob_false"], strict=True)
        ]
        (fitting, *_) = [k for k in places if (np.array(values)[:, k] == rows["mc1"]).all()]
        return fitting

    place = {key: best(rows) for key, rows in published.groupby(["lang", "item_id"])}
    published["best"] = [place[key] for key in zip(published["lang"], published["item_id"], strict=True)]
    published.drop(columns=["mc1", "mc2", "mc3"]).to_csv(tmp_path / "v.csv", index=False)
    map_file.write_text(columns + options + 'best = "best"\n', encoding="utf-8")
    found = read_table([tmp_path / "v.csv"], mapping=read_table_mapping(map_file))
    ours = found.answers.groupby(["language", "model"], observed=True)["correct"].mean()
    assert ours.to_numpy(dtype=float) == pytest.approx(mc1.to_numpy(), abs=1e-12)


def test_subsets_from_elsewhere(table):
    text = "model,language,item,correct\nm,en,x,1\nm,en,y,0\n"
    with pytest.raises(MissingColumn, match=r"no subset.*--subset CA or CS.*--subset-from"):
        table(text)
    assert set(table(text, subset="CS").answers["subset"]) == {"CS"}
    found = table(text, labels={"x": "CA"})
    assert found.answers["item"].tolist() == ["x"]
    assert found.dropped["count"].tolist() == [1]


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (("001,1", "001,0.5"), BadValue, r"column 'correct': 1 values .*row 1: '0.5'"),
        (("001,1", "001,NA"), BadValue, "row 1: 'NA'"),
        (("001,1", "001,2"), BadValue, "row 1: '2'"),
        (("m,CA,eu,001", "m,CA,en,001"), DuplicateRows, "1 answers repeat"),
        (("m,CA,eu,001,0", ",CA,eu,001,0"), MissingId, r"1 rows have no model \(row 2: ''\)"),
        (("m,CA,eu,001,0", "m,CA,eu,,0"), MissingId, "no item"),
        (("m,CA,eu,001,0", "m,CA,eu,001 ,0"), BadId, r"1 ids of column item .*row 2: '001 '"),
        (("m,CA,eu,001,0", "m,C-A,eu,001,0"), UnknownSubset, "'C-A'"),
        (("m,CA,eu,001,0", "m,CS,eu,001,0"), ItemInBothSubsets, "1 items .*'001'"),
        (("correct", "right"), MissingColumn, "neither for correct nor for p_correct"),
        (("item", "question"), MissingColumn, r"no column 'item' for item .*from-accuracy"),
        (("language", "model"), MissingColumn, "'model' twice"),
        (("m,CA,eu,001,0", "m,CA,eu,001,0,9"), BrokenLog, "Expected 5 columns, got 6"),
        (("m,CS,eu,1e5,1\n", "m,CS,eu"), BrokenLog, "Expected 5 columns, got 3"),
        (("correct", "p_correct"), None, None),
    ],
)
def test_what_can_be_wrong_is_named(table, change, error, message):
    text = PLAIN.replace(*change, 1)
    assert text != PLAIN
    if error is None:
        assert table(text).answers["p_correct"].tolist()[:2] == [1.0, 0.0]
        return
    with pytest.raises(error, match=message):
        table(text)


def test_probabilities_and_numbers_of_options_out_of_range(table):
    text = "model,subset,language,item,p_correct,n_options\nm,CA,en,x,{},{}\n"
    for p, k, message in (
        ("1.2", "4", r"'p_correct': 1 values are neither numbers from 0 to 1 nor empty \(row 1: '1.2'\)"),
        ("-0.1", "4", "-0.1"),
        ("nan", "4", "nan"),
        ("inf", "4", "inf"),
        ("0.5", "1", "'n_options'"),
        ("0.5", "2.5", "whole numbers from 2"),
    ):
        with pytest.raises(BadValue, match=message):
            table(text.format(p, k))
    assert table(text.format("0", "4")).answers["p_correct"].tolist() == [0.0]


def test_files_that_are_no_table(table, tmp_path):
    with pytest.raises(BrokenLog):
        table(PLAIN.encode() + b"m,CA,fr,\xff,1\n")
    with pytest.raises(WrongFormat, match=r"ends in \.csv"):
        table(PLAIN, "t.docx")
    with pytest.raises(UnreadableFile):
        read_table([tmp_path / "none.csv"])
    with pytest.raises(BrokenLog):
        table(b"PAR1 no", "t.parquet")
    with pytest.raises(NothingToImport):
        table("model,subset,language,item,correct\n")
    with pytest.raises((BrokenLog, NothingToImport)):
        table("")
    with pytest.raises(BrokenLog, match="cut off"):
        table('{"model": "m", "item": 1}\n{"model": ', "t.jsonl")
    with pytest.raises(BrokenLog, match=r"holds a dict"):
        table('{"model": {"a": 1}, "subset": "CA", "language": "en", "item": 1, "correct": 1}\n', "t.jsonl")


def test_aggregates_such_as_euroeval_writes_are_refused(table):
    text = '{"dataset": "mmlu-da", "model": "m", "results": {"total": {"test_mcc": 40.1}}}\n'
    with pytest.raises(AggregateOnly, match="scores per data set, as EuroEval"):
        table(text, "euroeval_benchmark_results.jsonl")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = [", "is not TOML"),
        ("[colums]\nmodel = 'a'\n", "unknown section 'colums'"),
        ("[columns]\nmodell = 'a'\n", "no key 'modell'"),
        ("[columns]\nmodel = 1\n", "must be a text"),
        ("[columns]\nmodel = 'a'\n[fixed]\nmodel = 'b'\n", "both in"),
        ("[wide]\ncolumns = 'subset'\n", "must be model, language or item"),
        ("[wide]\ncolumns = 'model'\nonly = 'a'\n", "list of column names"),
        ("[options]\nright = 'a'\n", "both right and wrong"),
        ("[wide]\ncolumns = 'model'\n" + OPTIONS, "exclude each other"),
    ],
)
def test_mappings_that_are_wrong(table, text, message):
    with pytest.raises(BadMapping, match=message):
        table(PLAIN, map=text)


def test_a_quotation_mark_that_is_never_closed(table):
    rows = "".join(f"m,CA,en,{n},1\n" for n in range(300))
    with pytest.raises(
        UnreadableFile, match=r"line 2: the quotation mark that opens the cell 'x,1' (hides|does)"
    ):
        table('model,subset,language,item,correct\nm,CA,en,"x,1\n' + rows)
