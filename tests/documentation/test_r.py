"""Code in R that pages show, run where R and the packages that it needs are installed."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import maskedadv
from tests.documentation.steps import PAGES, Block, blocks_of
from tests.simulate import artefact_table

BLOCKS = [
    pytest.param(b, id=b.place) for page in PAGES for b in blocks_of(page) if b.kind == "r" and not b.why
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A reader's folder with a result, one of whose ids R might take for something else."""
    place = tmp_path_factory.mktemp("r")
    answers = artefact_table(3, 40, chance=0.25, seed=1).assign(n_options=4)
    answers["model"] = answers["model"].replace({sorted(set(answers["model"]))[0]: "café, 70B"})
    maskedadv.fit(answers, estimator="marginal", min_accuracy=0).save(place / "results")
    return place


def run_r(code: str, folder: Path) -> str:
    """What R prints; skipped where it, or a package, is not installed."""
    rscript = shutil.which("Rscript")
    if rscript is None:
        pytest.skip("R is not installed")
    for package in re.findall(r"library\((\w+)\)", code):
        asked = [rscript, "-e", f'quit(status = !requireNamespace("{package}", quietly = TRUE))']
        if subprocess.run(asked, capture_output=True, check=False).returncode:
            pytest.skip(f"R's package {package} is not installed")
    script = folder / "script.R"
    script.write_text(code, "utf-8")
    done = subprocess.run(
        [rscript, "--vanilla", "--encoding=UTF-8", script.name],
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_pages_have_code_in_r() -> None:
    assert len(BLOCKS) >= 3


@pytest.mark.parametrize("block", BLOCKS)
def test_every_block_of_r_runs(block: Block, folder: Path) -> None:
    assert run_r(block.text, folder).strip(), "it prints something"


def test_r_reads_the_numbers_that_python_wrote(folder: Path) -> None:
    (code,) = [b.values[0].text for b in BLOCKS if "ncdf4" in b.values[0].text]
    told = run_r(code + 'cat("value", estimate["local_gap", 2, 1, "paired"])\n', folder)
    value = float(told.rpartition("value")[2])
    with xr.open_dataset(folder / "results" / "cube.nc") as cube:
        expected = cube["estimate"].sel(variant="paired", gap="local_gap").values[0, 1]
    np.testing.assert_allclose(value, expected, rtol=1e-5)
