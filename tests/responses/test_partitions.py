"""Tables written by language and model: what Arrow, pandas and Spark read, whatever the order of the rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

from maskedadv.errors import DuplicateRows, EmptyTable, MissingColumn, MissingId, OutputExists
from maskedadv.responses import read_responses
from maskedadv.responses.partitions import write_partitioned
from maskedadv.responses.stored import open_stored
from tests.responses.test_stored import answers

NAMES = ("a", "A", "org/a=1", "50%", "größe", ".x", "__HIVE_DEFAULT_PARTITION__x", "x y?*:", "%2F", "ｗ", "w")


def table() -> pd.DataFrame:
    """Names that folders must escape, and some that disks without capitals would take for one."""
    parts = [answers(k).assign(model=name) for k, name in enumerate(NAMES)]
    rows = pd.concat(parts).drop_duplicates(["model", "subset", "language", "item"], ignore_index=True)
    return rows.assign(n_options=4, note="x")


def files(folder: Path) -> dict[str, bytes]:
    """Content by path."""
    found = sorted(folder.rglob("*"))
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in found if p.is_file()}


def test_it_is_the_table_for_us_for_arrow_and_for_pandas(tmp_path: Path) -> None:
    rows = table()
    written = write_partitioned([rows], tmp_path / "t")
    assert (written.rows, written.models, written.languages) == (len(rows), len(NAMES), 4)
    whole = read_responses(rows)
    assert read_responses(tmp_path / "t").fingerprint == whole.fingerprint
    assert open_stored(tmp_path / "t").fingerprint == whole.fingerprint
    schema = pa.schema([("language", pa.string()), ("model", pa.string())])
    arrow = ds.dataset(tmp_path / "t", partitioning=ds.partitioning(schema, flavor="hive")).to_table()
    columns = ["model", "subset", "language", "item", "correct", "n_options", "note"]
    keys = ["language", "model", "item"]
    expected = rows[columns].sort_values(keys, ignore_index=True)
    for found in (arrow.to_pandas(), pd.read_parquet(tmp_path / "t")):
        again = found.astype({"language": str, "model": str})[columns].sort_values(keys, ignore_index=True)
        pd.testing.assert_frame_equal(again, expected, check_dtype=False)


def test_an_id_that_is_spelled_like_hives_name_of_nothing_is_an_id(tmp_path: Path) -> None:
    rows = answers().replace({"model": {"plain": "__HIVE_DEFAULT_PARTITION__"}})
    write_partitioned([rows], tmp_path / "t")
    for found in (read_responses(tmp_path / "t"), open_stored(tmp_path / "t")):
        assert found.fingerprint == read_responses(rows).fingerprint


def test_no_two_folders_are_one_without_capitals(tmp_path: Path) -> None:
    write_partitioned([table()], tmp_path / "t")
    names = [p.name.casefold() for p in (tmp_path / "t" / "language=en").iterdir()]
    assert len(set(names)) == len(names) == len(NAMES)


def test_the_order_and_the_pieces_change_no_byte(tmp_path: Path) -> None:
    rows = table()
    write_partitioned([rows], tmp_path / "one")
    mixed = rows.sample(frac=1, random_state=2)
    pieces = [mixed.iloc[k::11] for k in range(11)]
    pieces[3] = pa.Table.from_pandas(pieces[3].astype({"model": "category"}), preserve_index=False)
    pieces[5] = pieces[5].astype({"correct": "Int8"})
    write_partitioned([*pieces, rows.iloc[:0]], tmp_path / "many")
    assert files(tmp_path / "one") == files(tmp_path / "many")


def test_equal_rows_are_left_out_and_others_refused(tmp_path: Path) -> None:
    rows = answers()
    written = write_partitioned([rows, rows.iloc[:5]], tmp_path / "t")
    assert (written.rows, written.repeated) == (len(rows), 5)
    before = files(tmp_path / "t")
    seen = rows["correct"].notna()
    other = rows[seen].iloc[[0]].assign(correct=lambda r: 1 - r["correct"])
    with pytest.raises(DuplicateRows, match="differ"):
        write_partitioned([rows, other], tmp_path / "t", overwrite=True)
    assert files(tmp_path / "t") == before
    assert [p.name for p in tmp_path.iterdir()] == ["t"]


def test_nothing_is_left_where_a_piece_fails(tmp_path: Path) -> None:
    def pieces():  # type: ignore[no-untyped-def]
        yield answers()
        raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError, match="in the middle"):
        write_partitioned(pieces(), tmp_path / "t")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("pieces", "error"),
    [
        ([], EmptyTable),
        ([answers().iloc[:0]], EmptyTable),
        ([answers().assign(model="")], MissingId),
        ([answers().assign(language=None)], MissingId),
        ([answers().iloc[:9], answers().iloc[9:].assign(p_correct=0.5)], MissingColumn),
    ],
)
def test_what_is_no_table_is_refused(tmp_path: Path, pieces: list[pd.DataFrame], error: type) -> None:
    with pytest.raises(error):
        write_partitioned(pieces, tmp_path / "t")
    assert not list(tmp_path.iterdir())


def test_a_folder_is_replaced_only_if_it_is_ours_and_what_is_not_ours_stays(tmp_path: Path) -> None:
    write_partitioned([answers()], tmp_path / "t")
    (tmp_path / "t" / "my notes.txt").write_text("mine")
    with pytest.raises(OutputExists, match="overwrite"):
        write_partitioned([answers()], tmp_path / "t")
    fewer = answers()[lambda r: r["language"] != "sw"]
    write_partitioned([fewer], tmp_path / "t", overwrite=True)
    assert (tmp_path / "t" / "my notes.txt").read_text() == "mine"
    assert open_stored(tmp_path / "t").fingerprint == read_responses(fewer).fingerprint
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "a.txt").write_text("mine")
    with pytest.raises(OutputExists, match="no maskedadv result"):
        write_partitioned([answers()], tmp_path / "mine", overwrite=True)


def test_numbers_of_any_kind_survive(tmp_path: Path) -> None:
    rows = answers().drop(columns="correct")
    rng = np.random.default_rng(1)
    rows = rows.assign(p_correct=rng.random(len(rows)), crm_logit=rng.normal(size=len(rows)))
    rows.loc[3, ["p_correct", "crm_logit"]] = np.nan
    write_partitioned([rows], tmp_path / "t")
    assert open_stored(tmp_path / "t").fingerprint == read_responses(rows).fingerprint
