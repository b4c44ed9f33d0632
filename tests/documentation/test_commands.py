"""The commands that pages show: every option exists, and they are given, page by page, in their order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import click
import pytest

from maskedadv.cli.main import cli
from tests.conftest import ROOT
from tests.documentation.folder import MAKERS, Things
from tests.documentation.shell import commands_of, elsewhere, ours, run_shell
from tests.documentation.steps import PAGES, blocks_of, missing
from tests.scoring.conftest import byte_tokenizer, tiny_model  # noqa: F401  (fixtures)

ALL = [
    pytest.param(arguments, id=f"{block.place}-{k}")
    for page in PAGES
    for block in blocks_of(page)
    for k, arguments in enumerate(ours(block))
]


@pytest.mark.parametrize("arguments", ALL)
def test_every_command_and_option_that_a_page_shows_exists(arguments: list[str]) -> None:
    """Also of blocks that are not run."""
    words = list(arguments)
    command: click.Command = cli
    while isinstance(command, click.Group) and words:
        try:
            found = command.get_command(click.Context(command), words.pop(0))
        except ModuleNotFoundError as error:  # an environment without the packages of scoring
            pytest.skip(str(error))
        assert found is not None, arguments
        command = found
    known = {name for option in command.params for name in (*option.opts, *option.secondary_opts)}
    for word in words:
        if re.fullmatch(r"--?[a-zA-Z][\w-]*(=.*)?", word):
            assert word.partition("=")[0] in known | {"--help", "-h"}, word


CORE: dict[str, tuple[str, ...]] = {
    "CONTRIBUTING.md": (),
    "README.md": ("responses.csv",),
    "docs/explanation/nuts.md": ("answers.csv", "zh_1.csv", "zh_2.csv"),
    "docs/gallery/bertaqa.md": (),
    "docs/gallery/bundled-outcomes.md": (),
    "docs/gallery/truthfulqa.md": (),
    "docs/how-to/adapted-models.md": (),
    "docs/how-to/annotation.md": ("humans.csv", "model.csv", "subjects.csv"),
    "docs/how-to/clusters.md": ("responses.csv = few.csv",),
    "docs/how-to/compare.md": ("responses.csv = few.csv", "results = of-few"),
    "docs/how-to/dif.md": ("responses.csv", "items.jsonl", "results"),
    "docs/how-to/few-models.md": ("responses.csv",),
    "docs/how-to/fit-check.md": ("responses.csv", "models.csv", "results"),
    "docs/how-to/from-accuracy.md": ("accuracies.csv",),
    "docs/how-to/gpu-checklist.md": (),
    "docs/how-to/languages.md": ("responses.csv",),
    "docs/how-to/missing-answers.md": ("responses.csv",),
    "docs/how-to/planning.md": ("results",),
    "docs/how-to/probabilities.md": ("scored.csv",),
    "docs/how-to/relatives.md": ("responses.csv", "models.csv"),
    "docs/how-to/reports.md": ("results", "models.csv", "dif-out", "fit-out"),
    "docs/how-to/sensitivity.md": ("responses.csv", "models.csv"),
    "docs/how-to/validity.md": ("scores.csv", "models.csv = facts.csv"),
    "docs/reference/diagnostics.md": ("results = posterior",),
    "docs/reference/responses.md": ("responses.csv",),
    "docs/tutorials/first-result.md": ("responses.csv",),
}
"""Pages that need no package of scoring, with what lies in the reader's folder."""

SCORING: dict[str, tuple[str, ...]] = {
    "docs/how-to/importing.md": (
        *(
            "logs",
            "details",
            "tasks.toml",
            "evals",
            "runs",
            "answers.csv = responses.csv",
            "results = scores",
        ),
    ),
    "docs/how-to/item-sets.md": ("questions.csv", "labelled.jsonl", "build.toml"),
    "docs/how-to/items.md": (
        *("Global-MMLU-Lite", "include-base-44/Greek", "cmmlu/test", "belebele/deu_Latn.jsonl"),
        *("m_mmlu/fr", "bertaqa_eu.jsonl", "EusExams", "mine.csv", "exams"),
    ),
    "docs/how-to/large-tables.md": ("answers", "big.csv", "logs", "items.jsonl = lite.jsonl", "org/model-8b"),
    "docs/how-to/reviewing-items.md": ("items.jsonl = reviewed.jsonl", "people.parquet"),
    "docs/how-to/scoring.md": ("lite.jsonl", "org/model-8b", "org/model-70b"),
}
"""Pages that need packages of scoring."""

