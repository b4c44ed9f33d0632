"""Results made by hand, so that summaries and reports can be checked against numbers on paper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from maskedadv.gaps.assemble import GapPart
from maskedadv.gaps.contrasts import Uncertainty, interval
from maskedadv.result.cube import AbilityPart, build_cube
from maskedadv.result.fit_result import Fit
from maskedadv.result.info import Info
from maskedadv.settings import Settings
from maskedadv.vocabulary import gaps_of


def constructed_fit(
    local_and_global: Any,
    locales: Sequence[str],
    models: Sequence[str],
    rows: Sequence[Any] | None = None,
    keys: Sequence[Sequence[str]] | None = None,
    kind: str = "robust",
    accuracy: Any = None,
    level: float = 0.95,
) -> Fit:
    """A fit whose global and local gaps are given, shape (L, J, 2), NaN where unknown.

    Parameters
    ----------
    rows
        Uncertainty rows per locale, each (K, 2, J); by default one row per gap and model with sd 0.1.
    keys
        Their keys; by default all different.
    """
    gaps = np.asarray(local_and_global, dtype=float)
    n_locales, n_models = gaps.shape[:2]
    estimate = gaps_of(gaps)
    if rows is None:
        rows = [0.1 * np.eye(2 * n_models).reshape(-1, 2, n_models)] * n_locales
    if keys is None:
        keys = [[f"{name} {k}" for k in range(len(own))] for name, own in zip(locales, rows, strict=True)]
    uncertainty = {
        name: Uncertainty(kind, np.array(key, dtype=object), np.asarray(own, dtype=float))
        for name, key, own in zip(locales, keys, rows, strict=True)
    }
    cells, parts = {}, {}
    rng = np.random.default_rng(5)
    for k, name in enumerate(locales):
        found = interval(kind, np.moveaxis(uncertainty[name].gaps(), 1, 2), estimate[k], level)
        pivot = rng.normal(1.0, 0.5, (n_models, 2))
        ability = np.stack([pivot + gaps[k], pivot], axis=2)
        seen = np.isfinite(ability)
        cells[name] = AbilityPart(
            ability=ability,
            ability_sd=np.where(seen, 0.1, np.nan),
            accuracy=np.where(seen, 1 / (1 + np.exp(-ability)), np.nan) if accuracy is None else accuracy[k],
            n_items=np.where(seen, 200, 0),
            n_paired=np.where(seen.all(axis=2), 200, 0),
        )
        parts[name] = GapPart(
            **found.parts(),
            estimate=estimate[k],
            note=np.where(np.isnan(estimate[k]), f"no answers in CS {name}", "").astype(object),
        )
    settings = Settings(
        level=level, interval=kind if kind in ("robust", "information", "bootstrap") else "robust"
    )
    items = pd.DataFrame(
        {
            "locale": np.repeat(np.array(locales, dtype=object), 40),
            "subset": ["CA"] * 20 + ["CS"] * 20
            if n_locales == 1
            else (["CA"] * 20 + ["CS"] * 20) * n_locales,
            "item": [f"item {k}" for k in range(40)] * n_locales,
            "difficulty": np.tile(np.linspace(-2, 2, 40), n_locales),
            "sd": 0.3,
            "answers": 2 * n_models,
            "right": n_models,
            "informative": True,
        }
    )
    info = Info(
        maskedadv="0.1.0",
        engine="stanli 0.24.0",
        versions={"python": "3.11.7", "numpy": "2.4.6"},
        fingerprint="0" * 64,
        rows=1600,
        answers=1600,
        locales=tuple(locales),
    )
    cube = build_cube(cells, {"plain": parts}, models, "en")
    return Fit(settings, cube, items, {"plain": uncertainty}, info)


def with_variant(fit: Fit, name: str, other: Fit) -> Fit:
    """A fit with the plain gaps of another as one more variant."""
    gaps = [v for v in other.cube.data_vars if "variant" in other.cube[v].dims]
    more = other.cube[gaps].assign_coords(variant=np.array([name], dtype=object))
    both = xr.concat([fit.cube[gaps], more], "variant")
    cube = fit.cube.drop_vars([*gaps, "variant"]).merge(both)
    return replace(fit, cube=cube, uncertainty={**fit.uncertainty, name: other.uncertainty["plain"]})
