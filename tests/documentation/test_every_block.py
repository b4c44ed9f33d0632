"""Every fenced block of every page is run, read by what it is for, compared, or says why not.

| kind | what is done | where |
| --- | --- | --- |
| `python` | run | `tests/test_docs.py` |
| `sh` | every command is given | `test_commands.py` |
| `r` | run, where R is | `test_r.py` |
| `toml`, `csv` | read by the reader of the file that the block is, or is an example of | here |
| `text` | compared with what the block above prints | with that block |
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from maskedadv.models_table import read_models
from maskedadv.responses import read_responses
from maskedadv.summaries import locale_facts
from maskedadv.validity.pairings import read_pairings
from tests.conftest import ROOT
from tests.documentation.steps import PAGES, RUN, Block, blocks_of

BLOCKS = [pytest.param(block, id=block.place) for page in PAGES for block in blocks_of(page)]
FILES = [pytest.param(block, id=block.place) for page in PAGES for block in blocks_of(page) if block.file]
LEFT_OUT = 12
"""How many blocks are not run. One more is to be defended as a dependency is."""


@pytest.mark.parametrize("block", BLOCKS)
def test_a_block_is_run_or_read_or_says_why_not(block: Block) -> None:
    if block.why is not None:
        tests = re.findall(r"\btests/[\w/.]+|tests/\w+", block.why)
        assert len(block.why) > 10
        assert all((ROOT / test).exists() for test in tests), block.why
        return
    assert block.kind in (*RUN, "toml", "csv"), "say `<!-- not run: why -->` above it, or what kind it is"
    assert (block.file is not None) == (block.kind in ("toml", "csv")), "say `<!-- file: NAME -->` above it"


def test_few_are_not_run() -> None:
    assert sum(block.values[0].why is not None for block in BLOCKS) == LEFT_OUT  # type: ignore[union-attr]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_fence_is_overlooked(page: Path) -> None:
    """A block that is indented, or fenced by other signs, would not be found; `{...}` is for the site."""
    lines = page.read_text("utf-8").splitlines()
    fences = [line for line in lines if re.match(r"\s*(```|~~~)", line)]
    for_the_site = sum(line.startswith("```{") for line in fences)
    shown = sum(bool(block.shown) for block in blocks_of(page))
    assert len(fences) == 2 * (len(list(blocks_of(page))) + shown + for_the_site)


def _prompts(path: Path) -> object:
    return pytest.importorskip("maskedadv.scoring.prompts.prompts").load_prompts(path)


def _tasks(path: Path) -> object:
    return pytest.importorskip("maskedadv.scoring.importers.mapping").read_mapping(path)


def _columns(path: Path) -> bool:
    mapping = pytest.importorskip("maskedadv.scoring.importers.table_mapping")
    return bool(mapping.read_table_mapping(path) != mapping.TableMapping())


def _answers(path: Path) -> int:
    """The answers that are shown; `...` stands for more."""
    lines = path.read_text("utf-8").splitlines(keepends=True)
    path.write_text("".join(line for line in lines if line.strip() != "..."), "utf-8")
    return len(read_responses(path).correct)


READERS: dict[str, Callable[[Path], object]] = {
    "responses.csv": _answers,
    "models.csv": lambda path: len(read_models(path)),
    "locales.toml": lambda path: len(locale_facts(path)) > len(locale_facts()),
    "prompts.toml": _prompts,
    "tasks.toml": _tasks,
    "columns.toml": _columns,
    "pairings.toml": lambda path: read_pairings(path).pairings,
}
"""Who reads a file of this name."""


@pytest.mark.parametrize("block", FILES)
def test_a_file_that_a_page_shows_is_read_by_its_reader(block: Block, tmp_path: Path) -> None:
    assert block.file is not None
    path = tmp_path / block.file
    whole = block.text
    if not block.written:  # a section goes with the file that the page has
        page = ROOT / block.place.rpartition(":")[0]
        whole = "".join(b.text for b in blocks_of(page) if b.file == block.file and b.written) + whole
    path.write_text(whole, "utf-8")
    assert READERS[block.file](path)
