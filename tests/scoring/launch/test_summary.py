"""What is said of a response table after scoring."""

from __future__ import annotations

import pyarrow as pa

from maskedadv.scoring.launch.summary import unread_shares, warnings


def table(unread: dict[str, int], answers: int = 300) -> pa.Table:
    """A model's written answers: so many in each language state no option."""
    rows = [
        {"model": "m", "language": language, "reason": "no_answer_stated" if n < count else ""}
        for language, count in unread.items()
        for n in range(answers)
    ]
    kinds = pa.schema([(name, pa.string()) for name in ("model", "language", "reason")])
    return pa.Table.from_pylist(rows, kinds).append_column("option_mass", pa.nulls(len(rows), pa.float64()))


def test_unread_shares_that_differ_by_language_are_told() -> None:
    found = warnings(table({"en": 42, "ja": 96}))
    assert found == ["m: 14% of the answers in en and 32% in ja could not be read; gaps may be biased"]
    shares = unread_shares(table({"en": 42, "ja": 96}))
    assert dict(zip(shares["language"], shares["missing"], strict=True)) == {"en": 42, "ja": 96}


def test_shares_within_chance_and_none_at_all_are_not() -> None:
    assert warnings(table({"en": 42, "ja": 45})) == []
    assert warnings(table({"en": 0, "ja": 0})) == []
    assert len(unread_shares(table({"en": 0, "ja": 0}))) == 0
