"""README.md says what comes out, and `make readme` tells where it does not."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

import maskedadv
from maskedadv.result.fit_result import Fit
from tests.readme import __main__ as program
from tests.readme import figure, numbers


@pytest.fixture(scope="module")
def fit() -> Fit:
    return maskedadv.fit(maskedadv.datasets.global_mmlu_lite(), estimator="marginal")


def test_every_number_is_as_made_anew(fit: Fit) -> None:
    text = numbers.README.read_text("utf-8")
    assert numbers.made_anew(text, fit) == text


def test_the_figure_is_as_made_anew(fit: Fit) -> None:
    assert figure.figures_told(figure.FIGURE) == figure.numbers_of(fit)


def test_no_number_stands_there_that_nothing_makes() -> None:
    assert not numbers.unexplained(numbers.README.read_text("utf-8"))
    assert numbers.unexplained("It is 17 times as fast.") == ["17"]


@pytest.mark.parametrize("name", ["README.md", "figure"])
def test_a_difference_is_shown_and_mended(
    name: str, fit: Fit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A changed number, a figure of other numbers: exit code 1, both told, --write puts them right."""
    readme, drawn = tmp_path / "README.md", tmp_path / "drawn.png"
    text = numbers.README.read_text("utf-8")
    wrong = re.sub(r"lose 2\.3 logits", "lose 9.9 logits", text).replace("sw      -2.28", "sw      -9.28")
    assert wrong.count("9.") == text.count("9.") + 2
    readme.write_text(wrong if name == "README.md" else text, "utf-8")
    if name == "figure":
        figure.draw(maskedadv.fit(maskedadv.datasets.global_mmlu_lite(), locale="sw", variants="none"), drawn)
    else:
        shutil.copy(figure.FIGURE, drawn)
    for module in (program, numbers):
        monkeypatch.setattr(module, "README", readme)
    monkeypatch.setattr(program, "FIGURE", drawn)
    monkeypatch.setattr(program, "fitted", lambda: fit)
    assert program.main(write=False) == 1
    told = capsys.readouterr().out
    assert ("-In Swahili these six systems lose 9.9" in told) == (name == "README.md")
    assert ("drawn.png: would be" in told) == (name == "figure")
    assert program.main(write=True) == 0
    assert program.main(write=False) == 0
    assert readme.read_text("utf-8") == text
