"""The documentation as a site: `make docs`, into build/site.

The pages are the Markdown files of this repository, as one reads them there; what Python and the command line
say of themselves is taken from docstrings and from click, into pages that are made here and not kept.
"""

from __future__ import annotations

import inspect
import shutil
from pathlib import Path
from typing import Any

from pygments.lexers.special import TextLexer

import maskedadv

ROOT = Path(__file__).resolve().parent.parent
MADE = ROOT / "docs" / "reference" / "made"

project = "maskedadv"
author = copyright = "The maskedadv developers"
version = release = maskedadv.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_click",
    "sphinx_copybutton",
]
root_doc = "docs/index"
include_patterns = ["docs/**", "README.md", "CONTRIBUTING.md", "CHANGELOG.md"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}

smartquotes_action = "qe"  # no dashes: `--option` is to stay what one types
highlight_language = "none"  # blocks without a language are commands and tables, no Python
myst_heading_anchors = 4  # as GitHub makes them, to which the pages link
myst_enable_extensions = ["dollarmath"]
suppress_warnings = [
    "myst.xref_missing"
]  # links to files that are no pages; tests/test_docs.py looks at all links

autodoc_typehints = "none"  # the docstrings state types, shapes and units
autodoc_member_order = "bysource"
autosummary_generate = True
autosummary_filename_map: dict[str, str] = {}
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

html_theme = "pydata_sphinx_theme"
html_title = f"maskedadv {version}"
html_show_sourcelink = False
html_sidebars = {"docs/index": []}
html_theme_options = {
    "show_prev_next": False,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 6,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_copy_source = False

PLACES = [
    ("maskedadv", "Fitting and reading results"),
    ("maskedadv.datasets", "Bundled data"),
    ("maskedadv.summaries", "The numbers behind the figures"),
    ("maskedadv.assumptions", "Tests of the model's assumptions"),
    ("maskedadv.cross_validation", "Cross-validation"),
    ("maskedadv.simulation", "Simulated tables"),
    ("maskedadv.power", "Power"),
    ("maskedadv.sensitivity", "Sensitivity"),
    ("maskedadv.diagnostics", "Diagnostics of draws"),
    ("maskedadv.published_accuracies", "Gaps from published accuracies"),
    ("maskedadv.validity", "Validity of translated benchmarks"),
    ("maskedadv.annotation", "Agreement of annotators"),
    ("maskedadv.reports", "Reports"),
    ("maskedadv.responses", "The response table"),
    ("maskedadv.engines", "Engines"),
    ("maskedadv.errors", "Errors"),
]
"""Public packages, in the order of the page."""

SCORING = [
    ("maskedadv.scoring.importers.lm_eval", "Importing lm-evaluation-harness"),
    ("maskedadv.scoring.importers.lighteval", "Importing lighteval"),
    ("maskedadv.scoring.importers.inspect", "Importing Inspect"),
    ("maskedadv.scoring.importers.helm", "Importing HELM"),
    ("maskedadv.scoring.importers.table", "Importing tables"),
    ("maskedadv.scoring.importers.mapping", "Mappings of tasks"),
    ("maskedadv.scoring.items.items", "Items"),
    ("maskedadv.scoring.items.sources", "Items of public sets"),
    ("maskedadv.scoring.prompts.prompts", "Prompts"),
    ("maskedadv.scoring.reading.read", "Reading written answers"),
]
"""Modules of scoring, of which the page names what they hold themselves."""


def write_pages() -> None:
    """The pages of Python and of the command line."""
    shutil.rmtree(MADE, ignore_errors=True)
    MADE.mkdir()
    lines = ["Python", "======", ""]
    told: set[int] = set()
    for name, title in [*PLACES, *SCORING]:
        owner = __import__(name, fromlist=["_"])
        public = [n for n in getattr(owner, "__all__", dir(owner)) if not n.startswith("_")]
        own = [n for n in public if _is_ours(value := getattr(owner, n)) and id(value) not in told]
        if (name, title) in SCORING:
            own = [n for n in own if getattr(owner, n).__module__ == name]
        told |= {id(getattr(owner, n)) for n in own}
        # `Dif` and `dif` would be one file where a disk does not tell capitals.
        twice = {n for n in own if n != n.lower() and n.lower() in own}
        autosummary_filename_map.update({f"{name}.{n}": f"{name}.{n}-class" for n in twice})
        if not own:
            continue
        lines += [title, "-" * len(title), "", f".. currentmodule:: {name}", "", ".. autosummary::"]
        lines += ["   :toctree: api", "   :nosignatures:", "", *(f"   {n}" for n in own), ""]
    (MADE / "python.rst").write_text("\n".join(lines) + "\n", "utf-8")
    lines = ["Command line", "============", "", ".. click:: maskedadv.cli.main:cli", "   :prog: maskedadv"]
    (MADE / "command-line.rst").write_text("\n".join([*lines, "   :nested: full", ""]), "utf-8")


def _is_ours(value: Any) -> bool:
    """A function or class that the name leads to, no module and no constant."""
    of_us = str(getattr(value, "__module__", "")).startswith("maskedadv")
    return of_us and (inspect.isfunction(value) or inspect.isclass(value))


def setup(app: Any) -> None:
    """Called by Sphinx: whoever opens the folder gets to the first page."""

    def lead_in(app: Any, error: Exception | None) -> None:
        if error is None and app.builder.format == "html":
            lead = '<meta http-equiv="refresh" content="0; url=docs/index.html">'
            text = f'<!doctype html>{lead}<a href="docs/index.html">maskedadv</a>'
            Path(app.outdir, "index.html").write_text(text, "utf-8")

    app.connect("build-finished", lead_in)
    app.add_lexer("csv", TextLexer)  # Pygments knows none


write_pages()
