"""Names that a table of answers may not use."""

from __future__ import annotations

from pathlib import Path

import pytest

from maskedadv.errors import BadId
from maskedadv.responses.read import read_responses
from maskedadv.responses.vocabulary import Vocabulary
from maskedadv.vocabulary import MEAN_ROWS
from tests.simulate import table


@pytest.mark.parametrize("name", sorted(MEAN_ROWS))
def test_a_model_called_like_a_row_of_means_is_refused(name: str, tmp_path: Path) -> None:
    rows = table(2, (4, 4)).replace({"model": {"m0": name}})
    rows.to_csv(tmp_path / "t.csv", index=False)
    for source in (rows, tmp_path / "t.csv"):
        with pytest.raises(BadId, match="what rows of means are called"):
            read_responses(source)
    with pytest.raises(BadId, match="what rows of means are called"):
        Vocabulary("model").number(name)
    assert Vocabulary("item").number(name) == 0
