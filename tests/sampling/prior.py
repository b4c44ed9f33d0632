"""Locales drawn from the model itself: parameters from the priors, answers from the parameters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from maskedadv.sampling.layout import Layout
from maskedadv.sampling.priors import Priors

Array = np.ndarray


@dataclass(frozen=True)
class Truth:
    """What a simulated locale was made from; abilities relative to the mean difficulty of the items asked."""

    ability: Array  # (J, 4)
    spread: Array  # (4,)
    correlation: Array  # (4, 4)
    sigma_b: Array  # (2,)
    noise: Array  # (2,)

    def quantities(self) -> dict[str, float]:
        """The quantities that calibration is checked for."""
        gaps = np.stack([self.ability[:, 0] - self.ability[:, 1], self.ability[:, 2] - self.ability[:, 3]])
        out = {
            "global_gap[1]": gaps[0, 0],
            "local_gap[1]": gaps[1, 0],
            "knowledge_gap[1]": gaps[1, 0] - gaps[0, 0],
            "mean global_gap": gaps[0].mean(),
            "mean local_gap": gaps[1].mean(),
            "mean knowledge_gap": (gaps[1] - gaps[0]).mean(),
            "ability CA local[1]": self.ability[0, 0],
            "spread CA local": self.spread[0],
            "spread CS pivot": self.spread[3],
            "sigma_b CA": self.sigma_b[0],
            "sigma_b CS": self.sigma_b[1],
        }
        for a in range(4):
            for b in range(a):
                out[f"correlation {b + 1},{a + 1}"] = self.correlation[a, b]
        return {k: float(v) for k, v in out.items()}


def lkj(rng: np.random.Generator, shape: float, n: int = 4) -> Array:
    """A correlation matrix with density det^(shape − 1), by the onion of Lewandowski et al. (2009)."""
    matrix = np.eye(n)
    beta = shape + (n - 2) / 2
    r = 2 * rng.beta(beta, beta) - 1
    matrix[0, 1] = matrix[1, 0] = r
    for m in range(2, n):
        beta -= 0.5
        y = rng.beta(m / 2, beta)
        u = rng.normal(size=m)
        z = np.linalg.cholesky(matrix[:m, :m]) @ (np.sqrt(y) * u / np.linalg.norm(u))
        matrix[m, :m] = matrix[:m, m] = z
    return matrix


def draw_locale(
    rng: np.random.Generator,
    priors: Priors,
    models: int,
    items: tuple[int, int],
    *,
    missing: float = 0.0,
    continuous: bool = False,
    chance: float | None = None,
    paired: bool = False,
) -> tuple[Layout, Truth]:
    """Parameters, then answers; with a guessing floor abilities are relative to the population of items.

    With `paired` every model has effects of the items of its own, shared by its two answers.
    """
    p = priors
    spread = p.spread * np.exp(p.spread_log_sd * rng.normal(size=4))
    correlation = lkj(rng, p.correlation)
    sigma_b = p.difficulty * np.exp(p.difficulty_log_sd * rng.normal(size=2))
    noise = p.noise * np.exp(p.noise_log_sd * rng.normal(size=2))
    mean = np.empty(4)
    difficulty = []
    for s in (0, 1):
        level, gap = p.level * rng.normal(), p.gap * rng.normal()
        # The prior is on the level against the population of items; the anchor is the items asked.
        population = sigma_b[s] * (1.0 if paired else np.sqrt(items[s] / (items[s] - 1)))
        b = population * rng.normal(size=(models, items[s]) if paired else items[s])
        anchor = b.mean() if chance is None and not paired else 0.0
        mean[2 * s : 2 * s + 2] = level - anchor + gap / 2 * np.array([1, -1])
        difficulty.append(b - anchor)
    root = np.linalg.cholesky(correlation)
    ability = mean + spread * (rng.normal(size=(models, 4)) @ root.T)
    answers = []
    for s in (0, 1):
        eta = ability[:, 2 * s : 2 * s + 2].T.ravel()[:, None] - np.tile(
            difficulty[s], (2, 1) if paired else 1
        )
        if continuous:
            y = eta + noise[s] * rng.normal(size=eta.shape)
        else:
            lucky = chance or 0.0
            y = rng.random(eta.shape) < lucky + (1 - lucky) * expit(eta)
        answers.append(np.where(rng.random(eta.shape) < missing, np.nan, y))
    names = [
        np.array([f"{x}{k}" for k in range(n)], dtype=object)
        for x, n in zip("mas", (models, *items), strict=True)
    ]
    rows = np.arange(2 * models)
    layout = Layout("zh", "en", names[0], (names[1], names[2]), (answers[0], answers[1]), (rows, rows))
    return layout, Truth(ability, spread, correlation, sigma_b, noise)
