"""The figure of README.md, whose numbers stand in the file, where a program can read them."""

from __future__ import annotations

from pathlib import Path

import plotnine as p9

from maskedadv.reports import figures
from maskedadv.result.fit_result import Fit
from tests.conftest import ROOT

FIGURE = ROOT / "docs" / "figures" / "locale-means.png"
DPI = 110


def numbers_of(fit: Fit) -> str:
    """What is drawn, as text: locale, gap, estimate, lower, upper (logits, two digits), of the headline."""
    means = fit.means(variant=fit.headline)
    return "; ".join(
        f"{row.locale} {row.gap} {row.estimate:.2f} [{row.lower:.2f}, {row.upper:.2f}]"
        for row in means.itertuples()
    )


def draw(fit: Fit, path: Path) -> None:
    """Draw mean gaps of the headline by locale."""
    figure = figures.forest(fit.means(variant=fit.headline), axis="mean gap over six systems (logit)")
    figure += p9.theme(figure_size=(7, 2.6))
    figure.save(path, dpi=DPI, verbose=False, metadata={"Description": numbers_of(fit), "Software": None})


def figures_told(path: Path) -> str:
    """The numbers that a drawn figure holds."""
    from PIL import Image

    with Image.open(path) as image:
        image.load()
        return str(image.info.get("Description", ""))
