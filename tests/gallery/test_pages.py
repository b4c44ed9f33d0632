"""The pages of the gallery hold the numbers that their scripts make."""

from __future__ import annotations

import importlib
import json
import math
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import maskedadv
from tests.conftest import ROOT

GALLERY = ROOT / "docs" / "gallery"
sys.path.insert(0, str(GALLERY))
pages = importlib.import_module("pages")

NAMES = [n for n in pages.NAMES if n != "veritasqa" or os.environ.get("VERITASQA")]
APART = 2e-3
"""Between processors; the pages show two decimals."""


def differences(kept: Any, new: Any, place: str = "") -> list[str]:
    """Where two nested tables of numbers are not the same."""
    if isinstance(kept, Mapping) and isinstance(new, Mapping):
        if set(kept) != set(new):
            return [f"{place}: {sorted(set(kept) ^ set(new))}"]
        return [d for k in kept for d in differences(kept[k], new[k], f"{place}/{k}")]
    if isinstance(kept, list) and isinstance(new, list) and len(kept) == len(new):
        return [
            d
            for k, (a, b) in enumerate(zip(kept, new, strict=True))
            for d in differences(a, b, f"{place}/{k}")
        ]
    if isinstance(kept, float) and isinstance(new, float):
        return [] if math.isclose(kept, new, rel_tol=APART, abs_tol=APART) else [f"{place}: {kept} and {new}"]
    return [] if kept == new else [f"{place}: {kept} and {new}"]


def test_a_difference_is_seen() -> None:
    """The comparison that the tests below rest on."""
    kept = {"a": {"b": [0.5, "x"], "n": 3}}
    assert not differences(kept, {"a": {"b": [0.5004, "x"], "n": 3}})
    for other in (
        {"a": {"b": [0.51, "x"], "n": 3}},
        {"a": {"b": [0.5, "y"], "n": 3}},
        {"a": {"b": [0.5, "x"]}},
    ):
        assert len(differences(kept, other)) == 1


@pytest.mark.parametrize("name", pages.NAMES)
def test_the_page_is_its_template_with_the_kept_numbers(name: str) -> None:
    assert pages.page_of(name).read_text("utf-8") == pages.render(name, pages.kept(name)), (
        f"run python docs/gallery/pages.py {name} --text"
    )


@pytest.mark.parametrize("name", NAMES)
def test_the_kept_numbers_are_the_scripts(name: str) -> None:
    found = pages.rounded(importlib.import_module(name).quick())
    assert not differences(pages.kept(name)["quick"], json.loads(json.dumps(found)))


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_what_takes_longer_is_the_scripts_too(name: str) -> None:
    """Draws of NUTS differ between processors, so only what they decide is compared."""
    script = importlib.import_module(name)
    if not hasattr(script, "long"):
        pytest.skip("everything is quick")
    kept, found = pages.kept(name)["long"], json.loads(json.dumps(pages.rounded(script.long())))
    if "posterior" in kept:
        one, other = kept.pop("posterior"), found.pop("posterior")
        assert one["verdict"] == other["verdict"]
        for gap, row in one["sw"].items():
            assert other["sw"][gap]["estimate"] == pytest.approx(row["estimate"], abs=0.05)
    assert not differences(kept, found)


def test_figures_are_small_and_each_is_shown() -> None:
    text = "".join(page.read_text("utf-8") for page in GALLERY.glob("*.md"))
    drawn = sorted((GALLERY / "figures").iterdir())
    assert drawn
    for figure in drawn:
        assert figure.stat().st_size < 150_000, figure.name
        assert f"](figures/{figure.name})" in text


def test_the_command_line_says_the_same(tmp_path: Path) -> None:
    """The commands of the page on TruthfulQA, with two of its models."""
    table = maskedadv.datasets.truthfulqa_multi()
    table = table[table["model"].isin(["mistralai/Mistral-7B-v0.3", "google/gemma-2-9b"])]
    table.to_parquet(tmp_path / "truthfulqa.parquet")
    fit = maskedadv.fit(table, estimator="marginal", min_accuracy=0)
    page = (GALLERY / "truthfulqa.md").read_text("utf-8")
    for line in (
        "maskedadv fit truthfulqa.parquet --estimator marginal --min-accuracy 0 -o truthfulqa",
        "maskedadv gaps truthfulqa",
    ):
        assert line in page
        done = subprocess.run(
            [sys.executable, "-m", *line.split(), *(["--json"] if " gaps " in line else [])],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
    told = [r for r in json.loads(done.stdout) if r["model"] == "google/gemma-2-9b"]
    ours = fit.gaps(model="google/gemma-2-9b", variant=fit.headline)["estimate"]
    assert [r["estimate"] for r in told] == pytest.approx(list(ours), abs=1e-4)


def test_the_script_of_the_page_runs_from_the_command_line() -> None:
    done = subprocess.run(
        [sys.executable, str(GALLERY / "bertaqa.py")], capture_output=True, text=True, check=True
    )
    mean = pages.kept("bertaqa")["quick"]["mean"]["floor+linked"]["estimate"]
    assert f"'estimate': {round(mean, 2)}" in done.stdout
