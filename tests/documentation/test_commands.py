"""The commands that pages show: every option exists, and those that are quick are given, page by page."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import click
import pandas as pd
import pytest

import maskedadv
from maskedadv.cli.main import cli
from tests.conftest import ROOT
from tests.documentation.steps import PAGES, blocks_of, commands_of, follow
from tests.simulate import artefact_table

ALL = [
    pytest.param(arguments, id=f"{block.place}-{k}")
    for page in PAGES
    for block in blocks_of(page)
    for k, arguments in enumerate(commands_of(block))
]


@pytest.mark.parametrize("arguments", ALL)
def test_every_command_and_option_that_a_page_shows_exists(arguments: list[str]) -> None:
    """Placeholders such as PATH... or [--pivot en] are allowed; names of options are not made up."""
    words = [word.strip("[]") for word in arguments]
    command: click.Command = cli
    while isinstance(command, click.Group) and words and "|" not in words[0]:
        try:
            found = command.get_command(click.Context(command), words.pop(0))
        except ModuleNotFoundError as error:  # an environment without the packages of scoring
            pytest.skip(str(error))
        assert found is not None, arguments
        command = found
    known = {name for option in command.params for name in (*option.opts, *option.secondary_opts)}
    for word in words:
        if re.fullmatch(r"--?[a-zA-Z][\w-]*(=.*)?", word):
            assert word.partition("=")[0] in known | {"--help", "-h"} or isinstance(command, click.Group), (
                word
            )


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table, a result of it, facts about its models."""
    folder = tmp_path_factory.mktemp("a reader's")
    answers = artefact_table(10, 60, chance=0.25, seed=1).assign(n_options=4)
    answers.to_csv(folder / "responses.csv", index=False)
    maskedadv.fit(answers, estimator="marginal", min_accuracy=0).save(folder / "results")
    scored = answers.assign(p_correct=answers["correct"].map({0: 0.2, 1: 0.7}) + answers.index % 7 / 70)
    scored.to_csv(folder / "scored.csv", index=False)
    facts = pd.DataFrame({"model": sorted(set(answers["model"]))})
    facts["family"] = [f"family {k % 6}" for k in range(len(facts))]
    facts["adapted_for"] = ["zh" if k < 2 else "" for k in range(len(facts))]
    facts.to_csv(folder / "models.csv", index=False)
    return folder


FOLLOWED = {
    "README.md": ("responses.csv",),
    "docs/how-to/few-models.md": ("responses.csv",),
    "docs/how-to/relatives.md": ("responses.csv", "models.csv"),
    "docs/how-to/missing-answers.md": ("responses.csv",),
    "docs/how-to/adapted-models.md": (),
    "docs/how-to/probabilities.md": ("scored.csv",),
    "docs/how-to/languages.md": ("responses.csv",),
    "docs/how-to/planning.md": ("results",),
    "docs/reference/responses.md": ("responses.csv",),
}
"""Pages whose every command is given, with what lies in the reader's folder."""


@pytest.mark.parametrize("page", FOLLOWED)
def test_the_commands_of_a_page_run(
    page: str, prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in FOLLOWED[page]:
        copy = shutil.copytree if (prepared / name).is_dir() else shutil.copy
        copy(prepared / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    assert follow(ROOT / page) > 0
