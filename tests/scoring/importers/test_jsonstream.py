"""JSON logs that are whole, cut off, broken, or something else altogether."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maskedadv.errors import BrokenLog, LogTooLarge, UnreadableFile, WrongFormat
from maskedadv.scoring.importers import jsonstream
from maskedadv.scoring.importers.jsonstream import CUT, read_members, read_records

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
RECORDS = st.lists(st.dictionaries(st.text(), VALUES, max_size=3), max_size=5)


def read(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return [record for _, record in read_records(path)]


@pytest.fixture(params=[1, 2, 3, 7, 2**20], ids="chunk {}".format)
def small_chunks(request, monkeypatch):
    monkeypatch.setattr(jsonstream, "_CHUNK", request.param)


@settings(deadline=None)
@given(records=RECORDS, indent=st.sampled_from([None, 1]))
def test_lines_and_arrays_read_alike(tmp_path_factory, records, indent):
    path = tmp_path_factory.mktemp("json") / "a.jsonl"
    for ascii_only in (True, False):
        lines = "".join(json.dumps(r, ensure_ascii=ascii_only) + "\n" for r in records)
        array = json.dumps(records, indent=indent, ensure_ascii=ascii_only)
        for content in (lines, array):
            assert read(path, content.encode("utf-8", "surrogatepass")) == records


@pytest.mark.usefixtures("small_chunks")
def test_arrays_read_alike_in_pieces_of_any_size(tmp_path):
    records = [
        {"text": "ünïcödé " * n, "number": n * 1000, "nested": [{"x": [None, True, -1.5e300]}]}
        for n in range(9)
    ]
    for indent in (None, 2):
        text = json.dumps(records, indent=indent, ensure_ascii=False)
        assert read(tmp_path / "a", text) == records
        for cut in range(2, len(text), 97):
            found = read(tmp_path / "a", text[:cut])
            assert found[-1] is CUT
            assert found[:-1] == records[: len(found) - 1]


@pytest.mark.parametrize(
    ("content", "records"),
    [
        (b"", []),
        (b" \n\n", []),
        (b'\xef\xbb\xbf{"a": 1}\r\n\r\n{"a": NaN}', None),
        (b'{"a": 1}\n{"a": 2', [{"a": 1}, CUT]),
        (b'{"a": 1}\n{"a": "\xc3', [{"a": 1}, CUT]),
        (b'{"a": 1}\n{"a": 2}', [{"a": 1}, {"a": 2}]),
        (b"[]", []),
        (b'[{"a": 1}', [{"a": 1}, CUT]),
        (b'[{"a": 1},', [{"a": 1}, CUT]),
        (b'[{"a": tr', [CUT]),
        (b'[{"a": "x', [CUT]),
    ],
)
def test_ends_of_files(tmp_path, content, records):
    found = read(tmp_path / "a", content)
    if records is None:
        assert found[0] == {"a": 1}
        assert found[1]["a"] != found[1]["a"]
    else:
        assert found == records


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"a": 1}\n{"a": 2\n{"a": 3}\n', "line 2 is not a JSON record"),
        (b'{"a": 1}\nhello\n', "line 2"),
        (b'{\n "a": 1\n}\n', "line 1"),
        (b'{"a": "\xff"}\n', r"line 1 is not UTF-8 \(byte 8"),
        (b'[{"a": "\xff"}]', "not UTF-8 near byte 8"),
        (b'[{"a": 1}, {"a": x}, {"a": 3}, {"a": 4}]', "not JSON near 'x}"),
        (b'[{"a": 1} {"a": 2}] trailing and more', None),
        (b"[1, 2]", "record 1 is a JSON int"),
        (b'[[{"a": 1}]]', "record 1 is a JSON list"),
        (b'null\n{"a": 1}\n', "record 1 is a JSON NoneType"),
        (b'{"a": ' + b"[" * 100_000 + b"\n", "nested too deeply"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a": ' + b"1" * 5000 + b"}\n", "line 1"),
        (b"PK\x03\x04" + b"x" * 50, "is a zip archive"),
        (b"PAR1" + b"x" * 50, "is a Parquet file"),
        (b"\x1f\x8b" + b"x" * 50, "gzipped"),
        ('{"a": 1}'.encode("utf-16"), "UTF-16"),
    ],
)
def test_broken_files_are_refused_with_the_place(tmp_path, content, message):
    if message is None:  # no comma between records: read as it is meant
        assert read(tmp_path / "a", content) == [{"a": 1}, {"a": 2}]
        return
    with pytest.raises(BrokenLog, match=message):
        read(tmp_path / "a", content)


def test_records_longer_than_any_real_one(tmp_path, monkeypatch):
    monkeypatch.setattr(jsonstream, "MAX_RECORD", 1000)
    for content in ('{"a": "' + "x" * 2000 + '"}\n', '[{"a": "' + "x" * 2_000_000):
        with pytest.raises(LogTooLarge):
            read(tmp_path / "a", content)


def test_missing_files(tmp_path):
    with pytest.raises(UnreadableFile):
        list(read_records(tmp_path / "none"))
    with pytest.raises(UnreadableFile):
        list(read_records(tmp_path))


@pytest.mark.usefixtures("small_chunks")
def test_members_of_an_object(tmp_path):
    path = tmp_path / "a.json"
    data = {"status": "x", "results": None, "samples": [{"id": 1}, {"id": "ü/2"}], "after": {"n": [1]}}
    expected = [("status", "x"), ("results", None), ("samples", {"id": 1}), ("samples", {"id": "ü/2"})]
    for indent in (None, 2):
        text = json.dumps(data, indent=indent, ensure_ascii=False)
        path.write_text(text, encoding="utf-8")
        assert list(read_members(path, "samples")) == [*expected, ("after", {"n": [1]})]
        path.write_text(text[: text.index("2")], encoding="utf-8")
        assert list(read_members(path, "samples"))[-1][1] is CUT


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize("content", ['{"samples": [{"id": 1}, {"id', '{"samples": [], "after": {"n', '{"a'])
def test_what_is_cut_off_is_counted_once(tmp_path, content):
    path = tmp_path / "a.json"
    path.write_text(content, encoding="utf-8")
    assert [value is CUT for _, value in read_members(path, "samples")].count(True) == 1


def test_members_of_what_is_no_object(tmp_path):
    path = tmp_path / "a.json"
    for content, error in ((b"[1]", WrongFormat), (b"", WrongFormat), (b'{"a" 1, "b": 22222222}', BrokenLog)):
        path.write_bytes(content)
        with pytest.raises(error):
            list(read_members(path, "samples"))
