"""Figures: what they hold, that any ids and sizes can be saved, and that layers can be added."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import plotnine as p9
import pytest
from matplotlib.collections import PathCollection
from matplotlib.colors import to_hex

from maskedadv import summaries
from maskedadv.errors import NothingToDraw
from maskedadv.reports import figures
from maskedadv.reports.drawing import draw_svg, inline_svg, save_figure
from maskedadv.reports.figures.common import by_mean
from maskedadv.reports.figures.placing import beside_points, spread
from maskedadv.reports.figures.scale import size_labels
from maskedadv.reports.theme import CATEGORIES, diverging_fill, label
from maskedadv.vocabulary import VARIANTS
from tests.constructed import constructed_fit

HOSTILE = [
    "a$x$b",
    "<script>alert(1)</script>",
    "نموذج",
    "模型",
    "$\\frac{a}{$",
    "x" * 200,
    "line\nbreak",
    "NA",
    "\u202eevil",
]


def _fit(n_locales: int = 3, models: list[str] | None = None, seed: int = 0) -> Any:
    names = models or ["a", "b", "c", "d"]
    rng = np.random.default_rng(seed)
    gaps = rng.normal(-0.5, 0.6, (n_locales, len(names), 2))
    return constructed_fit(gaps, ["zh", "sw", "fr", "te", "el"][:n_locales], names)


def _trend(fit: Any) -> p9.ggplot:
    facts = summaries.locale_facts()
    return figures.resource_trend(
        summaries.locale_means(fit),
        facts["resource_level"],
        summaries.resource_trend(fit, facts),
        summaries.by_resource_level(fit, facts),
    )


def _scale(fit: Any) -> p9.ggplot:
    names = [str(v) for v in fit.cube["model"].values]
    sizes = ["1B", "7B", "", "30B"] * len(names)
    frame = pd.DataFrame(
        {
            "model": names,
            "parameters": sizes[: len(names)],
            "family": (["F", "$G$"] * len(names))[: len(names)],
        }
    )
    return figures.scale_curves(summaries.by_size(fit, summaries.model_facts(frame)))


FROM_FIT: dict[str, Callable[[Any], p9.ggplot]] = {
    "forest": lambda fit: figures.forest(fit.gaps(locale="zh"), "model"),
    "heatmap": lambda fit: figures.gap_heatmap(fit.gaps()),
    "advantage": lambda fit: figures.masked_advantage(summaries.locale_means(fit), cells=fit.gaps()),
    "advantage of models": lambda fit: figures.masked_advantage(fit.gaps(locale="zh"), "model"),
    "resources": _trend,
    "scale": _scale,
    "ability": lambda fit: figures.ability_accuracy(summaries.abilities(fit)),
    "wright": lambda fit: figures.wright_map(fit.items, fit.cube),
}


@pytest.mark.parametrize("name", list(FROM_FIT))
def test_every_figure_is_a_plotnine_figure_that_takes_layers(name: str) -> None:
    figure = FROM_FIT[name](_fit())
    assert isinstance(figure, p9.ggplot)
    more = figure + p9.labs(title="A title of one's own")
    root = ET.fromstring(draw_svg(more))
    assert "A title of one's own" in "".join(root.itertext())


@pytest.mark.parametrize("name", ["forest", "heatmap", "advantage of models", "scale"])
def test_ids_are_drawn_as_they_are(name: str) -> None:
    svg = draw_svg(FROM_FIT[name](_fit(models=HOSTILE)))
    text = "\n".join(ET.fromstring(svg).itertext())
    shown = {"scale": ["$G$"], "advantage of models": ["a$x$b", "模型", label(HOSTILE[1], 22)]}
    for wanted in shown.get(name, ["a$x$b", "<script>alert(1)</script>", "模型", "$\\frac{a}{$"]):
        assert wanted in text
    assert "\u202e" not in text
    assert "<script" not in svg


@pytest.mark.parametrize("name", list(FROM_FIT))
def test_one_model_in_one_locale(name: str, tmp_path: Path) -> None:
    fit = _fit(1, ["only"])
    save_figure(FROM_FIT[name](fit), tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 5000


def test_files_of_every_kind(tmp_path: Path) -> None:
    figure = figures.forest(summaries.locale_means(_fit()))
    for kind, start in (("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")):
        save_figure(figure, tmp_path / f"f.{kind}")
        assert (tmp_path / f"f.{kind}").read_bytes().startswith(start)


def test_the_same_figure_is_the_same_file() -> None:
    figure = figures.gap_heatmap(_fit().gaps())
    assert draw_svg(figure) == draw_svg(figure)


def test_large_results_fit_into_a_file_and_stay_small() -> None:
    fit = constructed_fit(
        np.random.default_rng(1).normal(-0.5, 0.5, (40, 120, 2)),
        [f"l{k}" for k in range(40)],
        [f"organisation/model-number-{k}" for k in range(120)],
        rows=[np.ones((1, 2, 120)) * 0.1] * 40,
    )
    svg = draw_svg(figures.gap_heatmap(fit.gaps()))
    height = float(re.search(r'viewBox="0 0 [\d.]+ ([\d.]+)"', svg).group(1)) / 72  # type: ignore[union-attr]
    assert height > 25  # plotnine's own limit, in inches
    assert len(svg) < 3e6


def test_unknown_gaps_are_crossed_and_drawn_nowhere_else() -> None:
    gaps = np.full((2, 2, 2), -0.5)
    gaps[0, 0] = np.nan
    fit = constructed_fit(gaps, ["zh", "fr"], ["a", "b"])
    text = "".join(ET.fromstring(draw_svg(figures.gap_heatmap(_with_all(fit)))).itertext())
    assert text.count("×") == 3
    nothing = constructed_fit(np.full((1, 1, 2), np.nan), ["zh"], ["a"])
    for make in (FROM_FIT["forest"], FROM_FIT["heatmap"], FROM_FIT["advantage"]):
        with pytest.raises(NothingToDraw):
            make(nothing)


def _with_all(fit: Any) -> Any:
    """All cells, also those that `Fit.gaps` leaves out for having no data."""
    frame = fit.cube[["estimate", "lower", "upper"]].to_dataframe().reset_index()
    return frame[["locale", "model", "gap", "estimate", "lower", "upper"]]


def test_zero_is_the_middle_of_the_colours() -> None:
    scale = diverging_fill(1.23, "gap")
    assert scale.limits == (-1.3, 1.3)
    assert [str(v).lower() for v in scale.map([0.0, 5.0, -5.0])] == ["#f6f6f7", "#2166ac", "#b35806"]


def test_forest_shows_variants_side_by_side() -> None:
    means = summaries.locale_means(_fit())
    both = pd.concat(
        [means.assign(variant="plain"), means.assign(variant="floor", estimate=means["estimate"] + 0.1)]
    )
    text = "".join(ET.fromstring(draw_svg(figures.forest(both))).itertext())
    assert "plain" in text
    assert "floor" in text


def test_order_is_by_the_mean_knowledge_gap() -> None:
    frame = pd.DataFrame(
        {
            "model": ["a", "b", "c", "a"],
            "gap": ["knowledge_gap"] * 3 + ["local_gap"],
            "estimate": [0.5, -0.2, np.nan, 9.0],
        }
    )
    assert by_mean(frame, "model") == ["c", "b", "a"]


def test_figures_of_other_parts_take_plain_tables() -> None:
    checks = pd.DataFrame(
        {"locale": ["zh", "fr"], "statistic": "accuracy", "observed": [0.5, 0.9], "lower": 0.4, "upper": 0.6}
    )
    svg = draw_svg(figures.predictive_checks(checks))
    assert "outside" in svg
    rows = pd.DataFrame(
        {"locale": ["zh"], "measure": "R-hat", "value": 1.02, "threshold": 1.01, "passed": False}
    )
    assert "R-hat" in draw_svg(figures.diagnostics(rows))
    with pytest.raises(NothingToDraw):
        figures.predictive_checks(checks.assign(observed=np.nan))


def test_inline_svg_is_one_safe_element() -> None:
    figure = figures.forest(summaries.locale_means(_fit()))
    one = inline_svg(figure, "f1", 'the "alt" <text>')
    two = inline_svg(figure, "f2", "other")
    ET.fromstring(one)
    ids = re.findall(r' id="([^"]+)"', one)
    assert len(ids) == len(set(ids))
    assert all(i.startswith("f1-") for i in ids)
    assert not set(ids) & set(re.findall(r' id="([^"]+)"', two))
    used = re.findall(r'url\(#([^)]+)\)|href="#([^"]+)"', one)
    assert {a or b for a, b in used} <= set(ids)
    assert "http" not in re.sub(r'xmlns(:\w+)?="[^"]*"', "", one)
    assert "var(--ink)" in one
    assert "#1f2933" not in one
    assert 'aria-label="the &#34;alt&#34; &lt;text&gt;"' in one


def test_every_text_has_every_font_family() -> None:
    """As many families as panels: plotnine would deal a plain list out among them."""
    families = ("DejaVu Sans", "DejaVu Serif", "DejaVu Sans Mono")
    svg = draw_svg(figures.forest(summaries.locale_means(_fit()), families=families))
    assert set(re.findall(r"font-family: ([^;\"]+)", svg)) == {
        "'DejaVu Sans', 'DejaVu Serif', 'DejaVu Sans Mono'"
    }


def test_labels() -> None:
    assert label("a$b") == r"a\$b"
    assert label("a\nb\u202e") == "a�b�"
    assert label("x" * 40, 11) == "xxxxx…xxxxx"
    assert size_labels([7e9, 3.6e8, 1.5e12, 260000]) == ["7B", "360M", "1.5T", "260K"]


def test_labels_of_points_keep_apart() -> None:
    x = y = np.zeros(6)
    at_x, at_y = beside_points(x, y, ["aa"] * 6, inches=6.0, span=4.0)
    for i in range(6):
        for j in range(i):
            assert abs(at_x[i] - at_x[j]) > 0.05 or abs(at_y[i] - at_y[j]) > 0.05
    moved = spread(np.array([0.0, 0.01, 1.0]), 0.2)
    assert np.diff(np.sort(moved)).min() >= 0.2 - 1e-12
    assert moved.mean() == pytest.approx(np.mean([0.0, 0.01, 1.0]))


def test_the_axes_of_the_masked_advantage_end_where_local_and_global_gaps_do() -> None:
    gaps = np.array([[[-1.0, 1.0], [-0.9, 0.8]], [[-0.8, 0.9], [-1.0, 0.7]]])  # knowledge gaps of 2
    fit = constructed_fit(gaps, ["zh", "sw"], ["a", "b"])
    figure = figures.masked_advantage(summaries.locale_means(fit), cells=fit.gaps())
    low, high = figure.scales.get_scales("x").limits
    assert low < -1.0
    assert 1.0 < high < 1.5


def test_stacked_heat_maps_name_their_columns_under_every_panel() -> None:
    names = [f"q{k}z" for k in range(17)]
    fit = constructed_fit(np.random.default_rng(3).normal(-0.4, 0.5, (17, 2, 2)), names, ["a", "b"])
    text = draw_svg(figures.gap_heatmap(fit.gaps()))
    assert text.count("q16z") == 3


def test_the_first_variant_stands_on_top_as_in_the_legend() -> None:
    means = summaries.locale_means(_fit())
    figure = figures.forest(pd.concat([means.assign(variant=v) for v in ("plain", "floor", "linked")]))
    axis = figure.draw().axes[0]
    height: dict[str, list[float]] = {}
    for points in axis.collections:
        if isinstance(points, PathCollection):
            for y, colour in zip(points.get_offsets()[:, 1], points.get_edgecolors(), strict=False):
                height.setdefault(to_hex(colour), []).append(float(y))
    # Each in the colour of its place among all variants, so that a page without `paired` shifts none.
    own = dict(zip(VARIANTS, CATEGORIES, strict=True))
    plain, floor, linked = (float(np.mean(height[to_hex(own[v])])) for v in ("plain", "floor", "linked"))
    assert plain > floor > linked
