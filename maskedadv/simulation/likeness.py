"""A result as a world to simulate: its cells and items, or its plain numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from maskedadv.result.fit_result import Fit
from maskedadv.simulation.plan import Plan
from maskedadv.simulation.world import World, draw_dif
from maskedadv.vocabulary import SUBSETS

Array = NDArray[np.float64]


def world_of_fit(fit: Fit, plan: Plan, rng: np.random.Generator, *, knowledge_gap: float | None) -> World:
    """The models, items and cells of a result, its plain abilities taken for the truth.

    Items keep their ids; their difficulties are drawn from what the fit knows of each, so that hard items
    stay hard and their spread is the fitted one. A cell misses as many answers as it does in the result.

    Parameters
    ----------
    plan : only DIF and missing answers of it count, on top of the result
    knowledge_gap : of every model, in place of the fitted ones; None leaves those
    """
    cube = fit.cube
    locales = [str(v) for v in cube["locale"].values]
    fitted = cube["ability"].transpose("locale", "model", "subset", "query").values
    local, pivot = fitted[..., 0], fitted[..., 1]
    with np.errstate(invalid="ignore"):
        common = _mean(pivot)
        off = pivot - common  # a locale's own items may be harder: its levels are lower
        ability = np.concatenate([common[None], common + (local - pivot)])
        ability[1:][np.isinf(local)] = local[np.isinf(local)]
        if knowledge_gap is not None:
            ability[1:, :, 1] = ability[0, :, 1] + (ability[1:, :, 0] - ability[0, :, 0]) + knowledge_gap
    level = np.array([[_finite_mean(off[k, :, s]) for s in (0, 1)] for k in range(len(locales))])
    items = _items(fit, locales, level)
    asked = np.ones((len(locales) + 1, len(items)), dtype=bool)
    for k in range(len(locales)):
        asked[k + 1] = [k in places for places in items["places"]]
    subset = items["subset"].to_numpy().astype(np.intp)
    noise = items["sd"].to_numpy() * rng.standard_normal(len(items))
    models = cube["model"].values.astype(object)
    return World(
        languages=(str(fit.settings.pivot), *locales),
        models=models,
        families=models,
        ability=ability,
        observed=_observed(fit, subset, asked) * (1.0 - plan.missing),
        items=items["item"].to_numpy().astype(object),
        subset=subset,
        difficulty=items["level"].to_numpy() + noise,
        slope=np.ones(len(items)),
        dif=draw_dif(plan, asked, rng),
        asked=asked,
    )


def _items(fit: Fit, locales: list[str], level: Array) -> pd.DataFrame:
    """A row per item: item, subset (index), level (difficulty), sd, and the places of its locales.

    Parameters
    ----------
    level : shape (L, 2), how far a locale's pivot abilities lie above their mean over locales
    """
    of_locale = {name: [k] for k, name in enumerate(locales)}
    rows = []
    for locale, own in fit.items.groupby("locale", sort=False):
        for k in of_locale.get(str(locale), range(len(locales))):  # a block of scope joint serves all
            subset = (own["subset"] == SUBSETS[1]).to_numpy().astype(np.intp)
            sd = own["sd"].to_numpy(dtype=float)
            rows.append(
                pd.DataFrame(
                    {
                        "item": own["item"].to_numpy(),
                        "subset": subset,
                        "level": own["difficulty"].to_numpy(dtype=float) - level[k, subset],
                        "variance": np.where(np.isfinite(sd), sd, 0.0) ** 2,
                        "places": k,
                    }
                )
            )
    grouped = pd.concat(rows, ignore_index=True).groupby(["subset", "item"], sort=True)
    with np.errstate(invalid="ignore"):  # right of every cell in one locale, wrong of every one in another
        found = grouped.agg({"level": "mean", "variance": "mean", "places": set}).reset_index()
    found["level"] = found["level"].fillna(0.0)
    return found.assign(sd=np.sqrt(found["variance"]))


def plan_of_fit(fit: Fit, plan: Plan | None = None) -> Plan:
    """A result in plain numbers: models, items, spreads, global gap of its headline; a locale is any of them.

    Parameters
    ----------
    plan : gives what a result does not tell (floor, DIF, missing answers, seed) and what must not be taken
        from it: power at an estimated gap tells no more than its p-value (Hoenig & Heisey 2001,
        doi:10.1198/000313001300339897); default: `Plan()`
    """
    cube = fit.cube
    pivot = cube["ability"].transpose("locale", "model", "subset", "query").values[..., 1]
    gaps = cube["estimate"].sel(variant=fit.headline).transpose("locale", "model", "gap").values
    sigma = [b["sigma"] for b in fit.info.blocks if b["variant"] == "plain" and b["sigma"] is not None]
    sigma = [s for s in sigma if np.isfinite(s)]
    if not sigma:
        finite = fit.items["difficulty"].to_numpy(dtype=float)
        sigma = [float(np.std(finite[np.isfinite(finite)]))]
    counts = fit.items.groupby(["locale", "subset"])["item"].count().groupby("subset").median()
    spread = [_finite_sd(own[:, 0]) for own in pivot]
    return replace(
        plan or Plan(),
        models=max(int(np.isfinite(gaps).any(axis=2).sum(axis=1).max()), 1),
        items_ca=max(int(counts.get(SUBSETS[0], 1)), 1),
        items_cs=max(int(counts.get(SUBSETS[1], 1)), 1),
        locale=(str(cube["locale"].values[0]),),
        pivot=str(fit.settings.pivot),
        global_gap=_finite_mean(gaps[..., 0]),
        ability=_finite_mean(pivot[..., 0]),
        ability_sd=float(np.mean(spread)),
        harder=_finite_mean(pivot[..., 0]) - _finite_mean(pivot[..., 1]),
        difficulty_sd=float(min(np.mean(sigma), 9.9)),
    )


def _mean(values: Array) -> Array:
    """Mean over locales (J, 2) of what is known; NaN where nothing is; infinite where any is."""
    known = ~np.isnan(values)
    total = np.where(known, values, 0.0).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(total / known.sum(axis=0))


def _finite_mean(values: Array) -> float:
    kept = values[np.isfinite(values)]
    return float(kept.mean()) if len(kept) else 0.0


def _finite_sd(values: Array) -> float:
    kept = values[np.isfinite(values)]
    return float(kept.std(ddof=1)) if len(kept) > 1 else 0.0


def _observed(fit: Fit, subset: NDArray[np.intp], asked: NDArray[np.bool_]) -> Array:
    """Share of a locale's items that a cell answered, shape (K + 1, J, 2)."""
    answered = fit.cube["n_items"].transpose("locale", "model", "subset", "query").values
    n = np.stack([[(own & (subset == s)).sum() for s in (0, 1)] for own in asked[1:]])[:, None, :]
    with np.errstate(invalid="ignore", divide="ignore"):
        local, pivot = answered[..., 0] / n, answered[..., 1] / n
    return np.clip(np.nan_to_num(np.concatenate([_mean(pivot)[None], local])), 0.0, 1.0)
