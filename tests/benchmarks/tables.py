"""Tables of the size that the papers have: 80 models × 13 locales × (2,058 CA + 500 CS) items."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

LOCALES = ["ar", "bn", "el", "fa", "fr", "hi", "ja", "ko", "ne", "nl", "pl", "te", "zh"]


def answers(
    rng: np.random.Generator, models: int, items: int, gap: float, sd: float = 1.2, chance: float = 0.0
) -> NDArray[np.float64]:
    """Answers of one subset in one locale, shape (2 × models, items), local cells first."""
    ability = 1.0 + 0.8 * rng.standard_normal(models)
    own = gap + 0.3 * rng.standard_normal(models)
    eta = np.stack([ability + own, ability])[:, :, None] - sd * rng.standard_normal(items)
    right = chance + (1 - chance) / (1 + np.exp(-eta))
    return (rng.random(eta.shape) < right).astype(float).reshape(2 * models, items)


def write_paper_sized(
    path: Path,
    models: int = 80,
    ca: int = 2058,
    cs: int = 500,
    seed: int = 1,
    locales: int = len(LOCALES),
) -> int:
    """Write the table of the first locales, English CA answers once; returns the number of rows."""
    chosen = LOCALES[:locales]
    rng = np.random.default_rng(seed)
    ability = 1.0 + 0.8 * rng.standard_normal(models)
    shift = {k: -0.8 + 0.3 * rng.standard_normal(models) for k in chosen} | {"en": np.zeros(models)}
    b = 1.2 * rng.standard_normal(ca)
    columns: dict[str, list[NDArray[np.int64]]] = {
        n: [] for n in ("model", "subset", "language", "item", "correct")
    }
    languages = ["en", *chosen]

    def add(
        subset: int, language: str, item: NDArray[np.int64], difficulty: NDArray[np.float64], extra: float
    ) -> None:
        eta = (ability + shift[language] + extra)[:, None] - difficulty
        right = rng.random(eta.shape) < 1 / (1 + np.exp(-eta))
        n = right.size
        columns["model"].append(np.repeat(np.arange(models), len(item)))
        columns["subset"].append(np.full(n, subset))
        columns["language"].append(np.full(n, languages.index(language)))
        columns["item"].append(np.tile(item, models))
        columns["correct"].append(right.ravel().astype(np.int64))

    for language in languages:
        add(0, language, np.arange(ca), b, 0.0)
    for k, locale in enumerate(chosen):
        items = ca + k * cs + np.arange(cs)
        difficulty = 1.2 * rng.standard_normal(cs)
        add(1, "en", items, difficulty, 0.0)
        add(1, locale, items, difficulty, 0.5)
    names = {
        "model": [f"org/model-{j:03d}" for j in range(models)],
        "subset": ["CA", "CS"],
        "language": languages,
        "item": [f"item-{i:06d}" for i in range(ca + len(chosen) * cs)],
    }
    table = {
        n: pa.DictionaryArray.from_arrays(pa.array(np.concatenate(columns[n]), pa.int32()), pa.array(texts))
        for n, texts in names.items()
    }
    table["correct"] = pa.array(np.concatenate(columns["correct"]), pa.int8())
    pq.write_table(pa.table(table), path)
    return len(table["correct"])


def write_by_language(folder: Path, locales: int, models: int, items: int, seed: int = 1) -> int:
    """Write a table by language and model, locale by locale, each with items of its own; returns its rows.

    Parameters
    ----------
    items : of each subset in every locale
    """
    own, *seeds = np.random.SeedSequence(seed).spawn(1 + locales)
    ability = np.random.default_rng(own).normal(0.8, 0.7, models)
    with ProcessPoolExecutor() as pool:
        list(pool.map(partial(_write_locale, folder, ability, items), range(locales), seeds))
    return locales * models * items * 4


def _write_locale(
    folder: Path, ability: NDArray[np.float64], items: int, k: int, seed: np.random.SeedSequence
) -> None:
    """One locale's answers in its language and in English, a file for each model."""
    rng = np.random.default_rng(seed)
    locale, models = f"l{k:02d}", len(ability)
    subset = pa.DictionaryArray.from_arrays(
        pa.array(np.repeat([0, 1], items), pa.int8()), pa.array(["CA", "CS"])
    )
    names = pa.array([f"{locale}-{s}-{i:03d}" for s in ("ca", "cs") for i in range(items)])
    difficulty = rng.normal(0, 1, 2 * items)
    gap = rng.normal(-0.8, 0.3, models)[:, None] + np.repeat([0.0, 0.4], items)
    for language, shift in ((locale, gap), ("en", np.zeros_like(gap))):
        for j in range(models):
            right = rng.random(2 * items) < 1 / (1 + np.exp(-(ability[j] + shift[j] - difficulty)))
            place = folder / f"language={language}" / f"model=org%2Fmodel-{j:04d}"
            place.mkdir(parents=True, exist_ok=True)
            table = pa.table({"subset": subset, "item": names, "correct": pa.array(right)})
            pq.write_table(table, place / f"part-{k}.parquet", compression="zstd")
