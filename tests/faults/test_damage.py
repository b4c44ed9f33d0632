"""Files that rot: another byte anywhere in a result is never read as other numbers."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import maskedadv
from maskedadv.assumptions import dif, fit_check, load_dif, load_fit_check, save_dif
from maskedadv.cross_validation import compare, load_comparison
from maskedadv.cross_validation.saving import save_comparison
from maskedadv.errors import NotAResult
from maskedadv.files.digests import is_sealed, seal
from maskedadv.result.fit_result import Fit

PYTHON = re.compile(r"Error|Exception|Errno|Zip|<class|Traceback")
"""What no sentence for users says."""

READ = ("fit.json", "cube.nc", "items.parquet", "uncertainty")


def flip(path: Path, place: int) -> None:
    content = bytearray(path.read_bytes())
    content[place // 8] ^= 1 << place % 8
    path.write_bytes(content)


@pytest.fixture(scope="module")
def saved(fit: Fit, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fit.save(tmp_path_factory.mktemp("damage") / "out")


@pytest.mark.parametrize("kind", READ)
def test_a_flipped_bit_is_noticed(saved: Path, tmp_path: Path, kind: str) -> None:
    rng = np.random.default_rng(11)
    for k in range(12):
        out = shutil.copytree(saved, tmp_path / str(k))
        files = [p for p in sorted(out.rglob("*")) if p.is_file() and kind in p.relative_to(out).parts[0]]
        path = files[rng.integers(len(files))]
        flip(path, int(rng.integers(8 * path.stat().st_size)))
        with pytest.raises(NotAResult) as told:
            maskedadv.load(out)
        assert not PYTHON.search(str(told.value))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "fit.json is damaged (no JSON any more, from line 1 on)"),
        (b"\xff\xfe", "fit.json is damaged (no text in UTF-8)"),
        (b"[" * 100_000, "fit.json is damaged (brackets in brackets without end)"),
        (b"[]", "fit.json is damaged (not the object that was written)"),
        (b"{}", "is damaged (it lacks 'format')"),
    ],
)
def test_damage_of_the_manifest_is_told_in_plain_words(
    saved: Path, tmp_path: Path, content: bytes, words: str
) -> None:
    out = shutil.copytree(saved, tmp_path / "out")
    (out / "fit.json").write_bytes(content)
    with pytest.raises(NotAResult) as told:
        maskedadv.load(out)
    assert words in str(told.value)
    assert str(told.value).endswith("; fit again.")


@pytest.mark.parametrize("name", ["cube.nc", "items.parquet", "uncertainty/plain.npz"])
def test_a_file_that_is_gone_is_named(saved: Path, tmp_path: Path, name: str) -> None:
    out = shutil.copytree(saved, tmp_path / "out")
    (out / name).unlink()
    with pytest.raises(NotAResult, match=rf"out is damaged \({Path(name).name} is missing\); fit again"):
        maskedadv.load(out)
    (out / name).mkdir()
    with pytest.raises(NotAResult, match=rf"out is damaged \({Path(name).name}: Is a directory\); fit again"):
        maskedadv.load(out)


@pytest.mark.parametrize("how", ["zeros", "cut", "empty", "swapped"])
@pytest.mark.parametrize("name", ["cube.nc", "items.parquet", "uncertainty/plain.npz"])
def test_other_damage_is_noticed(saved: Path, tmp_path: Path, name: str, how: str) -> None:
    out = shutil.copytree(saved, tmp_path / "out")
    content = bytearray((out / name).read_bytes())
    half = len(content) // 2
    if how == "zeros":
        content[half : half + 64] = bytes(64)
    if how == "cut":
        del content[half:]
    if how == "empty":
        content.clear()
    if how == "swapped":
        content = content[half:] + content[:half]
    (out / name).write_bytes(content)
    with pytest.raises(NotAResult, match="damaged"):
        maskedadv.load(out)


def test_tables_for_people_may_be_edited(saved: Path, tmp_path: Path) -> None:
    """`gaps.csv` is for other programs; nothing of ours reads it back."""
    out = shutil.copytree(saved, tmp_path / "out")
    (out / "gaps.csv").write_text("mine")
    (out / "notes.txt").write_text("mine")
    assert maskedadv.load(out).gaps().equals(maskedadv.load(saved).gaps())


def _compared(csv: Path, out: Path) -> Path:
    save_comparison(compare(csv, candidates=["joint"], folds=3, min_accuracy=0), out)
    return out


MADE: dict[str, tuple[Callable[[Path, Path], Path], Callable[[Path], object]]] = {
    "compare": (_compared, load_comparison),
    "dif": (lambda csv, out: save_dif(dif(csv, min_accuracy=0), out), load_dif),
    "fit-check": (lambda csv, out: fit_check(csv, replicates=20, min_accuracy=0).save(out), load_fit_check),
}


@pytest.mark.parametrize("command", MADE)
def test_no_table_that_a_report_reads_back_may_rot(command: str, csv: Path, tmp_path: Path) -> None:
    make, load = MADE[command]
    whole = make(csv, tmp_path / "whole")
    load(whole)
    rng = np.random.default_rng(3)
    for path in sorted(p.relative_to(whole) for p in whole.iterdir()):
        for k in range(3):
            out = shutil.copytree(whole, tmp_path / f"{path}{k}")
            flip(out / path, int(rng.integers(8 * (out / path).stat().st_size)))
            with pytest.raises(NotAResult, match="damaged") as told:
                load(out)
            assert not PYTHON.search(str(told.value))
        out = shutil.copytree(whole, tmp_path / f"{path} gone")
        (out / path).unlink()
        with pytest.raises(NotAResult, match=re.escape(path.name)):
            load(out)


def test_damaged_draws_are_noticed_before_hdf5_reads_them(tmp_path: Path, csv: Path) -> None:
    fit = maskedadv.fit(csv, min_accuracy=0, method="nuts", chains=2, warmup=100, draws=60, variants="none")
    out = fit.save(tmp_path / "out")
    path = out / "posterior" / "plain" / "locale_0.nc"
    path = path if path.exists() else next((out / "posterior" / "plain").glob("*.nc"))
    whole = path.read_bytes()
    rng = np.random.default_rng(5)
    for place in rng.integers(8 * len(whole), size=6):
        path.write_bytes(whole)
        flip(path, int(place))
        os.utime(path, ns=(int(place), int(place)))  # a file that was looked at already is known by its time
        again = maskedadv.load(out)
        with pytest.raises(NotAResult, match="damaged"):
            again.draws("knowledge_gap")
    path.write_bytes(whole)
    assert maskedadv.load(out).draws("knowledge_gap").equals(fit.draws("knowledge_gap"))


def test_a_seal_holds_for_what_json_gives_back() -> None:
    content = {"b": (1, 2.5), "a": {"ü": None}, "c": 1e-300}
    sealed = seal(content)
    assert is_sealed(sealed)
    assert not is_sealed({**sealed, "c": 1e-301})
    assert not is_sealed(content)
