"""Data as JSON text: what a JSON reader makes of it is what was given."""

from __future__ import annotations

import json

import numpy as np
import pytest

from maskedadv.engines.data_text import json_text

_RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    "value",
    [
        3,
        0.25,
        [1, 2],
        np.float64(1.5),
        np.arange(500),
        np.arange(500.0)[::-1],
        _RNG.integers(0, 9, size=(3, 400)).astype(float),
        _RNG.random((2, 150)),
        np.array([0.0, 1.0, 0.5] * 50),
        np.array([0.0, -0.0] * 100),
        np.array([0, 10**9] * 100),
        np.array([-1, 1] * 100),
        np.zeros(0),
        np.zeros((0, 200)),
        _RNG.random(200) < 0.5,
    ],
    ids=str,
)
def test_a_json_reader_gives_the_numbers_back(value: object) -> None:
    found = json.loads(json_text({"first": value, "second": 1}))
    assert found["second"] == 1
    assert found["first"] == (value.tolist() if hasattr(value, "tolist") else value)


def test_whole_numbers_have_no_fraction_so_that_they_serve_as_int_too() -> None:
    assert json_text({"n": np.full(100, 7)}) == '{"n": [' + ",".join(["7"] * 100) + "]}"
