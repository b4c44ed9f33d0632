"""What is read, what is refused, and in which words."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import maskedadv
from maskedadv import errors
from maskedadv.responses import Responses, read_responses
from tests.simulate import table

HEADER = "model,subset,language,item,correct\n"
ROWS = "m,CA,en,1,1\nm,CA,zh,1,0\nm,CS,en,2,\nm,CS,zh,2,1\n"


def write(path: Path, text: str, encoding: str = "utf-8") -> Path:
    path.write_bytes(text.encode(encoding))
    return path


def same(a: Responses, b: Responses) -> bool:
    return a.fingerprint == b.fingerprint


# --- formats ---------------------------------------------------------------------------------------


def test_formats_of_one_table_are_one_table(tmp_path: Path) -> None:
    base = read_responses(write(tmp_path / "a.csv", HEADER + ROWS))
    assert len(base) == 4
    variants = {
        "semicolon.csv": (HEADER + ROWS).replace(",", ";"),
        "tab.tsv": (HEADER + ROWS).replace(",", "\t"),
        "crlf.csv": (HEADER + ROWS).replace("\n", "\r\n"),
        "bom.csv": "\ufeff" + HEADER + ROWS,
        "quoted.csv": '"model","subset","language","item","correct"\n'
        + "".join(",".join(f'"{c}"' for c in r.split(",")) + "\n" for r in ROWS.splitlines()),
        "floats.csv": HEADER + ROWS.replace(",1\n", ",1.0\n").replace(",0\n", ",0.0\n"),
        "order.csv": "item,correct,model,language,subset,note\n"
        + "".join("{3},{4},{0},{2},{1},hello\n".format(*r.split(",")) for r in ROWS.splitlines()),
        "no-final-newline.csv": (HEADER + ROWS).rstrip("\n"),
    }
    for name, text in variants.items():
        assert same(read_responses(write(tmp_path / name, text)), base), name
    frame = base.to_frame()
    assert same(read_responses(frame), base)
    frame.to_parquet(tmp_path / "a.parquet")
    assert same(read_responses(tmp_path / "a.parquet"), base)
    frame.to_csv(tmp_path / "a.csv.gz", index=False)
    assert same(read_responses(tmp_path / "a.csv.gz"), base)
    categorical = frame.astype(dict.fromkeys(("model", "subset", "language", "item"), "category"))
    assert same(read_responses(categorical), base)


def test_a_partitioned_folder_keeps_folder_names_as_text(tmp_path: Path) -> None:
    frame = table(2, (5, 5), locales=("no", "NA"))
    frame["model"] = frame["model"].map({"m0": "001", "m1": "org/model"})
    for (model, language), part in frame.groupby(["model", "language"]):
        folder = tmp_path / f"model={model.replace('/', '%2F')}" / f"language={language}"
        folder.mkdir(parents=True)
        part.drop(columns=["model", "language"]).to_parquet(folder / "part.parquet", index=False)
    read = read_responses(tmp_path)
    assert same(read, read_responses(frame))
    assert list(read.models) == ["001", "org/model"]
    assert list(read.languages) == ["NA", "en", "no"]


def test_several_parquet_files_with_different_dictionaries(tmp_path: Path) -> None:
    frame = table(3, (6, 6))
    for model, part in frame.groupby("model"):
        columns = {
            n: pa.array(part[n].tolist()).dictionary_encode() for n in ("model", "subset", "language", "item")
        }
        pq.write_table(
            pa.table(columns | {"correct": pa.array(part["correct"].to_numpy())}),
            tmp_path / f"{model}.parquet",
        )
    assert same(read_responses(tmp_path), read_responses(frame))


def test_extra_columns_are_kept_when_asked_for(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.csv", HEADER.replace("\n", ",chain,draw\n") + "m,CA,zh,1,0,7,x\nm,CA,en,1,1,8,y\n"
    )
    read = read_responses(path, extras=True)
    assert list(read.to_frame().columns) == [
        "model",
        "subset",
        "language",
        "item",
        "correct",
        "chain",
        "draw",
    ]
    assert read.to_frame().set_index("language").loc["zh", "draw"] == "x"
    assert read_responses(path).extra is None


# --- ids -------------------------------------------------------------------------------------------

HOSTILE = [
    "001",
    "1e5",
    "NA",
    "None",
    "null",
    "nan",
    "1.0",
    "org/model",
    "模型",
    "نموذج",
    "🙂",
    "a b",
    'q"uote',
    "x,y",
    "-0",
]


def test_hostile_ids_survive_reading_fitting_and_saving(tmp_path: Path) -> None:
    frame = table(len(HOSTILE), (20, 20), locales=("no", "NA"), seed=2)
    frame["model"] = frame["model"].map({f"m{k}": name for k, name in enumerate(HOSTILE)})
    frame["item"] = "0" + frame["item"]
    frame.to_csv(tmp_path / "t.csv", index=False)
    read = read_responses(tmp_path / "t.csv")
    assert set(read.models) == set(HOSTILE)
    fit = maskedadv.fit(read, min_accuracy=0)
    fit.save(tmp_path / "out")
    again = maskedadv.load(tmp_path / "out")
    assert set(again.cube["model"].values) == set(HOSTILE)
    assert list(again.cube["locale"].values) == ["NA", "no"]
    pd.testing.assert_frame_equal(again.gaps(), fit.gaps())
    csv = pd.read_csv(tmp_path / "out" / "gaps.csv", keep_default_na=False, dtype=str)
    assert set(csv["model"]) == set(HOSTILE)


def test_whole_numbers_become_text_but_floats_are_refused() -> None:
    frame = table(1, (4, 4))
    numbers = frame.assign(item=frame["item"].str[2:].astype(int) + 100 * (frame["subset"] == "CS"))
    assert set(read_responses(numbers).items) == {str(n) for n in set(numbers["item"])}
    with pytest.raises(errors.BadId, match=r"'item'.*double.*write them as text"):
        read_responses(numbers.assign(item=numbers["item"].astype(float)))


def test_mixed_ids_are_text_where_they_can_be() -> None:
    frame = table(1, (4, 4))
    mixed = frame.assign(model=pd.Series([1 if k % 2 else "1" for k in range(len(frame))], dtype=object))
    assert list(read_responses(mixed).models) == ["1"]
    with pytest.raises(errors.BadId, match=r"'model'.*row 1"):
        read_responses(frame.assign(model=pd.Series([("a", 1)] * len(frame), dtype=object)))


@pytest.mark.parametrize("column", ["model", "subset", "language", "item"])
def test_empty_ids_are_refused(tmp_path: Path, column: str) -> None:
    frame = table(1, (4, 4)).astype(str)
    frame.loc[[1, 3], column] = ""
    frame.to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(errors.MissingId, match=rf"'{column}': 2 ids are empty .row 2, row 4"):
        read_responses(tmp_path / "t.csv")
    with pytest.raises(errors.MissingId, match="row 2, row 4"):
        read_responses(frame.replace("", None))


def test_ids_that_differ_by_blanks_are_distinct_and_noted() -> None:
    frame = table(2, (5, 5)).replace({"m1": "m0 "})
    read = read_responses(frame)
    assert list(read.models) == ["m0", "m0 "]
    assert "m0 " in read.notes[0]
    assert "m0 " in " ".join(maskedadv.fit(frame, min_accuracy=0).warnings)


def test_a_language_with_a_blank_is_refused() -> None:
    with pytest.raises(errors.BadId, match=r"'language'.*'zh '.*write 'zh'"):
        read_responses(table(1, (4, 4)).replace({"zh": "zh "}))


# --- values ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", ["0.5", "2", "NA", "True", "nan", "NaN", "-1", "yes", "inf", "1e400"])
def test_bad_correct_is_refused_with_row_and_value(tmp_path: Path, value: str) -> None:
    path = write(tmp_path / "t.csv", HEADER + ROWS.replace("m,CA,zh,1,0", f"m,CA,zh,1,{value}"))
    with pytest.raises(errors.BadValue, match=rf"'correct': 1 value is not 0, 1 or empty .row 2: '{value}'"):
        read_responses(path)


@pytest.mark.parametrize("value", [-0.1, 1.2, np.inf])
def test_bad_p_correct_is_refused(value: float) -> None:
    frame = table(1, (4, 4)).rename(columns={"correct": "p_correct"}).astype({"p_correct": float})
    frame.loc[2, "p_correct"] = value
    with pytest.raises(errors.BadValue, match=r"'p_correct'.*row 3"):
        read_responses(frame)


def test_only_the_first_three_offenders_are_listed() -> None:
    frame = table(1, (5, 5)).astype({"correct": float})
    frame["correct"] = 7.0
    with pytest.raises(errors.BadValue) as refused:
        read_responses(frame)
    assert "20 values" in str(refused.value)
    assert str(refused.value).count("row") == 3


def test_booleans_and_missing_values_of_a_frame_are_answers() -> None:
    frame = table(1, (5, 5))
    assert same(read_responses(frame.astype({"correct": bool})), read_responses(frame))
    holes = frame.astype({"correct": "Int64"})
    holes.loc[0, "correct"] = pd.NA
    assert np.isnan(read_responses(holes).correct).sum() == 1  # type: ignore[arg-type]


def test_n_options_and_crm_logit_are_checked() -> None:
    frame = table(1, (4, 4))
    assert read_responses(frame.assign(n_options=4)).n_options is not None
    for bad in (1, 2.5, -4):
        with pytest.raises(errors.BadValue, match="n_options"):
            read_responses(frame.assign(n_options=bad))
    with pytest.raises(errors.BadValue, match="crm_logit"):
        read_responses(frame.assign(crm_logit=np.inf))


# --- rows and columns ------------------------------------------------------------------------------


@pytest.mark.parametrize("answer", [0, 1])
def test_repeated_rows_are_refused_equal_or_not(answer: int) -> None:
    frame = table(1, (5, 5))
    again = frame.iloc[[3]].assign(correct=answer)
    with pytest.raises(errors.DuplicateRows, match=r"1 rows repeat.*row 21: 'm0' on 'CA3' in 'en'"):
        read_responses(pd.concat([frame, again], ignore_index=True))


def test_an_item_in_both_subsets_is_refused() -> None:
    frame = table(1, (5, 5)).replace({"CS0": "CA0"})
    with pytest.raises(errors.ItemInBothSubsets, match=r"1 items stand under both.*'CA0'"):
        read_responses(frame)


@pytest.mark.parametrize("column", ["model", "subset", "language", "item"])
def test_a_missing_column_is_named(column: str) -> None:
    with pytest.raises(errors.MissingColumn, match=f"'{column}' is missing"):
        read_responses(table(1, (4, 4)).drop(columns=column))


def test_no_answer_column_is_named() -> None:
    with pytest.raises(errors.MissingColumn, match=r"'correct' nor 'p_correct'"):
        read_responses(table(1, (4, 4)).drop(columns="correct"))


def test_a_column_named_twice_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "model,model,subset,language,item,correct\na,b,CA,en,1,1\n")
    with pytest.raises(errors.MissingColumn, match="'model' twice"):
        read_responses(path)


def test_other_subsets_are_refused() -> None:
    with pytest.raises(errors.UnknownSubset, match=r"20 values are neither.*'ca'"):
        read_responses(table(1, (10, 10)).replace({"CA": "ca"}))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", b""),
        ("b.csv", b"\n\n"),
        ("c.csv", HEADER.encode()),
        ("d.csv", (HEADER + "m,CA,en,1,\nm,CA,zh,1,\n").encode()),
    ],
)
def test_tables_without_answers_are_refused(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(errors.EmptyTable):
        read_responses(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("utf16.csv", (HEADER + ROWS).encode("utf-16")),
        ("latin1.csv", (HEADER + ROWS.replace("m,", "modèle,")).encode("latin-1")),
        ("ragged.csv", (HEADER + ROWS + "m,CA\n").encode()),
        ("not.parquet", b"PAR1 no"),
        ("image.csv", b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"),
        ("broken.csv.gz", b"\x1f\x8b\x08\x00garbage"),
    ],
)
def test_unreadable_files_are_one_sentence(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(errors.UnreadableFile, match=name):
        read_responses(tmp_path / name)


def test_a_missing_path_and_an_empty_folder(tmp_path: Path) -> None:
    with pytest.raises(errors.UnreadableFile, match="does not exist"):
        read_responses(tmp_path / "nowhere.csv")
    with pytest.raises(errors.UnreadableFile, match="no Parquet file"):
        read_responses(tmp_path)


def test_a_null_byte_in_an_id_is_refused() -> None:
    """netCDF texts end at a null byte: such an id would come back changed."""
    with pytest.raises(errors.BadId, match="null byte"):
        read_responses(table(1, (4, 4)).replace({"m0": "m\x00x"}))


def test_a_lone_surrogate_is_refused() -> None:
    frame = table(1, (4, 4))
    with pytest.raises(errors.BadId, match="model"):
        read_responses(frame.assign(model=pd.Series(["m\ud800"] * len(frame), dtype=object)))


# --- more files -------------------------------------------------------------------------------------


def test_blank_lines_and_excels_separator_line_before_the_header(tmp_path: Path) -> None:
    base = read_responses(write(tmp_path / "a.csv", HEADER + ROWS))
    for k, before in enumerate(("\n", "\r\n\n", "\ufeff\n", "sep=;\n")):
        text = (HEADER + ROWS).replace(",", ";") if "sep" in before else HEADER + ROWS
        assert same(read_responses(write(tmp_path / f"{k}.csv", before + text)), base), before


def test_the_delimiter_is_the_one_that_finds_the_columns(tmp_path: Path) -> None:
    odd = HEADER.replace("\n", ',"a;b;c;d;e;f;g;h"\n') + ROWS.replace("\n", ",x\n")
    assert len(read_responses(write(tmp_path / "a.csv", odd))) == 4


def test_unnamed_and_repeated_extra_columns_do_no_harm(tmp_path: Path) -> None:
    text = HEADER.replace("\n", ",,,note,note\n") + ROWS.replace("\n", ",,,a,b\n")
    assert len(read_responses(write(tmp_path / "a.csv", text))) == 4


def test_a_pipe_can_be_read(tmp_path: Path) -> None:
    import os
    import threading

    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_text(HEADER + ROWS))
    writer.start()
    assert len(read_responses(pipe)) == 4
    writer.join()


def test_near_misses_of_column_names_are_shown() -> None:
    with pytest.raises(errors.MissingColumn, match="found: 'Model', ' subset '"):
        read_responses(pd.DataFrame({"Model": ["a"], " subset ": ["CA"]}))


def test_files_of_different_tools_fit_together(tmp_path: Path) -> None:
    frame = table(4, (6, 6))
    kinds = [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.large_string())]
    numbers = [pa.bool_(), pa.int64(), pa.float32(), pa.decimal128(3, 1)]
    for (model, part), text, number in zip(frame.groupby("model"), kinds, numbers, strict=True):
        columns = {n: pa.array(part[n].tolist()).cast(text) for n in ("model", "subset", "language", "item")}
        answers = [Decimal(v) if pa.types.is_decimal(number) else v for v in part["correct"].tolist()]
        columns["correct"] = pa.array(answers).cast(number)
        pq.write_table(pa.table(columns), tmp_path / f"{model}.parquet")
    assert same(read_responses(tmp_path), read_responses(frame))
    assert same(read_responses(pa.Table.from_pandas(frame)), read_responses(frame))


def test_a_file_without_the_answers_of_the_others_is_named(tmp_path: Path) -> None:
    frame = table(2, (6, 6))
    frame[frame["model"] == "m0"].to_parquet(tmp_path / "a.parquet")
    frame[frame["model"] == "m1"].rename(columns={"correct": "p_correct"}).to_parquet(tmp_path / "b.parquet")
    with pytest.raises(errors.MissingColumn, match=r"some files.*b\.parquet"):
        read_responses(tmp_path)


def test_partitions_that_contradict_or_lack_a_name_are_refused(tmp_path: Path) -> None:
    frame = table(1, (6, 6))
    wrong = tmp_path / "wrong" / "language=fr"
    wrong.mkdir(parents=True)
    frame.to_parquet(wrong / "a.parquet")
    with pytest.raises(errors.UnreadableFile, match="disagrees with the folder"):
        read_responses(tmp_path / "wrong")
    null = tmp_path / "null" / "language=__HIVE_DEFAULT_PARTITION__"
    null.mkdir(parents=True)
    frame.drop(columns="language").to_parquet(null / "a.parquet")
    with pytest.raises(errors.MissingId, match="'language'"):
        read_responses(tmp_path / "null")


@pytest.mark.parametrize("other", ["M0", "m0\u200b", " m0", "ｍ0"])
def test_look_alikes_are_named(other: str) -> None:
    read = read_responses(table(2, (5, 5)).replace({"m1": other}))
    assert len(read.models) == 2
    assert "1 groups of model ids" in read.notes[0]


def test_things_that_are_no_tables_are_refused() -> None:
    for thing in (None, [1, 2], "", 5):
        with pytest.raises(errors.UnreadableFile, match="a response table is a path"):
            read_responses(thing)  # type: ignore[arg-type]


def test_huge_and_strange_ids_of_frames() -> None:
    frame = table(1, (4, 4))
    big = frame.assign(model=pd.Series([2**70] * len(frame), dtype=object))
    assert list(read_responses(big).models) == [str(2**70)]
    strange = frame.assign(model=pd.Series([np.zeros(2)] * len(frame), dtype=object))
    with pytest.raises(errors.BadId, match="'model'"):
        read_responses(strange)
