"""Numbers of R (tests/data/r/numbers.R says how they were made) and the table they belong to."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tests.conftest import ROOT

FOLDER = ROOT / "tests" / "data" / "r"


@cache
def numbers() -> dict[str, float]:
    frame = pd.read_csv(FOLDER / "numbers.csv")
    return dict(zip(frame["name"], frame["value"], strict=True))


def table() -> NDArray[np.float64]:
    return pd.read_csv(FOLDER / "rasch_table.csv").to_numpy(float)


def several(stem: str, count: int = 8) -> list[float]:
    return [numbers()[f"{stem}_{k}"] for k in range(count)]
