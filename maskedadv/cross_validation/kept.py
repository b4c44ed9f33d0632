"""What a broken comparison keeps: finished folds, beside the output, until the run is whole."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskedadv.files.atomic import whole_name, write_whole
from maskedadv.files.damage import DAMAGE
from maskedadv.files.unfinished import take_up, unfinished_folder
from maskedadv.result.draws import file_names

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Unit:
    """Predictions of one candidate, locale and fold.

    Attributes
    ----------
    predicted : by subset, of the held-out answers in the order of cells, then items
    seconds : spent
    trouble : why there are none, empty where there are
    """

    predicted: Mapping[int, Array]
    seconds: float
    trouble: str = ""


class Kept:
    """A folder of finished units; without a folder nothing is kept."""

    def __init__(self, folder: Path | None, locales: list[str]) -> None:
        self.folder = folder
        self._names = {k: v.removesuffix(".nc") for k, v in file_names(locales).items()}

    def _path(self, candidate: str, locale: str, fold: int) -> Path:
        assert self.folder is not None
        return self.folder / f"{candidate.replace(' ', '_')}~{self._names[locale]}~{fold}.npz"

    def get(self, candidate: str, locale: str, fold: int) -> Unit | None:
        """A finished unit; None where there is none, or its file is damaged."""
        if self.folder is None or not (path := self._path(candidate, locale, fold)).is_file():
            return None
        try:
            with np.load(path, allow_pickle=False) as arrays:
                own = {int(name): arrays[name] for name in arrays.files if name.isdigit()}
                return Unit(own, float(arrays["seconds"]))
        except DAMAGE:
            return None

    def put(self, candidate: str, locale: str, fold: int, unit: Unit) -> None:
        """Keep a unit, whole or not at all; one without predictions is tried again."""
        if self.folder is None or unit.trouble:
            return
        arrays: dict[str, Any] = {str(s): p for s, p in unit.predicted.items()}

        def write(partial: Path) -> None:
            with partial.open("wb") as file:
                np.savez(file, seconds=unit.seconds, **arrays)

        write_whole(self._path(candidate, locale, fold), write)


def open_kept(output: Path, run: Mapping[str, Any], *, overwrite: bool) -> Path:
    """Make the folder of finished units, or take up the one that the same run left behind.

    Raises
    ------
    OutputExists
        It holds another run, and `overwrite` is not given; it is not of our making; it cannot be written.
    """
    return take_up(
        output,
        run,
        is_ours=_is_ours,
        keeps="a comparison keeps what is finished",
        holds="part of another, interrupted comparison",
        worth_keeping=lambda folder: any(p.suffix == ".npz" for p in folder.iterdir()),
        overwrite=overwrite,
    )


def _is_ours(name: str) -> bool:
    whole = whole_name(name)
    return whole.endswith(".npz") and whole.count("~") == 2


def close_kept(output: Path, *, keep: bool) -> int:
    """Remove the folder, or (`keep`) only if nothing is finished in it; how many units are kept."""
    folder = unfinished_folder(output)
    count = len(list(folder.glob("[!.]*.npz"))) if folder.is_dir() else 0
    if keep and count:
        return count
    shutil.rmtree(folder, ignore_errors=True)
    return 0
