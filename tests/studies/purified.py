"""Is the change of purified gaps as uncertain as its interval says? `python -m tests.studies.purified`."""

from __future__ import annotations

import numpy as np
import pandas as pd

from maskedadv.assumptions import dif
from tests.assumptions.simulated import block


def frame_of(parts: list[np.ndarray]) -> pd.DataFrame:
    """A response table of two blocks, CA and CS, whose local cells come first."""
    frames = []
    for subset, answers in zip(("CA", "CS"), parts, strict=True):
        cell, item = np.indices(answers.shape)
        half = len(answers) // 2
        frames.append(
            pd.DataFrame(
                {
                    "model": [f"m{k % half:02d}" for k in cell.ravel()],
                    "subset": subset,
                    "language": np.where(cell.ravel() < half, "zh", "en"),
                    "item": [f"{subset}{k}" for k in item.ravel()],
                    "correct": answers.ravel().astype(int),
                }
            )
        )
    return pd.concat(frames, ignore_index=True)


def changes(
    tables: int, share: float, *, models: int = 40, items: int = 120, seed: int = 0
) -> dict[str, float]:
    """Mean change of the global gap, its spread over tables, and the sd that is told.

    A share of the items is two logits harder in the local language; the gap of the others is −0.8.
    """
    rng = np.random.default_rng(seed)
    change, told, gap, removed = [], [], [], []
    for _ in range(tables):
        hard = round(share * items)
        parts = [
            block(rng, models, items, difference=np.where(np.arange(items) < hard, -2.0, 0.0))
            for _ in ("CA", "CS")
        ]
        found = dif(frame_of(parts), min_accuracy=0.0, variants="none")
        row = found.gaps.set_index("gap").loc["global_gap"]
        change.append(row["change"])
        told.append(row["change_sd"])
        gap.append((row["all_items"], row["purified"]))
        removed.append(row["removed_ca"] / items)
    z = (np.array(change) - np.mean(change)) / np.where(np.array(told) > 0, told, np.inf)
    return {
        "change": float(np.mean(change)),
        "spread": float(np.std(change, ddof=1)),
        "told": float(np.sqrt(np.mean(np.square(told)))),
        "covers its mean": float((np.abs(z) < 1.96).mean()),
        "all items": float(np.mean(gap, axis=0)[0]),
        "purified": float(np.mean(gap, axis=0)[1]),
        "removed": float(np.mean(removed)),
    }


def main(tables: int = 60) -> None:
    for share in (0.0, 0.05, 0.15):
        print(share, {k: round(v, 3) for k, v in changes(tables, share).items()}, flush=True)


if __name__ == "__main__":
    main()
