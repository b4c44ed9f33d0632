"""What single cells show: signs of the gaps, and whether abilities follow the raw accuracies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from scipy import stats

from maskedadv.gaps.contrasts import interval
from maskedadv.gaps.joint import ALL_LOCALES
from maskedadv.result.fit_result import Fit
from maskedadv.vocabulary import GAPS


def sign_shares(fit: Fit, variant: str = "plain") -> pd.DataFrame:
    """How many gaps are positive, and how many clearly so, by locale and over all.

    A cell is known when its estimate is finite, and counts as positive when that is above zero, and as
    clearly positive (negative) when its own interval is. `share_lower` and `share_upper` bound the share
    of cells whose *true* gap is positive: cells proved positive, and cells not proved negative, by
    intervals that hold for all cells of the row at once (Šidák 1967, doi:10.1080/01621459.1967.10482935;
    valid whatever the cells' correlation).

    Returns
    -------
    DataFrame: locale, gap, known, positive, share_positive, clearly_positive, share_clearly_positive,
    clearly_negative, share_clearly_negative, share_lower, share_upper. Shares are NaN where nothing is known.
    """
    return _shares(fit.cube.sel(variant=variant), fit.settings.level)


def variant_shares(fit: Fit) -> pd.DataFrame:
    """`sign_shares` over all locales for every variant of the gaps, `variant` first; one row set if plain."""
    cube = fit.cube
    parts = []
    for name in fit.variants:
        rows = _shares(cube.sel(variant=name), fit.settings.level)
        rows = rows.tail(len(GAPS)).drop(columns="locale")
        rows.insert(0, "variant", name)
        parts.append(rows)
    return pd.concat(parts, ignore_index=True)


def _shares(cube: xr.Dataset, level: float) -> pd.DataFrame:
    cube = cube.transpose("locale", "model", "gap", ...)
    locales = [str(v) for v in cube["locale"].values]
    values = {name: cube[name].values for name in ("estimate", "sd", "lower", "upper")}
    parts = [(name, slice(k, k + 1)) for k, name in enumerate(locales)]
    if len(locales) > 1:
        parts.append((ALL_LOCALES, slice(None)))
    return pd.DataFrame(
        [
            {"locale": name, "gap": gap}
            | _signs({v: array[part, :, g].ravel() for v, array in values.items()}, level)
            for name, part in parts
            for g, gap in enumerate(GAPS)
        ]
    )


def _signs(cells: dict[str, np.ndarray], level: float) -> dict[str, Any]:
    estimate, sd = cells["estimate"], cells["sd"]
    known = np.isfinite(estimate)  # an infinite one has no interval that could be clear
    n = int(known.sum())
    z = stats.norm.ppf((1 + level ** (1 / max(n, 1))) / 2)
    with np.errstate(invalid="ignore"):
        counts = {
            "positive": int((known & (estimate > 0)).sum()),
            "clearly_positive": int((cells["lower"] > 0).sum()),
            "clearly_negative": int((cells["upper"] < 0).sum()),
        }
        proved = int((estimate - z * sd > 0).sum())
        refuted = int((estimate + z * sd < 0).sum())
    out: dict[str, Any] = {"known": n}
    for name, count in counts.items():
        out |= {name: count, f"share_{name}": count / n if n else np.nan}
    out["share_lower"] = proved / n if n else np.nan
    out["share_upper"] = 1 - refuted / n if n else np.nan
    return out


def abilities(fit: Fit) -> pd.DataFrame:
    """Every cell's ability with its own interval, and its raw accuracy.

    The interval is of the fit's level: quantiles of the posterior where there is one, else normal.

    Returns
    -------
    DataFrame: locale, model, subset, query, language, accuracy, ability, sd, lower, upper (logit; infinite
    where every answer is alike, NaN where there is none).
    """
    cube = fit.cube[["ability", "ability_sd", "accuracy"]].transpose("locale", "model", "subset", "query")
    estimate, sd = cube["ability"].values, cube["ability_sd"].values
    if fit.settings.method == "nuts":
        draws = fit.draws("ability").transpose("chain", "draw", *cube["ability"].dims)
        rows = draws.reindex({d: cube[d] for d in ("locale", "model", "subset", "query")}).values
        own = interval("posterior", rows.reshape(-1, *estimate.shape), estimate, fit.settings.level)
        lower, upper = own.lower, own.upper
    else:
        half = stats.norm.ppf((1 + fit.settings.level) / 2) * sd
        lower, upper = estimate - half, estimate + half
    frame = cube.rename(ability_sd="sd").to_dataframe().reset_index()
    columns = ["locale", "model", "subset", "query", "language", "accuracy", "ability", "sd"]
    return frame[columns].assign(lower=lower.ravel(), upper=upper.ravel())


def ability_accuracy(fit: Fit) -> pd.DataFrame:
    """Correlation over models of ability and raw accuracy, in every locale, subset and language.

    Returns
    -------
    DataFrame: locale, subset, query, language, n_models (with a finite ability), n_infinite, pearson,
    spearman; NaN with fewer than three models or none differing.
    """
    cube = fit.cube.transpose("locale", "model", "subset", "query", ...)
    rows = []
    for k, locale in enumerate(cube["locale"].values):
        for s, subset in enumerate(cube["subset"].values):
            for q, query in enumerate(cube["query"].values):
                ability = cube["ability"].values[k, :, s, q]
                accuracy = cube["accuracy"].values[k, :, s, q]
                used = np.isfinite(ability) & np.isfinite(accuracy)
                pearson, spearman = _correlations(ability[used], accuracy[used])
                rows.append(
                    {
                        "locale": str(locale),
                        "subset": str(subset),
                        "query": str(query),
                        "language": str(cube["language"].values[k, q]),
                        "n_models": int(used.sum()),
                        "n_infinite": int(np.isinf(ability).sum()),
                        "pearson": pearson,
                        "spearman": spearman,
                    }
                )
    return pd.DataFrame(rows)


def _correlations(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    if len(x) < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return float("nan"), float("nan")
    return float(np.corrcoef(x, y)[0, 1]), float(stats.spearmanr(x, y).statistic)
