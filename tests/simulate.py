"""Simulated response tables and blocks with a known truth."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Array = NDArray[np.float64]


def expit(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def block(
    rng: np.random.Generator,
    gap: float,
    models: int,
    items: int,
    *,
    sd: float = 1.2,
    model_item: float = 0.0,
    slopes: float = 0.0,
) -> Array:
    """Answers (2·models, items), local cells first: abilities spread by 0.7, a common gap local − pivot.

    `model_item` is the sd of an effect that a model's two answers to an item share; `slopes` the sd of the
    log discrimination of items.
    """
    ability = 0.8 + 0.7 * rng.standard_normal(models) if models > 1 else np.array([0.8])
    b = sd * rng.standard_normal(items)
    a = np.exp(slopes * rng.standard_normal(items))
    shared = model_item * rng.standard_normal((models, items))
    eta = np.stack([ability + gap, ability])[:, :, None] + shared[None] - b
    p = expit(a * eta)
    return (rng.random(p.shape) < p).astype(float).reshape(2 * models, items)


def table(
    models: int = 3,
    items: Sequence[int] = (30, 30),
    gaps: Sequence[float] = (-1.0, -0.5),
    locales: Sequence[str] = ("zh",),
    *,
    missing: float = 0.0,
    seed: int = 0,
) -> pd.DataFrame:
    """A tidy response table; every locale has the same items."""
    rng = np.random.default_rng(seed)
    rows = []
    ability = 0.8 + 0.5 * rng.standard_normal(models)
    for s, subset in enumerate(("CA", "CS")):
        b = 1.2 * rng.standard_normal(items[s])
        for language in ("en", *locales):
            shift = 0.0 if language == "en" else gaps[s]
            right = rng.random((models, items[s])) < expit(ability[:, None] + shift - b)
            seen = rng.random(right.shape) >= missing
            for j, i in zip(*np.nonzero(seen), strict=True):
                rows.append((f"m{j}", subset, language, f"{subset}{i}", int(right[j, i])))
    return pd.DataFrame(rows, columns=["model", "subset", "language", "item", "correct"])


def answer_rows(right: Array, subset: str, language: str, **more: Array) -> pd.DataFrame:
    """Rows of a response table from right answers (models, items); `more`: further columns, likewise."""
    j, i = np.indices(right.shape)
    return pd.DataFrame(
        {
            "model": [f"m{k:02d}" for k in j.ravel()],
            "subset": subset,
            "language": language,
            "item": [f"{subset}{k}" for k in i.ravel()],
            "correct": right.ravel().astype(int),
            **{name: values.ravel() for name, values in more.items()},
        }
    )


def artefact_table(
    models: int,
    items: int,
    *,
    chance: float = 0.0,
    slope: float = 1.0,
    harder: float = 1.0,
    seed: int = 0,
) -> pd.DataFrame:
    """True gap −1.5 in both subsets; CS harder by some logits, with its own discrimination."""
    rng = np.random.default_rng(seed)
    ability = 1.2 + 0.8 * rng.standard_normal(models)
    parts = []
    for s, subset in enumerate(("CA", "CS")):
        b = s * harder + rng.standard_normal(items)
        for language in ("en", "zh"):
            eta = (slope if s else 1.0) * (ability[:, None] - (1.5 if language == "zh" else 0.0) - b)
            right = rng.random(eta.shape) < chance + (1 - chance) * expit(eta)
            parts.append(answer_rows(right, subset, language))
    return pd.concat(parts, ignore_index=True)


def languages(answers: Array) -> tuple[Array, Array]:
    """Local and pivot answers (models, items) of a block with its local cells first."""
    half = len(answers) // 2
    return answers[:half], answers[half:]


def copies(
    rng: np.random.Generator, gap: float, models: int, items: int, *, copied: int, share: float = 1.0
) -> Array:
    """A block (2·models, items) whose first `copied` models give this share of a common model's answers."""
    own = block(rng, gap, models, items)
    common = own[[0, models]]
    if share < 1.0:  # relatives of equal ability, each with answers of its own
        b = 1.2 * rng.standard_normal(items)
        p = expit(np.array([0.8 + gap, 0.8])[:, None, None] - b)
        own = np.concatenate([rng.random((models, items)) < q for q in p]).astype(float)
        common = np.concatenate([rng.random((1, items)) < q for q in p]).astype(float)
    for k, source in enumerate(common):
        rows = slice(k * models, k * models + copied)
        taken = rng.random((copied, items)) < share
        own[rows] = np.where(taken, source, own[rows])
    return own


def floored_block(
    rng: np.random.Generator, gap: float, models: int, items: int, *, chance: float, model_item: float
) -> Array:
    """As `block`, every answer that is not known guessed right with the given chance."""
    known = block(rng, gap, models, items, model_item=model_item)
    return np.where(rng.random(known.shape) < chance, 1.0, known)
