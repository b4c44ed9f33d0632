"""README and docs: every Python block runs, every link leads somewhere, every page is reached."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

import maskedadv
from tests.conftest import ROOT
from tests.documentation.folder import MAKERS, Things
from tests.documentation.steps import PAGES, Block, blocks_of, missing, run_python
from tests.scoring.conftest import byte_tokenizer, tiny_model, write_item_file  # noqa: F401  (fixtures)
from tests.simulate import artefact_table

LINK = re.compile(r"\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)")
NAME = re.compile(r"`(maskedadv(?:\.\w+)+)")


def python_blocks() -> Iterator[object]:
    """Every Python block with its place."""
    for page in PAGES:
        for block in blocks_of(page):
            if block.kind == "python":
                marks = [pytest.mark.skip(reason=block.why)] if block.why else []
                yield pytest.param(block, id=block.place, marks=marks)


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the blocks speak of: a table, a result with draws and every variant, facts about the models."""
    folder = tmp_path_factory.mktemp("docs")
    answers = artefact_table(10, 60, chance=0.25, seed=1).assign(n_options=4)
    answers.to_csv(folder / "responses.csv", index=False)
    answers.to_parquet(folder / "responses.parquet", index=False)
    (folder / "answers").mkdir()
    answers.to_parquet(folder / "answers" / "part-0.parquet", index=False)
    fit = maskedadv.fit(
        answers,
        method="nuts",
        min_accuracy=0,
        chains=2,
        warmup=150,
        draws=60,
        seed=1,
        log_likelihood="item",
    )
    fit.save(folder / "results")
    (folder / "by-item").symlink_to(folder / "results")
    facts = pd.DataFrame({"model": sorted(set(answers["model"]))})
    facts["origin"] = ["China" if k % 2 else "France" for k in range(len(facts))]
    facts["family"] = [f"family {k % 6}" for k in range(len(facts))]
    facts["adapted_for"] = ["zh" if k < 2 else "" for k in range(len(facts))]
    facts.to_csv(folder / "models.csv", index=False)
    items = [("one", "zh"), ("one", "en"), ("two", "zh"), ("two", "en")]
    built = pd.DataFrame(items, columns=["item", "language"])
    built["question"] = built["item"] + " " + built["language"] + "?"
    built = built.assign(subset="CS", options=[["x", "y"]] * 4, answer="A", made="source")
    (folder / "build").mkdir()
    built.to_parquet(folder / "build" / "items.parquet", index=False)
    return folder


OF_ITS_OWN = {"docs/how-to/validity.md": ("scores.csv", "models.csv = facts.csv")}
"""What the reader of a page has in the place of things of the same name."""


@pytest.mark.parametrize("block", list(python_blocks()))
def test_every_python_block_runs_and_prints_what_it_is_said_to(
    block: Block,
    prepared: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    """Each by itself, in a folder of its own that holds what the page speaks of."""
    page = block.place.rpartition(":")[0]
    things = Things(tmp_path / "things", MAKERS)
    for name in OF_ITS_OWN.get(page, ()):
        things.put(name, tmp_path)
    for other in blocks_of(ROOT / page):
        if other.file and other.written:
            (tmp_path / other.file).write_text(other.text, "utf-8")
    for entry in prepared.iterdir():
        if not (tmp_path / entry.name).exists():
            (tmp_path / entry.name).symlink_to(entry)
    if "models/tiny" in block.text:
        (tmp_path / "models").mkdir()
        (tmp_path / "models" / "tiny").symlink_to(request.getfixturevalue("tiny_model"))
        write_item_file(tmp_path / "lite.jsonl")
    monkeypatch.chdir(tmp_path)
    told = run_python(block)
    assert not missing(block.shown, told), (missing(block.shown, told), told)


def test_marked_blocks_say_why() -> None:
    for page in PAGES:
        for block in blocks_of(page):
            assert block.why is None or len(block.why) > 10, block.place


def anchors(page: Path) -> set[str]:
    """Anchors that GitHub gives the headings."""
    text = re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)
    heads = re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    for path, anchor in LINK.findall(page.read_text("utf-8")):
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{page.name} links to {path}"
        assert target.is_relative_to(ROOT), path
        assert not anchor or anchor in anchors(target), f"{page.name} links to {path}#{anchor}"


def test_every_page_is_reached_from_the_index_and_the_index_from_the_readme() -> None:
    reached, todo = set(), [ROOT / "docs" / "index.md"]
    assert todo[0] in {(ROOT / path).resolve() for path, _ in LINK.findall(PAGES[0].read_text("utf-8"))}
    while todo:
        page = todo.pop().resolve()
        if page in reached or page.suffix != ".md":
            continue
        reached.add(page)
        todo += [page.parent / path for path, _ in LINK.findall(page.read_text("utf-8")) if path]
    assert {page.resolve() for page in PAGES} <= reached


def names() -> list[str]:
    """Every dotted name of ours that a page names."""
    return sorted({name for page in PAGES for name in NAME.findall(page.read_text("utf-8"))})


@pytest.mark.parametrize("name", names())
def test_every_name_that_the_docs_give_is_reached_after_one_import(name: str) -> None:
    found: object = importlib.import_module("maskedadv")
    for part in name.split(".")[1:]:
        if part == "py":
            pytest.skip("a file")
        try:
            found = getattr(found, part)
        except ModuleNotFoundError as error:  # an environment without the packages of scoring
            pytest.skip(str(error))
