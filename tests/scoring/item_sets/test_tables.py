"""The tables of the steps: what is refused, and that annotations are what `annotation` reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

from maskedadv.annotation import evaluate
from maskedadv.errors import DuplicateRows, MissingColumn, MissingId, UnreadableFile
from maskedadv.scoring.item_sets.tables import ANNOTATIONS, LABELS, read_table, table_of, write_step


def row(annotator: str, item: str = "q1", label: str = "CS", **more: Any) -> dict[str, Any]:
    span = {"text": "Eid", "part": "question", "start": 4, "end": 7}
    fields = {"item": item, "language": "bn", "annotator": annotator, "cultural_sensitivity_label": label}
    return fields | {"trigger_spans": [span], "reason": "", "said": ["{}"]} | more


def test_tables_come_back_as_they_were(tmp_path: Path) -> None:
    table = table_of([row("a"), row("b", said=None)], ANNOTATIONS)
    write_step(tmp_path / "a.parquet", table)
    assert read_table(tmp_path / "a.parquet", ANNOTATIONS, "the annotations").equals(table)


def test_annotations_are_what_the_agreement_reads(tmp_path: Path) -> None:
    rows = [row(a, f"q{n}", "CS" if n < 3 or a == "c" else "CA") for a in "abc" for n in range(4)]
    write_step(tmp_path / "a.parquet", table_of(rows, ANNOTATIONS))
    found = evaluate(tmp_path / "a.parquet", wanted=("cultural_sensitivity_label",), n_resamples=100)
    pooled = found.agreement.set_index(["field", "language"]).loc[("cultural_sensitivity_label", "all")]
    assert pooled["n_items"] == 4
    assert pooled["unanimous"] == 3 / 4
    assert pooled["pairwise"] == pytest.approx((3 + 1 / 3) / 4)


@pytest.mark.parametrize(
    ("rows", "error", "says"),
    [
        ([row("a"), row("b"), row("a")], DuplicateRows, "repeats 1 rows (q1/bn/a)"),
        ([row("a"), row("", item="q2"), row(None)], MissingId, "2 rows without"),
    ],
)
def test_rows_that_are_refused(tmp_path: Path, rows: list[Any], error: type[Exception], says: str) -> None:
    write_step(tmp_path / "a.parquet", table_of(rows, ANNOTATIONS))
    with pytest.raises(error) as found:
        read_table(tmp_path / "a.parquet", ANNOTATIONS, "the annotations")
    assert says in str(found.value)


def test_other_tables_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    with pytest.raises(UnreadableFile, match="cannot be read"):
        read_table(path, ANNOTATIONS, "the annotations")
    write_step(path, table_of([row("a")], LABELS))
    with pytest.raises(MissingColumn, match="no column 'annotator'"):
        read_table(path, ANNOTATIONS, "the annotations")
    wrong = table_of([row("a")], ANNOTATIONS).set_column(5, "trigger_spans", pa.array(["Eid"]))
    pyarrow.parquet.write_table(wrong, path)
    with pytest.raises(UnreadableFile, match="trigger_spans"):
        read_table(path, ANNOTATIONS, "the annotations")
