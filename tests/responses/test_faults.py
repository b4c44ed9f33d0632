"""Tables that were read in part, refused without need, or that hung: folders, types, quotes, paths."""

from __future__ import annotations

import os

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import maskedadv
from maskedadv.errors import BadId, BadValue, DuplicateRows, MissingId, UnknownSubset, UnreadableFile
from maskedadv.responses import read_responses
from maskedadv.responses.stored import open_stored


def frame(model="m", items=8):
    return pd.DataFrame(
        [(model, s, k, f"{s}{i}", i % 2) for s in ("CA", "CS") for k in ("en", "eu") for i in range(items)],
        columns=["model", "subset", "language", "item", "correct"],
    )


def test_parquet_under_another_name_is_read_and_what_is_no_table_is_named(tmp_path):
    frame("m").to_parquet(tmp_path / "a.parquet")
    frame("n").to_parquet(tmp_path / "part-0")
    (tmp_path / "notes.md").write_text("words")
    (tmp_path / "_SUCCESS").write_text("")
    table = read_responses(tmp_path)
    assert table.models.tolist() == ["m", "n"]
    assert any("notes.md" in note and "SUCCESS" not in note for note in table.notes)


def test_another_kind_of_table_in_the_folder_is_refused(tmp_path):
    frame("m").to_parquet(tmp_path / "a.parquet")
    frame("n").to_csv(tmp_path / "b.csv", index=False)
    with pytest.raises(UnreadableFile, match=r"b\.csv lies in a folder of Parquet files"):
        read_responses(tmp_path)


def test_a_pipe_in_the_folder_is_refused_at_once(tmp_path):
    frame().to_parquet(tmp_path / "a.parquet")
    os.mkfifo(tmp_path / "b.parquet")
    with pytest.raises(UnreadableFile, match="is a pipe"):
        read_responses(tmp_path)
    (tmp_path / "b.parquet").rename(tmp_path / "b")
    assert any("b" in note for note in read_responses(tmp_path).notes)


def test_a_subfolder_that_cannot_be_listed_is_refused(tmp_path, monkeypatch):
    frame().to_parquet(tmp_path / "a.parquet")
    (tmp_path / "sub").mkdir()
    scan = os.scandir

    def refusing(path):
        if str(path).endswith("sub"):
            raise PermissionError(13, "Permission denied", str(path))
        return scan(path)

    monkeypatch.setattr(os, "scandir", refusing)
    with pytest.raises(UnreadableFile, match=r"sub cannot be read \(Permission denied\)"):
        read_responses(tmp_path)


def test_a_folders_name_that_is_no_text_is_refused(tmp_path):
    (tmp_path / "model=%FF").mkdir()
    frame().drop(columns="model").to_parquet(tmp_path / "model=%FF" / "a.parquet")
    for read in (read_responses, open_stored):
        with pytest.raises(BadId, match=r"model=%FF: what the folder's name writes with % is no UTF-8 text"):
            read(tmp_path)
    (tmp_path / "model=%FF").rename(tmp_path / "model=%C3%A9")
    assert read_responses(tmp_path).models.tolist() == ["é"]


@pytest.mark.parametrize(
    ("column", "value", "error"),
    [
        ("item", "", MissingId),
        ("correct", 7, BadValue),
        ("subset", "XX", UnknownSubset),
        ("item", "CA1", DuplicateRows),
    ],
)
def test_a_row_of_a_folder_is_refused_by_the_name_of_its_file(tmp_path, column, value, error):
    frame("m").to_parquet(tmp_path / "a.parquet")
    bad = frame("n")
    bad.loc[2, column] = value
    bad.to_parquet(tmp_path / "b.parquet")
    with pytest.raises(error) as told:
        read_responses(tmp_path)
    assert str(told.value).startswith(f"{tmp_path / 'b.parquet'}: ")
    assert "row 3" in str(told.value)


@pytest.mark.parametrize("kind", [pa.string_view(), pa.large_string(), pa.binary(), pa.int8(), pa.bool_()])
def test_correct_of_any_kind(tmp_path, kind):
    table = pa.Table.from_pandas(frame(), preserve_index=False)
    texts = pa.array(["1" if v else "0" for v in table["correct"].to_pylist()])
    whole = texts if "string" in str(kind) or "binary" in str(kind) else table["correct"].combine_chunks()
    pq.write_table(table.set_column(4, "correct", whole.cast(kind)), tmp_path / "t.parquet")
    np.testing.assert_array_equal(
        read_responses(tmp_path / "t.parquet").correct, read_responses(frame()).correct
    )


def test_ids_as_views_and_columns_of_different_kinds_in_two_files(tmp_path):
    one, two = (pa.Table.from_pandas(frame(m), preserve_index=False) for m in ("m", "n"))
    one = one.set_column(0, "model", one["model"].cast(pa.string_view()))
    two = two.set_column(4, "correct", pa.array([str(v) for v in two["correct"].to_pylist()]))
    pq.write_table(one, tmp_path / "a.parquet")
    pq.write_table(two, tmp_path / "b.parquet")
    found = read_responses(tmp_path)
    np.testing.assert_array_equal(found.correct[found.model == 0], found.correct[found.model == 1])


def test_ids_over_several_lines_are_refused(tmp_path):
    text = 'model,subset,language,item,correct\nm,CA,en,"a,1\nm,CA,en,b",1\n'
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(BadId, match=r"line end .*close the quotation mark"):
        read_responses(tmp_path / "t.csv")


@pytest.mark.parametrize("name", ["x" * 300, "loop", "null\0byte", "none"])
def test_paths_that_lead_nowhere(tmp_path, name):
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(UnreadableFile, match="CSV or Parquet"):
        read_responses(str(tmp_path / name))


@pytest.mark.parametrize("name", ["t.jsonl", "t.xlsx", "t.zip"])
def test_tables_of_other_kinds_are_sent_to_import(tmp_path, name):
    (tmp_path / name).write_bytes(b'{"model": 1}\n' if name == "t.jsonl" else b"PK\x03\x04")
    with pytest.raises(UnreadableFile, match="maskedadv import table"):
        read_responses(tmp_path / name)


@pytest.mark.parametrize("value", [1e200, -1e7, np.inf])
def test_log_odds_beyond_all_reason_are_refused(value):
    table = frame().assign(p_correct=0.5, crm_logit=0.5)
    table.loc[3, "crm_logit"] = value
    with pytest.raises(BadValue, match=r"'crm_logit': 1 value is not log-odds from -1e6 to 1e6.*row 4"):
        read_responses(table)


def test_answers_missing_more_often_in_one_language_are_a_warning_of_check():
    table = frame(items=200)
    gone = table.index[(table["language"] == "eu")][:100]
    table["correct"] = table["correct"].astype("float64")
    table.loc[gone, "correct"] = np.nan
    (warning,) = read_responses(table).uneven
    assert warning.startswith("m: 0% of the answers in en and 25% in eu are missing")
    assert any("25% in eu are missing" in note for note in maskedadv.check(table, min_accuracy=0).notes)
    table.loc[table.index[table["language"] == "en"][:100], "correct"] = np.nan
    assert read_responses(table).uneven == ()
