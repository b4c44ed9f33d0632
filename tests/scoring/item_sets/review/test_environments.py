"""Environments of their own: complete or not there, and never in the place of something else."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from maskedadv.errors import BadSetting, ReviewServerFailed
from maskedadv.scoring.item_sets.review import environments
from maskedadv.scoring.item_sets.review.environments import bare_variables, environment, python_of


def test_what_cannot_be_installed_is_a_sentence_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    said: list[str] = []
    with pytest.raises(ReviewServerFailed, match=r"no-such-package==1 cannot be installed \(.*No matching"):
        environment(("no-such-package==1",), tmp_path / "new" / "env", said.append)
    assert len(said) == 1
    assert list((tmp_path / "new").iterdir()) == []


def test_it_is_made_once_and_again_for_other_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[list[str]] = []

    def run(command: list[str], _: str) -> None:
        made.append(command)
        if "venv" in command:
            python_of(Path(command[-1])).parent.mkdir(parents=True)

    monkeypatch.setattr(environments, "_run", run)
    folder = tmp_path / "env"
    for _ in range(2):
        assert environment(("a==1", "b"), folder, lambda _: None) == python_of(folder)
    assert made[0][0] == sys.executable
    assert made[1][-2:] == ["a==1", "b"]
    assert len(made) == 2
    with pytest.raises(BadSetting, match="not an environment of a==2"):
        environment(("a==2",), folder, lambda _: None)


def test_a_folder_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(BadSetting, match="--environment"):
        environment(("a==1",), tmp_path, lambda _: None)
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.txt"]


def test_keys_and_settings_of_the_user_are_not_handed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "LABEL_STUDIO_HOST", "DEBUG", "PYTHONPATH", "VIRTUAL_ENV"):
        monkeypatch.setenv(name, "x")
    assert not {"OPENAI_API_KEY", "LABEL_STUDIO_HOST", "DEBUG", "PYTHONPATH"} & set(bare_variables())
    assert "PATH" in bare_variables()
