"""Figures to files, and to SVG that can stand inside a page."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import plotnine as p9

from maskedadv.errors import BadSetting, OutputExists
from maskedadv.files.atomic import check_file_output, write_whole
from maskedadv.reports import theme
from maskedadv.reports.exhibit import Marks

FORMATS = ("svg", "png", "pdf")
DPI = 200
_BITMAPS = 150
"""Dots an inch of layers with many marks inside an SVG."""

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
    return draw_marked(figure, ())[0]


def draw_marked(figure: p9.ggplot, marks: Sequence[Marks]) -> tuple[str, str]:
    """`draw_svg`, and SVG groups with the places of marks, in its coordinates: see marks.js."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    buffer = BytesIO()
    with _quiet():
        view = figure.save_helper(
            buffer, format="svg", limitsize=False, verbose=False, metadata={"Date": None}
        )
        with mpl.rc_context(figure.theme.rcParams):
            view.figure.savefig(**{**view.kwargs, "dpi": _BITMAPS})
        places = "".join(_places(view.figure, own) for own in marks)
        plt.close(view.figure)
    return buffer.getvalue().decode("utf-8"), places


_DISC = 4.5  # points


def _places(drawn: Any, marks: Marks) -> str:
    """A group for each panel, of rectangles or discs; points, from the upper left corner."""
    size = 72 * np.asarray(drawn.get_size_inches())
    groups = []
    for panel in range(int(marks.panel.max(initial=-1)) + 1):
        own = marks.panel == panel
        axes = drawn.axes[panel]
        ends = []
        for side in (-0.5, 0.5):
            at = np.column_stack([marks.x[own] + side * marks.width, marks.y[own] + side * marks.height])
            seen = drawn.transFigure.inverted().transform(axes.transData.transform(at)) * size
            ends.append(np.column_stack([seen[:, 0], size[1] - seen[:, 1]]))
        (left, bottom), (right, top) = ends[0].T, ends[1].T
        rows = marks.row[own]
        if marks.width:
            shapes = [
                f'<rect x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{h:.1f}" data-row="{k}"/>'
                for x, y, w, h, k in zip(left, top, right - left, bottom - top, rows, strict=True)
            ]
        else:
            shapes = [
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{_DISC}" data-row="{k}"/>'
                for x, y, k in zip(left, top, rows, strict=True)
            ]
        about = f' data-gap="{_attribute(marks.gaps[panel])}"' if marks.gaps else ""
        groups.append(f'<g class="marks" data-table="{_attribute(marks.table)}"{about}>{"".join(shapes)}</g>')
    return "".join(groups)


def inline_svg(figure: p9.ggplot | str, name: str, alt: str, marks: str = "") -> str:
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
    marks
        Groups that `draw_marked` gave with it.
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
    keys = ' tabindex="0"' if marks else ""
    opening = (
        f'<svg class="figure{wide}" role="img" aria-label="{_attribute(alt)}"{keys} '
        f'viewBox="{size.group(0)[9:-1]}" style="width:{width:.0f}px;aspect-ratio:{width:.0f}/{height:.0f}">'
    )
    body = text[text.index(">") + 1 :]
    return opening + body.replace("</svg>", f"{marks}</svg>") if marks else opening + body


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
