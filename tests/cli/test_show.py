"""Gap tables for the terminal: the order of their rows."""

from __future__ import annotations

import pandas as pd

from maskedadv.cli.show import with_means


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
