"""What a fit says of its parts: a line per block, and the difficulties of the items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from maskedadv.maximum_likelihood.block_estimate import Fitted
from maskedadv.maximum_likelihood.block_facts import BlockFacts
from maskedadv.settings import Settings
from maskedadv.vocabulary import SUBSETS


def block_rows(variant: str, settings: Settings, blocks: Sequence[BlockFacts]) -> list[dict[str, Any]]:
    """One plain dictionary per block of a base, for `fit.json`; numbers that do not exist are None."""
    rows = []
    for b in blocks:
        row = {
            "variant": variant,
            "locale": b.locale,
            "subset": b.subset,
            "estimator": b.estimator,
            "cells": b.cells,
            "items": b.items,
            "answers": b.answers,
            "uninformative_items": b.uninformative,
            "cells_without_finite_ability": b.infinite,
            "typical_cells_per_item": b.typical_cells,
            "sigma": b.sigma,
            "sigma_sd": b.sigma_sd,
            "noise": b.noise,
            "log_likelihood": b.log_likelihood,
            "gradient": b.gradient,
            "converged": b.converged,
            "gaps_apart": b.apart,
        }
        if settings.interval == "bootstrap":
            row["failed_replicates"] = b.failed_replicates
        rows.append({k: None if isinstance(v, float) and not np.isfinite(v) else v for k, v in row.items()})
    return rows


def item_frame(fitted: Sequence[Fitted]) -> pd.DataFrame:
    """Difficulty (logit) of every item: locale, subset, item, difficulty, sd, answers, right, informative."""
    frames = []
    for f in fitted:
        answers = f.block.answers
        frames.append(
            pd.DataFrame(
                {
                    "locale": f.block.locale,
                    "subset": SUBSETS[f.block.subset],
                    "item": f.block.item,
                    "difficulty": f.estimate.difficulty,
                    "sd": f.estimate.difficulty_sd,
                    "answers": (~np.isnan(answers)).sum(axis=0),
                    "right": np.nansum(answers, axis=0) if np.isnan(f.estimate.noise) else np.nan,
                    "informative": f.estimate.informative,
                }
            )
        )
    return pd.concat(frames, ignore_index=True)
