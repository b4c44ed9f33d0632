"""Gap tables for the terminal: the order of their rows, and what stands for many locales."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import maskedadv
from maskedadv.cli.fit import summary
from maskedadv.cli.main import cli
from maskedadv.cli.show import MANY_LOCALES, with_means
from maskedadv.words.numbers import number
from tests import simulate


def _rows(model: str, locales: str) -> pd.DataFrame:
    return pd.DataFrame({"locale": list(locales), "model": [f"{model}{k}" for k in range(len(locales))]})


def test_every_locale_is_followed_by_its_means():
    gaps, means = _rows("m", "zzaab"), _rows("mean", "abz")
    found = with_means(gaps, means, _rows("like", "ac"), gaps.iloc[:0])
    told = (found["locale"] + " " + found["model"]).tolist()
    assert told == [
        "z m0", "z m1", "z mean2", "a m2", "a m3", "a mean0", "a like0", "b m4", "b mean1", "c like1",
    ]  # fmt: skip
    assert found.index.tolist() == list(range(10))
    assert with_means(gaps.iloc[:0], means.iloc[:0]).empty


def test_of_many_locales_a_line_tells_the_means_of_each(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """The numbers are those of `Fit.means`; single models are there for the locale that was named."""
    names = [f"{a}{b}" for a in "abcdef" for b in "pqrstu"][: MANY_LOCALES + 1]
    fit = maskedadv.fit(simulate.table(3, (12, 12), locales=names, seed=1), min_accuracy=0.0, variants="none")
    fit.save(tmp_path / "out")
    out = CliRunner().invoke(cli, ["gaps", str(tmp_path / "out"), "--model", "m0", "--model", "m1"]).output
    out = out[out.index("Gaps in logits") :]
    lines = {line.split()[0]: line for line in out.splitlines() if line.strip()}
    assert max(map(len, out.splitlines())) <= 80
    means = fit.means(variant=fit.headline, model=["m0", "m1"])
    for name in names:
        told = re.findall(r"-?\d+\.\d\d", lines[name])
        own = means[means["locale"] == name][["estimate", "lower", "upper"]].to_numpy().ravel()
        assert told == [number(v) for v in own if np.isfinite(v)]
    assert lines["(all)"]
    assert "m0" not in out
    assert "--locale" in out
    assert "m0" in CliRunner().invoke(cli, ["gaps", str(tmp_path / "out"), "--locale", names[3]]).output
    print(summary(fit))
    assert f"{names[-1]} " in capsys.readouterr().out
