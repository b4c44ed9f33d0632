"""One reader of CSV: layouts that it finds, and quotation marks that would swallow rows."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maskedadv.errors import UnreadableFile
from maskedadv.files import csv_quotes
from maskedadv.files.csv_text import csv_layout, iterate_csv, read_csv, stream_opener


def read(path, text, known=()):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    opened = stream_opener(path)
    layout = csv_layout(opened, path, known)
    names = [name for name in layout.names if name]
    whole = read_csv(opened, path, layout, names, {}).to_pylist()
    assert whole == [row for batch in iterate_csv(opened, path, layout, names) for row in batch.to_pylist()]
    return whole


@pytest.mark.parametrize(
    "text",
    [
        "a,b\n1,2\n",
        "sep=;\r\na;b\r\n1;2\r\n",
        "\n  \n\na\tb\n1\t2\n",
        '\ufeff"a"|"b"\n"1"|"2"\n',
        '"a","b"\n"1",1,2\n',
        "a,b\r1,2\r",
    ],
)
def test_layouts(tmp_path, text):
    assert read(tmp_path / "t.csv", text) == [{"a": "1", "b": "2"}]


@pytest.mark.parametrize("bytes_of_header", [65_530, 65_536, 65_537, 200_000])
def test_headers_of_any_length(tmp_path, bytes_of_header):
    names, length = ["model"], 6
    while length < bytes_of_header:
        names.append(f"q{len(names):05d}")
        length += 7
    text = ",".join(names) + "\n" + ",".join(["m"] + ["1"] * (len(names) - 1)) + "\n"
    (row,) = read(tmp_path / "t.csv", text)
    assert list(row) == names


def test_row_names_of_r_are_told_from_a_cell_too_many(tmp_path):
    assert read(tmp_path / "t.csv", 'a,b\n"1",x,y\n"2",z,w\n') == [{"a": "x", "b": "y"}, {"a": "z", "b": "w"}]
    with pytest.raises(UnreadableFile, match="row names"):
        read(tmp_path / "t.csv", "a,b\nx,y,1\nz,w,2\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('a,b\n1,2\n"Hamlet" by S,2\n', "line 3: .*'Hamlet' does not go around the whole cell"),
        ('a,b\n1,"2\n3,4\n', "line 2: .*does not go around|line 2: .*hides"),
        ('i,m,l,c\n"Hamlet,m,e,1\ni2,m,e,1\nMacbeth",m,e,1\n', "line 2: .*hides whole rows"),
        (b"\xff\xfea\x00,\x00b\x00", "UTF-16"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "run git lfs pull"),
        ('{"a": 1}\n', "holds JSON, not CSV"),
    ],
)
def test_what_is_refused(tmp_path, text, message):
    with pytest.raises(UnreadableFile, match=message):
        read(tmp_path / "t.csv", text)


cell = st.text(st.sampled_from('ab",\n\r;'), max_size=6)
rows = st.lists(st.lists(cell, min_size=3, max_size=3), min_size=1, max_size=8)


@given(rows, st.integers(1, 9))
def test_what_a_csv_writer_writes_is_never_refused_for_its_quotes(tmp_path_factory, table, chunk):
    out = io.StringIO()
    csv.writer(out, quoting=csv.QUOTE_MINIMAL).writerows([["x", "y", "z"], *table])
    data = out.getvalue().encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_quotes, "_CHUNK", chunk)
        patch.setattr(csv_quotes, "_hides_rows", lambda *_: False)
        csv_quotes.check_quotes(lambda: io.BytesIO(data), tmp_path_factory.getbasetemp(), ",", 3)


@given(st.lists(st.text(st.sampled_from("ab,\n"), min_size=1, max_size=5), min_size=1, max_size=5))
def test_a_quotation_mark_too_many_is_found(tmp_path_factory, cells):
    text = "x,y\n" + "".join(f"{c.replace(',', '').replace(chr(10), '')}k,1\n" for c in cells) + '"open k,1\n'
    with pytest.raises(UnreadableFile):
        csv_quotes.check_quotes(lambda: io.BytesIO(text.encode()), tmp_path_factory.getbasetemp(), ",", 2)
