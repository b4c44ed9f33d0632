"""What a fit says of its parts: a line per block, and the difficulties of the items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from maskedadv.maximum_likelihood.block_estimate import Fitted
from maskedadv.settings import Settings
from maskedadv.vocabulary import SUBSETS


def block_rows(variant: str, settings: Settings, fitted: Sequence[Fitted]) -> list[dict[str, Any]]:
    """One plain dictionary per block of a base, for `fit.json`; numbers that do not exist are None."""
    rows = []
    for f in fitted:
        e = f.estimate
        cells, items = f.block.answers.shape
        row = {
            "variant": variant,
            "locale": f.block.locale,
            "subset": SUBSETS[f.block.subset],
            "estimator": e.estimator,
            "cells": cells,
            "items": items,
            "answers": int((~np.isnan(f.block.answers)).sum()),
            "uninformative_items": int((~e.informative).sum()),
            "cells_without_finite_ability": int((~np.isfinite(e.ability)).sum()),
            "typical_cells_per_item": e.typical_cells,
            "sigma": e.sigma,
            "sigma_sd": e.sigma_sd,
            "noise": e.noise,
            "log_likelihood": e.log_likelihood,
            "gradient": e.gradient,
            "converged": e.converged,
            "gaps_apart": e.apart,
        }
        if settings.interval == "bootstrap":
            row["failed_replicates"] = f.failed_replicates
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
