"""The benchmark for a GPU, in its small form: it runs, agrees with the harness, and counts padding."""

from __future__ import annotations

import pytest


def test_the_benchmark_for_a_gpu_in_its_small_form() -> None:
    pytest.importorskip("lm_eval")
    from tests.benchmarks.gpu import BUDGETS, run

    lines = run(tiny=True)
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if line.startswith("| ")]
    ours = [row for row in rows if row[0].startswith("maskedadv")]
    assert len(ours) == len(BUDGETS[:2])
    for row in ours:
        assert float(row[1]) > 0
        assert float(row[4].removesuffix("%")) <= 3.0
    assert float(lines[-1].split("harness's: ")[1].split(",")[0]) < 1e-4
