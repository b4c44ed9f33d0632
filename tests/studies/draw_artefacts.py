"""Draw docs/figures/artefacts.png: how a knowledge gap appears from nothing, and what takes it out.

Run as `python -m tests.studies.draw_artefacts`; the true knowledge gap is 0, among relatives 1.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import plotnine as p9

import maskedadv
from maskedadv.vocabulary import VARIANTS
from tests.simulate import expit

FIGURE = Path(__file__).resolve().parents[2] / "docs" / "figures" / "artefacts.png"
MODELS, ITEMS, SETS = 24, 400, 4


def table(
    rng: np.random.Generator,
    *,
    models: int = MODELS,
    chance: float = 0.0,
    slope: float = 1.0,
    harder: float = 0.0,
    own: float = 0.0,
    copies: int = 1,
    knowledge: float = 0.0,
) -> pd.DataFrame:
    """One locale, gap −2 on CA and −2 plus `knowledge` on CS.

    CS is harder by some logits, with its own discrimination; models know single items with sd 0.3 on CA and
    `own` on CS, where that is above 0; the first `copies` models give the same answers.
    """
    ability = 1.5 + 0.7 * rng.standard_normal(models)
    parts = []
    for subset, a, shift, more, sd in (
        ("CA", 1.0, 0.0, 0.0, 0.3 if own else 0.0),
        ("CS", slope, harder, knowledge, own),
    ):
        b = shift + rng.standard_normal(ITEMS)
        known = sd * rng.standard_normal((models, ITEMS))
        for language, gap in (("en", 0.0), ("zh", -2.0 + more)):
            p = chance + (1 - chance) * expit(a * (ability[:, None] + gap - b) + known)
            right = rng.random(p.shape) < p
            right[:copies] = right[0]
            model, item = np.indices(p.shape)
            parts.append(
                pd.DataFrame(
                    {
                        "model": [f"m{j}" for j in model.ravel()],
                        "subset": subset,
                        "language": language,
                        "item": [f"{subset}{i}" for i in item.ravel()],
                        "correct": right.astype(int).ravel(),
                    }
                )
            )
    return pd.concat(parts, ignore_index=True)


def mean_gaps(*, sets: int = SETS, **world: float) -> dict[str, float]:
    """Mean knowledge gap less the true one over models and simulated sets, for every variant there is."""
    rng = np.random.default_rng(1)
    truth = world.get("knowledge", 0.0)
    found: dict[str, list[float]] = {}
    for _ in range(sets):
        answers = table(rng, **world)  # type: ignore[arg-type]
        guessing = 0.25 if world.get("chance") else "none"  # a floor under who does not guess over-corrects
        fit = maskedadv.fit(answers, estimator="marginal", min_accuracy=0, guessing=guessing)
        for variant in fit.variants:
            mean = fit.means(gap="knowledge_gap", variant=variant)["estimate"].iloc[0]
            found.setdefault(variant, []).append(float(mean) - truth)
    return {variant: float(np.nanmean(values)) for variant, values in found.items()}


def main() -> None:
    """Simulate four mechanisms and draw them."""
    rows = []
    for harder in (0.0, 0.75, 1.5):
        gaps = mean_gaps(chance=0.25, harder=harder)
        rows += [("Guessing, 4 options; CS harder by (logit)", harder, v, g) for v, g in gaps.items()]
    for slope in (0.5, 0.7, 1.0, 1.4):
        rows += [("CS discriminates by (times CA)", slope, v, g) for v, g in mean_gaps(slope=slope).items()]
    for own in (0.3, 0.9, 1.5):
        gaps = mean_gaps(own=own)
        rows += [("Models know single items: sd on CS (0.3 on CA)", own, v, g) for v, g in gaps.items()]
    for copies in (1, 3, 6):
        gaps = mean_gaps(models=6, copies=copies, knowledge=1.0, sets=12)
        rows += [("Relatives: copies among 6 models", copies, v, g) for v, g in gaps.items()]
    data = pd.DataFrame(rows, columns=["world", "x", "variant", "gap"])
    data["world"] = pd.Categorical(data["world"], list(dict.fromkeys(data["world"])))
    data["variant"] = pd.Categorical(data["variant"], [v for v in VARIANTS if v in set(data["variant"])])
    data["paired"] = np.where(data["variant"].str.startswith("paired"), "paired", "all models together")
    print(data.pivot_table(index=["world", "x"], columns="variant", values="gap", observed=True).round(2))
    base = ["#d55e00", "#0072b2", "#009e73", "#000000"]
    shown = list(data["variant"].cat.categories)
    order = ["plain", "floor", "linked", "floor+linked"]
    plain_name = {v: v.removeprefix("paired").removeprefix("+") or "plain" for v in shown}
    colours = {v: base[order.index(plain_name[v])] for v in shown}
    lines = {v: "dashed" if v.startswith("paired") else "solid" for v in shown}
    figure = (
        p9.ggplot(data, p9.aes("x", "gap", colour="variant", linetype="variant"))
        + p9.geom_hline(yintercept=0, colour="grey")
        + p9.geom_line(size=0.8)
        + p9.geom_point(size=2.0)
        + p9.facet_wrap("world", scales="free", ncol=2)
        + p9.scale_colour_manual(values=colours)
        + p9.scale_linetype_manual(values=lines)
        + p9.labs(x="", y="mean knowledge gap less the truth (logit)", colour="", linetype="")
        + p9.theme_minimal()
        + p9.theme(figure_size=(9, 6.6), legend_position="bottom", legend_key_width=30)
    )
    FIGURE.parent.mkdir(parents=True, exist_ok=True)
    figure.save(FIGURE, dpi=120, verbose=False)


if __name__ == "__main__":
    main()