BY_THEMSELVES = {
    "docs/tutorials/item-set.md": "tests/scoring/item_sets/test_walk.py",
    "docs/tutorials/lm-eval.md": "tests/documentation/test_lm_eval_logs.py",
}
"""Tutorials that a test of their own follows, and looks at what comes out."""

FEW_DRAWS = ["--chains", "2", "--warmup", "20", "--draws", "20"]
MORE = {
    "fit --method nuts": [*FEW_DRAWS, "--max-treedepth", "4"],
    "compare --nuts": ["--scheme", "random", "--folds", "2", *FEW_DRAWS],
    "report png,pdf": ["--format", "none"],  # tests/reports draws them
    "validity run": ["--resamples", "200", "--repeats", "5"],
    "fit answers/responses.parquet": ["--min-accuracy", "0"],  # a random model is at chance
}
"""Words put behind commands: fewer draws and resamples than anybody should take."""

ADDRESSES = ("http://localhost:8000/v1", "https://api.example.com/v1")


@pytest.fixture(scope="session")
def things(tmp_path_factory: pytest.TempPathFactory) -> Things:
    """What the pages speak of."""
    return Things(tmp_path_factory.mktemp("before a reader"), dict(MAKERS))


def follow(page: str, instead: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> int:
    """Do what a page says in the present folder: write its files, give its commands; how many commands."""
    blocks = list(blocks_of(ROOT / page))
    for block in blocks:
        if block.file and block.written:
            Path(block.file).write_text(block.text, "utf-8")
    given = 0
    for block in blocks:
        if block.kind == "sh" and not block.why:
            told = run_shell(block, monkeypatch, more=MORE, instead=instead)
            assert not missing(block.shown, told), (block.place, missing(block.shown, told), told)
            given += len(list(commands_of(block)))
    return given


@pytest.mark.parametrize("page", CORE)
def test_the_commands_of_a_page_run(
    page: str, things: Things, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in CORE[page]:
        things.put(name, tmp_path)
    monkeypatch.chdir(tmp_path)
    assert follow(page, {}, monkeypatch) > 0


@pytest.fixture
def of_scoring(things: Things, request: pytest.FixtureRequest) -> Iterator[dict[str, str]]:
    """The makers of what scoring needs, and an endpoint in the place of those that pages name."""
    pytest.importorskip("transformers")
    pytest.importorskip("httpx2")
    from tests.documentation import of_scoring

    things.makers |= of_scoring.makers(lambda: request.getfixturevalue("tiny_model"))
    with ExitStack() as stack:
        url = stack.enter_context(of_scoring.endpoint())
        yield dict.fromkeys(ADDRESSES, url)


@pytest.mark.parametrize("page", SCORING)
def test_the_commands_of_a_page_on_scoring_run(
    page: str,
    things: Things,
    of_scoring: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in SCORING[page]:
        things.put(name, tmp_path)
    monkeypatch.setenv("LABEL_API", of_scoring[ADDRESSES[0]])
    monkeypatch.chdir(tmp_path)
    assert follow(page, of_scoring, monkeypatch) > 0


def test_every_page_with_commands_is_followed() -> None:
    with_commands = {
        page.relative_to(ROOT).as_posix()
        for page in PAGES
        for block in blocks_of(page)
        if block.kind == "sh" and not block.why
    }
    assert with_commands == {*CORE, *SCORING, *BY_THEMSELVES}


def test_what_another_test_runs_is_named_there() -> None:
    """The pages that a test of their own follows, and commands left to another test, are in these tests."""
    for page, test in BY_THEMSELVES.items():
        assert Path(page).name in (ROOT / test).read_text("utf-8")
    left = {
        (words[0], test) for page in PAGES for block in blocks_of(page) for words in commands_of(block)
        if (test := elsewhere(words))
    }  # fmt: skip
    assert left == {
        ("maskedadv", "tests/cli/test_commands.py"),
        ("python", "tests/gallery/test_pages.py"),
    }
    assert '"demo"' in (ROOT / "tests" / "cli" / "test_commands.py").read_text("utf-8")
