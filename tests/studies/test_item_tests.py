"""The tests of single items, in full: size with and without relatives, power as information allows."""

from __future__ import annotations

import numpy as np
import pytest

from tests.studies.item_tests import SETTINGS, power, sizes
from tests.studies.purified import changes

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("models", [12, 40])
def test_size(models: int) -> None:
    found = sizes(models, 20)
    slack = 2.5 * np.sqrt(0.05 * 0.95 / found["n"])
    assert 0.04 - slack < found["score"] < 0.06 + slack
    assert found["exact"] < 0.06


@pytest.mark.parametrize("name", list(SETTINGS))
def test_robust_size(name: str) -> None:
    for models in (6, 40):
        assert sizes(models, 10, **SETTINGS[name])["robust"] < 0.06


@pytest.mark.parametrize(("size", "languages"), [(1.0, 2), (1.5, 2), (1.0, 7)])
def test_power(size: float, languages: int) -> None:
    found = power(40, size, 15, languages)
    assert found["power"] == pytest.approx(found["expected"], abs=3 * np.sqrt(0.25 / 150))
    assert found["effect"] == pytest.approx(size, abs=0.2)


@pytest.mark.parametrize("share", [0.0, 0.05, 0.15])
def test_change_of_purified_gaps(share: float) -> None:
    """Its standard error is that over tables; without a difference nothing moves."""
    found = changes(30, share)
    if share == 0.0:
        assert abs(found["change"]) < 0.01
        return
    assert found["told"] == pytest.approx(found["spread"], rel=3.5 / np.sqrt(2 * 30))
    assert found["covers its mean"] > 0.8
    assert -0.82 - 2.0 * share < found["all items"] < found["purified"] < -0.75
