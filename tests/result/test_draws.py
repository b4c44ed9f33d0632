"""Posteriors in files."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from maskedadv.result.draws import read_tree, write_tree


def test_a_tree_that_nobody_holds_goes_before_the_next_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("maskedadv.result.draws._LARGE", 0)
    data = xr.Dataset({"x": ("draw", np.arange(5.0))})
    write_tree(xr.DataTree.from_dict({"/posterior": data}), tmp_path / "zh.nc")
    gc.disable()
    try:
        tree = read_tree(tmp_path / "zh.nc")
        held = weakref.ref(tree["posterior"])
        np.testing.assert_array_equal(tree["posterior"]["x"].values, np.arange(5.0))
        del tree
        read_tree(tmp_path / "zh.nc")
        assert held() is None
    finally:
        gc.enable()
