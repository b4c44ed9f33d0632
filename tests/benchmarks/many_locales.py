"""300 locales × 5 models from Parquet to a page: processor time, peak memory and size."""

from __future__ import annotations

import itertools
import string
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from tests.benchmarks.measured import HEADER, girth, maskedadv
from tests.simulate import expit

LOCALES, MODELS, ITEMS = 300, 5, 60
_LETTERS = ("".join(pair) for pair in itertools.product(string.ascii_lowercase, repeat=2))
CODES = [code for code in _LETTERS if code != "en"][:LOCALES]


def many_locales(seed: int = 1) -> pd.DataFrame:
    """A response table: CA items that all locales share, 60 CS items of each locale's own."""
    rng = np.random.default_rng(seed)
    ability = 1.9 + 0.4 * rng.standard_normal(MODELS)
    shared = 1.2 * rng.standard_normal(ITEMS)
    names = [f"model-{m + 1}" for m in range(MODELS)]
    parts = []

    def ask(subset: str, language: str, prefix: str, shift: float, difficulty: np.ndarray) -> None:
        eta = ability[:, None] + shift + 0.2 * rng.standard_normal((MODELS, 1)) - difficulty
        parts.append(
            pd.DataFrame(
                {
                    "model": np.repeat(names, ITEMS),
                    "subset": subset,
                    "language": language,
                    "item": np.tile([f"{prefix}-{k}" for k in range(ITEMS)], MODELS),
                    "correct": (rng.random(eta.shape) < expit(eta)).astype(int).ravel(),
                }
            )
        )

    ask("CA", "en", "ca", 0.0, shared)
    for code in CODES:
        proficiency = float(np.clip(rng.normal(-0.9, 0.5), -1.6, 1.0))
        access = float(np.clip(rng.normal(0.2, 0.4), -0.4, 1.2))
        own = 1.2 * rng.standard_normal(ITEMS)
        ask("CA", code, "ca", proficiency, shared)
        ask("CS", code, f"cs-{code}", proficiency + access, own)
        ask("CS", "en", f"cs-{code}", 0.0, own)
    return pd.concat(parts, ignore_index=True)


def run() -> list[str]:
    """Markdown lines: `fit`, `gaps` and `report`, each as a command of its own."""
    lines = list(HEADER)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table = many_locales()
        table.to_parquet(folder / "table.parquet", index=False)
        for words in ("fit table.parquet -o result", "gaps result", "report result -o page"):
            lines.append(f"| `maskedadv {words}` | {maskedadv(*words.split(), cwd=folder).cells()} |")
        lines.append(girth(folder / "table.parquet"))
        size = (folder / "page" / "index.html").stat().st_size / 1e6
    return [*lines, "", f"{len(table):,} rows; the page has {size:.1f} MB."]
