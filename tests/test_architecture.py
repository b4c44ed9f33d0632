"""The house stands as docs/architecture.md says: who may import whom, and no place for two things at once."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.conftest import ROOT

PAGE = ROOT / "docs" / "architecture.md"
TOPS = {"maskedadv": "", "scoring": "maskedadv.", "reports": "maskedadv."}
OTHERS = ("maskedadv.scoring", "maskedadv.reports", "maskedadv.cli")


def modules() -> dict[str, Path]:
    """Every module of ours by its import name."""
    found = {}
    for top, above in TOPS.items():
        for path in (ROOT / top).rglob("*.py"):
            parts = path.relative_to(ROOT).with_suffix("").parts
            if top == "maskedadv" and parts[1:2] in (("scoring",), ("reports",)):
                continue  # the links: the same files under another path
            found[above + ".".join(p for p in parts if p != "__init__")] = path
    return found


MODULES = modules()


def imports(path: Path, *, everywhere: bool) -> set[str]:
    """Names that a module imports: at its top only, or inside functions, too; not for type checkers alone."""
    tree = ast.parse(path.read_text("utf-8"))
    found: set[str] = set()
    todo: list[ast.AST] = list(tree.body)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif everywhere or not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            todo += list(ast.iter_child_nodes(node))
    return found


def within(name: str, packages: tuple[str, ...]) -> bool:
    return any(name == p or name.startswith(f"{p}.") for p in packages)


def part(name: str) -> str:
    """`maskedadv.gaps` of `maskedadv.gaps.link`."""
    return ".".join(name.split(".")[:2])


@pytest.mark.parametrize("name", sorted(MODULES))
def test_data_flow_one_way(name: str) -> None:
    found = imports(MODULES[name], everywhere=True)
    if within(name, ("maskedadv.cli",)) or name == "maskedadv.__main__":
        found = imports(MODULES[name], everywhere=False)  # inside the command that needs them it may
        forbidden: tuple[str, ...] = ("maskedadv.scoring", "maskedadv.reports")
    elif within(name, ("maskedadv.scoring",)):
        statistics = ("fitting", "gaps", "result", "engines", "sampling", "maximum_likelihood", "likelihoods")
        forbidden = ("maskedadv.reports", "maskedadv.cli", *(f"maskedadv.{s}" for s in statistics), "stanli")
    elif within(name, ("maskedadv.reports",)):
        forbidden = ("maskedadv.scoring", "maskedadv.cli", "maskedadv.fitting", "maskedadv.engines", "torch")
    else:
        forbidden = (*OTHERS, "torch", "transformers")
    assert not {n for n in found if within(n, forbidden)}


def test_likelihoods_know_arrays_only() -> None:
    allowed = ("maskedadv.likelihoods", "maskedadv.errors")
    for name, path in MODULES.items():
        if within(name, ("maskedadv.likelihoods",)):
            assert not {
                n
                for n in imports(path, everywhere=True)
                if n.startswith("maskedadv") and not within(n, allowed)
            }, name
            assert not {"pandas", "xarray"} & imports(path, everywhere=True), name


def test_no_two_modules_import_each_other() -> None:
    """A circle of modules at the top of files would make the order of imports matter."""
    edges = {
        name: {n for n in imports(path, everywhere=False) if n in MODULES and n != name}
        for name, path in MODULES.items()
        if path.name != "__init__.py"
    }
    state: dict[str, int] = {}

    def visit(name: str, above: tuple[str, ...]) -> None:
        assert state.get(name) != 1, " → ".join((*above[above.index(name) :], name))
        if state.get(name) == 2:
            return
        state[name] = 1
        for other in sorted(edges.get(name, ())):
            visit(other, (*above, name))
        state[name] = 2

    for name in sorted(edges):
        visit(name, ())


def test_lists_are_shortened_in_one_place() -> None:
    shortened = re.compile(r"""["'][,;] \.\.\.["']""")
    found = {name for name, path in MODULES.items() if shortened.search(path.read_text("utf-8"))}
    assert found <= {"maskedadv.words.lists"}


def test_every_place_that_the_page_names_is_there() -> None:
    """Paths in backquotes, `a/b.py`, `a/b/`, and with a star for a file of one's own."""
    table = PAGE.read_text("utf-8").split("## Where to change what")[1]
    named = re.findall(r"`((?:maskedadv|scoring|reports|stan|tests|docs)/[\w./*-]*)`", table)
    assert len(named) > 20
    for path in named:
        place = path.split("*")[0]
        assert (ROOT / place).exists() or ((ROOT / place).parent.is_dir() and "*" in path), path
