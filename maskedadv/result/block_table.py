"""What a fit says about itself: a line per block, difficulties, warnings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr

from maskedadv.design.accuracy_filter import Dropped
from maskedadv.maximum_likelihood.estimators import FEW_CELLS
from maskedadv.responses import Responses
from maskedadv.vocabulary import SUBSETS

if TYPE_CHECKING:
    from maskedadv.maximum_likelihood.block_estimate import Fitted
    from maskedadv.settings import Settings


def _place(fitted: Fitted) -> str:
    return fitted.locales[0] if len(fitted.locales) == 1 else "all"


def block_rows(settings: Settings, fitted: Sequence[Fitted]) -> list[dict[str, Any]]:
    """One plain dictionary per block, for `fit.json`; numbers that do not exist are None."""
    rows = []
    for f in fitted:
        e = f.estimate
        cells, items = f.block.answers.shape
        row = {
            "locale": _place(f),
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
            row["failed_replicates"] = _failed(f)
        rows.append({k: None if isinstance(v, float) and not np.isfinite(v) else v for k, v in row.items()})
    return rows


def _failed(fitted: Fitted) -> int:
    """Most bootstrap replicates that any cell with a finite estimate has no estimate in."""
    missing = np.isnan(fitted.estimate.uncertainty[:, fitted.estimate.part >= 0])
    return int(missing.sum(axis=0).max(initial=0))


def item_frame(responses: Responses, fitted: Sequence[Fitted]) -> pd.DataFrame:
    """Difficulty (logit) of every item: locale, subset, item, difficulty, sd, answers, right, informative."""
    frames = []
    for f in fitted:
        answers = f.block.answers
        frames.append(
            pd.DataFrame(
                {
                    "locale": _place(f),
                    "subset": SUBSETS[f.block.subset],
                    "item": responses.items[f.block.item],
                    "difficulty": f.estimate.difficulty,
                    "sd": f.estimate.difficulty_sd,
                    "answers": (~np.isnan(answers)).sum(axis=0),
                    "right": np.nansum(answers, axis=0) if np.isnan(f.estimate.noise) else np.nan,
                    "informative": f.estimate.informative,
                }
            )
        )
    return pd.concat(frames, ignore_index=True)


def trouble_notes(fitted: Sequence[Fitted], variant: str = "") -> list[str]:
    """Blocks that Stan's optimiser failed on: what was done instead, and why."""
    out = []
    for f in fitted:
        e = f.estimate
        if e.trouble:
            place = f"{_place(f)} {SUBSETS[f.block.subset]}" + (f" ({variant})" if variant else "")
            done = (
                "Newton's method from moment estimates gave the estimate"
                if np.isfinite(e.ability).any()
                else "nothing is estimated there"
            )
            out.append(f"Stan's optimiser failed in {place}, {done}: {e.trouble}")
    return out


def warn(
    settings: Settings, fitted: Sequence[Fitted], dropped: Sequence[Dropped], cube: xr.Dataset
) -> list[str]:
    """Sentences a reader of the numbers should know, most important first."""
    out: list[str] = []
    bad = [f"{_place(f)} {SUBSETS[f.block.subset]}" for f in fitted if not f.estimate.converged]
    if bad:
        out.append(f"not converged: {_some(bad)}; the gradient is not zero, do not use these numbers.")
    few = [f for f in fitted if f.estimate.estimator == "joint" and f.estimate.typical_cells < FEW_CELLS]
    few = few if settings.method == "optimize" and settings.response == "binary" else []
    if few:
        least = max(2.0, min(f.estimate.typical_cells for f in few))
        out.append(
            f"joint maximum likelihood with {least:.0f} cells an item inflates gaps by about "
            f"{least / (least - 1):.2f} (fewer than {FEW_CELLS} in {len(few)} of {len(fitted)} blocks); "
            "use --estimator marginal."
        )
    low = [f"{_place(f)} {SUBSETS[f.block.subset]}" for f in fitted if f.estimate.bound < 0]
    if low:
        out.append(
            f"items do not differ in difficulty beyond chance in {_some(low)}: sigma is at zero there."
        )
    high = [f"{_place(f)} {SUBSETS[f.block.subset]}" for f in fitted if f.estimate.bound > 0]
    if high:
        out.append(
            f"sigma has no finite estimate in {_some(high)} (too few items tell cells apart); "
            "gaps there lean on the largest value allowed."
        )
    if settings.response == "soft" and settings.interval == "information":
        out.append(
            "information intervals take soft answers for coin flips and are too wide; use --interval robust."
        )
    if settings.interval == "bootstrap":
        most = max(_failed(f) for f in fitted)
        if most > 0.01 * settings.replicates:
            out.append(
                f"up to {most} of {settings.replicates} bootstrap replicates of a cell have no finite "
                "estimate; intervals leave them out and are too narrow there."
            )
    # A model that was left out of a locale, or not asked there, has no row whose note could say so.
    present = np.asarray((cube["n_items"].values[..., 0] > 0).any(axis=-1))
    unknown = np.isnan(cube["estimate"].values[..., :2]) & present[..., None]
    noted = int((unknown & (cube["note"].values[..., :2] != "")).sum())
    if noted:
        out.append(f"{noted} global or local gaps are not known; the note column says why.")
    joint = [f for f in fitted if f.estimate.estimator == "joint"]
    if settings.method == "nuts" and settings.estimator == "marginal":
        instead = list(dict.fromkeys(_place(f) for f in fitted if f.estimate.estimator == "joint"))
        if instead:
            out.append(
                f"items have too many patterns of missing answers for marginal in {_some(instead)}: joint "
                "was used there, which has the same posterior."
            )
    if settings.method == "nuts" and settings.response == "binary":
        extreme = sum(int(np.isin(np.nanmean(f.block.answers, axis=1), (0.0, 1.0)).sum()) for f in fitted)
        if extreme:
            out.append(
                f"{extreme} cells are all right or all wrong: only the priors keep their abilities finite, "
                "and their gaps lean on them."
            )
    silent = sum(int((~f.estimate.informative).sum()) for f in joint)
    if silent and settings.method == "optimize" and settings.response != "crm":
        total = sum(f.block.answers.shape[1] for f in joint)
        out.append(
            f"{silent} of {total} items (summed over blocks) were answered alike by every cell; they carry "
            "no information on joint gaps and were set aside."
        )
    if dropped:
        out.append(
            f"{len(dropped)} times a model was left out for accuracy at or under {settings.min_accuracy:g}: "
            f"{_some([str(d) for d in dropped])}."
        )
    return out


def _some(names: Sequence[str], most: int = 5) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
