"""Figures to files, and to SVG that can stand inside a page."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import plotnine as p9

from maskedadv.errors import BadSetting, OutputExists
from maskedadv.files.atomic import check_file_output, write_whole
from maskedadv.reports import theme

FORMATS = ("svg", "png", "pdf")
DPI = 200

_COLOURS = {
    theme.INK: "var(--ink)",
    theme.MUTED: "var(--muted)",
    theme.GRID: "var(--grid)",
    theme.PAPER: "var(--paper)",
    theme.NEGATIVE: "var(--below)",
    theme.POSITIVE: "var(--above)",
}
_TAG = re.compile(r"<[a-zA-Z/][^<>]*>")
_LONG_NUMBER = re.compile(r"(-?\d+\.\d\d)\d+")


@contextmanager
def _quiet() -> Iterator[None]:
    """matplotlib's settings of a reproducible file; missing letters are reported once, by `reports.fonts`."""
    import matplotlib

    settings: Any = {"svg.fonttype": "none", "svg.hashsalt": "maskedadv", "pdf.fonttype": 42}
    with matplotlib.rc_context(settings), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        warnings.filterwarnings("ignore", category=p9.exceptions.PlotnineWarning)
        yield


def check_figure(path: Path, *, overwrite: bool) -> None:
    """Refuse a place for a figure before the work is done.

    Raises
    ------
    BadSetting
        Neither .svg, .png nor .pdf.
    OutputExists
        It is there and may not be replaced, or nothing can be written there.
    UnreadableFile
        Its folder does not exist.
    """
    if path.suffix.lower().lstrip(".") not in FORMATS:
        raise BadSetting(f"{path}: a figure ends in {', '.join(f'.{f}' for f in FORMATS)}.")
    check_file_output(path, overwrite=overwrite)


def write_figure(figure: p9.ggplot, path: Path) -> None:
    """Write a figure by the suffix of the path, whole or not at all.

    Raises
    ------
    OutputExists
        The place cannot be written.
    """
    kind = path.suffix.lower().lstrip(".")
    try:
        write_whole(path, lambda partial: save_figure(figure, partial, kind))
    except OSError as error:
        raise OutputExists(f"{path} cannot be written ({error.strerror}); choose another place.") from error


def save_figure(figure: p9.ggplot, path: Path, kind: str = "") -> None:
    """Write a figure as svg, png or pdf (`kind`, else the suffix of the path), whatever its size."""
    kind = kind or path.suffix.lstrip(".")
    if kind == "svg":
        path.write_text(draw_svg(figure), "utf-8")
        return
    extra = {"metadata": {"CreationDate": None}} if kind == "pdf" else {}
    with _quiet():
        figure.save(path, format=kind, dpi=DPI, limitsize=False, verbose=False, **extra)


def draw_svg(figure: p9.ggplot) -> str:
    """A figure as an SVG document, the same for the same figure."""
    buffer = BytesIO()
    with _quiet():
        figure.save(buffer, format="svg", limitsize=False, verbose=False, metadata={"Date": None})
    return buffer.getvalue().decode("utf-8")


def inline_svg(figure: p9.ggplot | str, name: str, alt: str) -> str:
    """A figure as an SVG element for a page.

    Text stays text (the reader's browser has the fonts), colours of the theme become CSS variables, ids are
    made unique by `name`, and numbers are cut to what can be seen.

    Parameters
    ----------
    figure
        A figure, or what `draw_svg` made of it.
    name
        Letters and digits only; unique on the page.
    alt
        What the figure shows, for those who cannot see it.
    """
    text = figure if isinstance(figure, str) else draw_svg(figure)
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r"<style.*?</style>", "", text, flags=re.DOTALL)
    text = _TAG.sub(lambda match: _rewrite(match.group(0), name), text)
    text = re.sub(r"\s*\n\s*", "\n", text)
    size = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', text)
    assert size is not None
    width, height = (float(v) * 96 / 72 for v in size.groups())
    wide = " wide" if width > 1060 else ""
    opening = (
        f'<svg class="figure{wide}" role="img" aria-label="{_attribute(alt)}" '
        f'viewBox="{size.group(0)[9:-1]}" style="width:{width:.0f}px;aspect-ratio:{width:.0f}/{height:.0f}">'
    )
    return opening + text[text.index(">") + 1 :]


def _rewrite(tag: str, name: str) -> str:
    tag = _LONG_NUMBER.sub(r"\1", tag)
    for colour, variable in _COLOURS.items():
        tag = tag.replace(colour, variable)
    tag = re.sub(r" xlink:href=\"#", f' href="#{name}-', tag)
    tag = tag.replace("url(#", f"url(#{name}-")
    tag = tag.replace('transform="rotate(-0 ', 'transform="rotate(0 ')
    if tag.startswith("<g "):
        tag = re.sub(r' id="[^"]*"', "", tag)
    tag = re.sub(r' id="', f' id="{name}-', tag)
    return re.sub(r"font-family: ([^;\"]*)", r"font-family: \1, system-ui, sans-serif", tag)


def _attribute(text: str) -> str:
    from markupsafe import escape

    return str(escape(text))
