"""Draw docs/figures/artefacts.png: how a knowledge gap appears from nothing, and what takes it out.

Run as `python -m tests.studies.draw_artefacts`; the true knowledge gap is 0 everywhere.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import plotnine as p9

import maskedadv
from tests.simulate import expit

FIGURE = Path(__file__).resolve().parents[2] / "docs" / "figures" / "artefacts.png"
MODELS, ITEMS, SETS = 30, 400, 6


def table(rng: np.random.Generator, *, chance: float, slope: float, harder: float) -> pd.DataFrame:
    """One locale, gap −2 in both subsets, CS harder by some logits and with its own discrimination."""
    ability = 1.5 + 0.7 * rng.standard_normal(MODELS)
    parts = []
    for subset, a, shift in (("CA", 1.0, 0.0), ("CS", slope, harder)):
        b = shift + rng.standard_normal(ITEMS)
        for language, gap in (("en", 0.0), ("zh", -2.0)):
            p = chance + (1 - chance) * expit(a * (ability[:, None] + gap - b))
            model, item = np.indices(p.shape)
            parts.append(
                pd.DataFrame(
                    {
                        "model": [f"m{j}" for j in model.ravel()],
                        "subset": subset,
                        "language": language,
                        "item": [f"{subset}{i}" for i in item.ravel()],
                        "correct": (rng.random(p.shape) < p).astype(int).ravel(),
                    }
                )
            )
    return pd.concat(parts, ignore_index=True)


def mean_gaps(**world: float) -> dict[str, float]:
    """Mean knowledge gap over models and simulated sets, for every variant."""
    rng = np.random.default_rng(1)
    found: dict[str, list[float]] = {}
    for _ in range(SETS):
        fit = maskedadv.fit(table(rng, **world), estimator="marginal", min_accuracy=0, options=4)
        for variant in fit.variants:
            mean = fit.means(gap="knowledge_gap", variant=variant)["estimate"].iloc[0]
            found.setdefault(variant, []).append(float(mean))
    return {variant: float(np.mean(values)) for variant, values in found.items()}


def main() -> None:
    """Simulate both mechanisms and draw them."""
    rows = []
    for harder in (0.0, 0.5, 1.0, 1.5):
        gaps = mean_gaps(chance=0.25, slope=1.0, harder=harder)
        rows += [("Guessing, 4 options; CS harder by (logit)", harder, v, g) for v, g in gaps.items()]
    for slope in (0.5, 0.7, 1.0, 1.4):
        gaps = mean_gaps(chance=0.0, slope=slope, harder=0.0)
        rows += [("No guessing; CS discriminates by (times CA)", slope, v, g) for v, g in gaps.items()]
    data = pd.DataFrame(rows, columns=["world", "x", "variant", "gap"])
    data["variant"] = pd.Categorical(data["variant"], ["plain", "floor", "linked", "floor+linked"])
    print(data.pivot_table(index=["world", "x"], columns="variant", values="gap", observed=True).round(2))
    figure = (
        p9.ggplot(data, p9.aes("x", "gap", colour="variant", shape="variant"))
        + p9.geom_hline(yintercept=0, colour="grey")
        + p9.geom_line()
        + p9.geom_point(size=2.5)
        + p9.facet_wrap("world", scales="free_x")
        + p9.scale_colour_manual(["#d55e00", "#0072b2", "#009e73", "#000000"])
        + p9.labs(x="", y="mean knowledge gap (logit); truth is 0", colour="", shape="")
        + p9.theme_minimal()
        + p9.theme(figure_size=(8, 3.6), legend_position="bottom")
    )
    FIGURE.parent.mkdir(parents=True, exist_ok=True)
    figure.save(FIGURE, dpi=130, verbose=False)


if __name__ == "__main__":
    main()
