"""HTML pages in one file: the template engine, with everything escaped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jinja2

from maskedadv import __version__

_TEMPLATES = Path(__file__).resolve().parent / "templates"


def render(template: str, **context: Any) -> str:
    """Fill a template of `reports/templates`; see base.html.j2 for its blocks.

    Everything is escaped except what a template marks as safe, which only `drawing.inline_svg` makes.
    The page loads nothing: styles, script and pictures are in it.
    """
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES, encoding="utf-8"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(template).render(version=__version__, **context)
