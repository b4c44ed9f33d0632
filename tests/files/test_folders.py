"""Where results may be written, and what is never touched."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import maskedadv
from maskedadv import errors
from maskedadv.files import folders
from maskedadv.files.folders import whole_folder
from maskedadv.result.fit_result import Fit
from tests.simulate import table


@pytest.fixture(scope="module")
def fit() -> Fit:
    return maskedadv.fit(table(2, (20, 20), seed=1), min_accuracy=0)


def test_a_folder_with_somebody_elses_fit_json_is_refused(fit: Fit, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    for content in ('{"mine": 1}', "[]", "not json"):
        (other / "fit.json").write_text(content)
        with pytest.raises(errors.OutputExists, match="no maskedadv result"):
            fit.save(other, overwrite=True)
        assert (other / "fit.json").read_text() == content


def test_what_lies_beside_our_files_is_carried_over(fit: Fit, tmp_path: Path) -> None:
    out = fit.save(tmp_path / "out")
    (out / "thoughts.md").write_text("mine")
    (out / "plots").mkdir()
    (out / "plots" / "a.png").write_bytes(b"x")
    (out / "variants.csv").write_text("stale and ours")
    fit.save(out, overwrite=True)
    assert (out / "thoughts.md").read_text() == "mine"
    assert (out / "plots" / "a.png").read_bytes() == b"x"
    assert "stale" not in (out / "variants.csv").read_text()
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_a_link_keeps_pointing_at_its_folder(fit: Fit, tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    fit.save(target)
    link.symlink_to(target)
    fit.save(link, overwrite=True)
    assert link.is_symlink()
    assert maskedadv.load(link).settings == fit.settings
    dangling = tmp_path / "dangling"
    dangling.symlink_to(tmp_path / "later")
    fit.save(dangling)
    assert (tmp_path / "later" / "fit.json").is_file()


def test_the_working_folder_is_not_replaced(
    fit: Fit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(errors.OutputExists, match="the folder you work in"):
        fit.save(".")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("place", ["file/out", "x" * 300])
def test_places_that_cannot_be_written_are_named(fit: Fit, tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(errors.OutputExists, match="cannot be written"):
        fit.save(tmp_path / place)


def test_a_failure_at_the_last_step_puts_the_old_result_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "a").write_text("old")
    real = os.replace
    calls = []

    def fails_second(source: str, target: str) -> None:
        calls.append(source)
        if len(calls) == 2:
            raise OSError("disk is gone")
        real(source, target)

    monkeypatch.setattr(folders, "exchange", lambda *_: False)  # a disk that cannot do it in one step
    monkeypatch.setattr(os, "replace", fails_second)
    with pytest.raises(OSError, match="disk is gone"), whole_folder(out, bool) as partial:
        (partial / "a").write_text("new")
    assert (out / "a").read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_saving_over_a_result_says_how(fit: Fit, tmp_path: Path) -> None:
    out = fit.save(tmp_path / "out")
    with pytest.raises(errors.OutputExists, match="overwrite=True"):
        fit.save(out)


@pytest.mark.usefixtures("undrawn")
def test_a_report_leaves_what_lies_beside_it(fit: Fit, tmp_path: Path) -> None:
    from maskedadv.reports.write import write_report

    folder = tmp_path / "report"
    write_report(fit, folder, formats=("svg",))
    (folder / "notes.md").write_text("mine")
    write_report(fit, folder, formats=("svg",), overwrite=True)
    assert (folder / "notes.md").read_text() == "mine"
