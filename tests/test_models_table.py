"""The model table: what is read, what is refused, and that report and validity read it alike."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from maskedadv.errors import BadValue, DuplicateRows, MaskedadvError, MissingColumn
from maskedadv.models_table import read_models
from maskedadv.summaries import model_facts
from maskedadv.validity.inputs import prepare
from maskedadv.validity.pairings import Pairing, PairingFile
from maskedadv.validity.sampling import draw_sample


def test_sizes_in_every_spelling(tmp_path: Path) -> None:
    path = tmp_path / "models.csv"
    path.write_text(
        "model,parameters,family\n001,7B,Q\nNA,0.5b,None\n1e5,7e9,\norg/m,260000,x\n,,\n".replace(
            "\n,,\n", "\n"
        )
    )
    table = read_models(path)
    assert table.index.tolist() == ["001", "NA", "1e5", "org/m"]
    assert table["parameters"].tolist() == [7e9, 5e8, 7e9, 260000]
    assert table["family"].tolist() == ["Q", "None", "", "x"]
    assert "origin" not in table
    assert model_facts(path)[list(table.columns)].equals(table)


@pytest.mark.parametrize("text", ["0", "-7", "-7B", "nan", "inf", "seven", "7BB", "1e", "B"])
def test_sizes_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(BadValue, match=r"column 'parameters': 1 values .* \(row 2: "):
        read_models(pd.DataFrame({"model": ["a", "b"], "parameters": ["7B", text]}))


def test_more_active_than_all_is_refused() -> None:
    with pytest.raises(BadValue, match="active_parameters"):
        read_models(pd.DataFrame({"model": ["a"], "parameters": ["7B"], "active_parameters": ["8B"]}))


def test_model_tables_that_are_none() -> None:
    with pytest.raises(MissingColumn, match="'model'"):
        read_models(pd.DataFrame({"name": ["a"]}))
    with pytest.raises(DuplicateRows):
        read_models(pd.DataFrame({"model": ["a", "a"]}))


def test_words_that_would_fall_out_of_a_comparison_unseen_are_refused() -> None:
    frame = pd.DataFrame({"model": ["a", "b"], "kind": ["Open", "closed"]})
    assert read_models(frame)["kind"].tolist() == ["open", "closed"]
    with pytest.raises(BadValue, match=r"'kind'.*neither open nor closed \(row 2: 'proprietary'\)"):
        read_models(frame.assign(kind=["open", "proprietary"]))
    with pytest.raises(BadValue, match=r"'adapted_for'.*';' between"):
        read_models(pd.DataFrame({"model": ["a"], "adapted_for": ["ar, fa"]}))


def _control(models: pd.DataFrame) -> list[float]:
    """log(parameters) as a study of validity takes it."""
    rows = [
        {"model": m, "benchmark": b, "language": "sv", "accuracy": 0.5}
        for m in models["model"]
        for b in ("native", "proxy")
    ]
    pairing = Pairing("P", "sv", "native", "proxy", ("log(parameters)",))
    inputs = prepare(PairingFile((pairing,)), pd.DataFrame(rows), models)
    sample = draw_sample(pairing, inputs.scores["sv"], inputs.models, "ALL", pairing.controls)
    return [float(value) for value in sample.controls[:, 0]]


def _table(*sizes: str) -> pd.DataFrame:
    names = [f"m{k}" for k in range(len(sizes))]
    return pd.DataFrame({"model": names, "family": names, "parameters": list(sizes)})


def test_report_and_validity_take_every_spelling_of_a_size_alike() -> None:
    spellings = ("7", "7.0", "7B", "7b", "7 B", "7e9", "7000M", "7000000000", "7.0e9", " 7B ")
    sizes = model_facts(_table(*spellings))["parameters"]
    assert set(sizes) == {7e9}
    assert _control(_table(*spellings)) == pytest.approx([22.669176] * len(spellings), abs=1e-6)


@pytest.mark.parametrize("size", ["-7", "0", "-7B", "inf", "seven", "7BB"])
def test_report_and_validity_refuse_alike(size: str) -> None:
    said = []
    for read in (model_facts, _control):
        with pytest.raises(MaskedadvError) as caught:
            read(_table("7B", size))
        said.append((type(caught.value), str(caught.value)))
    assert said[0] == said[1]
