"""Mean gaps of "models like these", and of locales like these: what the mean over these models leaves out.

A mean over N models is certain of those models, however few. Whoever concludes on models (or languages) at
large takes them for a sample: gaps of families, of models within a family, of locales and of single cells
scatter about the population's mean, and the estimates' known covariance comes on top. The variances are
found by REML (`maskedadv.likelihoods.random_effects`); the mean itself counts every family alike, and every
model of a family alike, whatever they turn out to be: weights by precision would pull paired gaps to zero,
which are the less precise, the farther from it they lie.

Intervals use t with Satterthwaite's degrees of freedom (1946, doi:10.2307/3002019), those of the variance
that the mean has at the estimated components; for equally precise estimates of F families they are F − 1.

Under NUTS the gaps of every draw are free of noise: their scatter gives the components by moments, and the
mean is drawn anew from t about each draw's own. Where every model is a family by itself, the program's own
mean over its population of models takes the place of that in single locales.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from maskedadv.gaps.gap_covariance import gap_covariance
from maskedadv.gaps.joint import ALL_LOCALES, NORMAL_KINDS, Array, Joint
from maskedadv.likelihoods.random_effect_moments import find_moments
from maskedadv.likelihoods.random_effects import fit_random_effects
from maskedadv.likelihoods.tails import t_below, t_quantile
from maskedadv.vocabulary import GAPS, LIKE_THESE, NEW_LOCALE

Labels = NDArray[np.intp]

FEWEST = 5
"""With fewer families (or locales) than this their spread is anybody's guess: nothing is said."""
MOST = 5_000
"""With more gaps than this over all locales nothing is said of them: too large a covariance."""
COLUMNS = (
    "locale", "model", "gap", "estimate", "sd", "lower", "upper", "p_positive", "df", "spread_models",
    "spread_locales", "n_families", "n_models", "n_locales", "note",
)  # fmt: skip
_FAMILY, _MODEL, _LOCALE, _CELL = "family", "model", "locale", "cell"


@dataclass(frozen=True)
class Sample:
    """Known gaps of one kind, each a row.

    Attributes
    ----------
    value : shape (N,), logit
    covariance : shape (N, N), of the estimates; None where draws are free of noise
    draws : shape (D, N); None where there are none
    family, model, locale : labels, each of shape (N,)
    """

    value: Array
    covariance: Array | None
    draws: Array | None
    family: Labels
    model: Labels
    locale: Labels

    @property
    def weights(self) -> Array:
        """Every locale alike, in it every family, in that every model; shape (N,), sum 1."""
        cells = np.stack([self.locale, self.family], axis=1)
        groups, place, models = np.unique(cells, axis=0, return_inverse=True, return_counts=True)
        locales, families = np.unique(groups[:, 0], return_counts=True)
        of_locale = families[np.searchsorted(locales, self.locale)]
        return np.asarray(1.0 / (len(locales) * of_locale * models[place.reshape(-1)]))

    def factors(self) -> dict[str, Labels]:
        """What scatters: families, models in them, locales, cells; none twice under two names."""
        named = {
            _FAMILY: self.family,
            _MODEL: self.model,
            _LOCALE: self.locale,
            _CELL: np.arange(len(self.value), dtype=np.intp),
        }
        kept: dict[str, Labels] = {}
        for name, labels in named.items():
            _, codes = np.unique(labels, return_inverse=True)
            first = _canonical(codes.reshape(-1))
            if first.max() > 0 and not any(np.array_equal(first, other) for other in kept.values()):
                kept[name] = first
        return kept


def _canonical(codes: Labels) -> Labels:
    """Labels numbered by first appearance."""
    _, first, place = np.unique(codes, return_index=True, return_inverse=True)
    order = np.empty(len(first), dtype=np.intp)
    order[np.argsort(first)] = np.arange(len(first))
    return np.asarray(order[place.reshape(-1)])


@dataclass(frozen=True)
class Found:
    """A population's mean.

    Attributes
    ----------
    mean, sd, df : logit; its standard error and the degrees of freedom of t
    lower, upper, p_positive : interval, and the probability of a mean above zero
    new : the same for the mean gap in a locale that is not among these; None for a single locale
    spread : sd over the population of each factor (logit)
    converged : whether the variances were found
    """

    mean: float
    sd: float
    df: float
    lower: float
    upper: float
    p_positive: float
    new: Found | None
    spread: dict[str, float]
    converged: bool = True


def describe(sample: Sample, level: float, *, seed: int = 1) -> Found:
    """Mean, interval and spreads of a population from a sample of it."""
    if sample.draws is not None:
        return _from_draws(sample, level, seed)
    assert sample.covariance is not None
    factors = sample.factors()
    found = fit_random_effects(sample.value, sample.covariance, list(factors.values()))
    w = sample.weights
    gradient = np.array([_share(w, labels) for labels in factors.values()])
    known = float(w @ sample.covariance @ w)
    spread = dict(zip(factors, np.sqrt(found.variance).tolist(), strict=True))
    inverse = np.linalg.pinv(found.information, hermitian=True)
    mean = float(w @ sample.value)

    def around(along: Array, new: Found | None = None) -> Found:
        variance = known + float(along @ found.variance)
        noise = float(along @ inverse @ along)
        df = max(2.0 * variance**2 / noise, 1.0) if noise > 0 else np.inf
        sd = float(np.sqrt(variance))
        reach = float(t_quantile(0.5 + level / 2, df)) * sd
        p = float(t_below(mean / sd, df)) if sd > 0 else np.nan
        return Found(mean, sd, df, mean - reach, mean + reach, p, new, spread, found.converged)

    new = None
    if _LOCALE in factors:
        new = around(gradient + np.array([name == _LOCALE for name in factors]))
    return around(gradient, new)


def _share(weights: Array, labels: Labels) -> float:
    """What a factor's variance adds to that of the mean, for a variance of 1."""
    return float((np.bincount(labels, weights) ** 2).sum())


def _from_draws(sample: Sample, level: float, seed: int) -> Found:
    """Draws of the population's mean: about each draw's own, with the variance that its scatter tells."""
    assert sample.draws is not None
    drawn = sample.draws[~np.isnan(sample.draws).any(axis=1)]
    factors = sample.factors()
    w = sample.weights
    variance, information = find_moments(drawn, list(factors.values()))
    gradient = np.array([_share(w, labels) for labels in factors.values()])
    inverse = np.linalg.pinv(information, hermitian=True)
    spread = dict(zip(factors, np.sqrt(variance.mean(axis=0)).tolist(), strict=True))
    rng = np.random.default_rng([seed, len(drawn)])
    own = drawn @ w

    def around(along: Array, new: Found | None = None) -> Found:
        typical = float(along @ variance.mean(axis=0))
        noise = float(along @ inverse @ along)
        df = max(2.0 * typical**2 / noise, 1.0) if noise > 0 else np.inf
        # one draw from each of D strata of t, in random order
        step = t_quantile((rng.permutation(len(own)) + rng.random(len(own))) / len(own), df)
        drawn_mean = own + np.sqrt(variance @ along) * step
        return summarise(drawn_mean, float(own.mean()), level, df, new, spread)

    new = None
    if _LOCALE in factors:
        new = around(gradient + np.array([name == _LOCALE for name in factors]))
    return around(gradient, new)


def summarise(
    drawn: Array, mean: float, level: float, df: float, new: Found | None, spread: dict[str, float]
) -> Found:
    """A population's mean from draws (D,) of it, with its equal-tailed interval."""
    tail = (1 - level) / 2
    lower, upper = (float(v) for v in np.quantile(drawn, [tail, 1 - tail]))
    p = float((drawn > 0).mean())
    return Found(mean, float(drawn.std(ddof=1)), df, lower, upper, p, new, spread)


def populations(
    joint: Joint,
    families: Sequence[str],
    *,
    centres: dict[str, Array] | None = None,
    seed: int = 1,
) -> pd.DataFrame:
    """Mean gaps of models like these: in every locale, over locales like these, and in a new one.

    Parameters
    ----------
    families : of every model of `joint`, shape (J,)
    centres : NUTS: draws (D, gaps) of the programs' own means over the population of models, by locale; used
        where every model is a family by itself
    seed : of the draws about each draw's mean

    Returns
    -------
    DataFrame of `COLUMNS`, without the locales (or all together) that rest on fewer than `FEWEST` families.
    Over locales there are rows where there are `FEWEST` of those, too, and their joint uncertainty is known:
    not under `information`, nor for more than `MOST` gaps. `spread_models`, `spread_locales`: sd over the
    population (logit).
    """
    labels = np.unique(np.array(families, dtype=object).astype(str), return_inverse=True)[1].reshape(-1)
    rows: list[dict[str, object]] = []
    for g, gap in enumerate(GAPS):
        for place, locale in enumerate(joint.locales):
            sample = _sample(joint, g, [place], labels)
            if sample is None:
                continue
            found = None
            if centres is not None and locale in centres and _alone(sample):
                own = centres[locale][:, g]
                if np.isfinite(own).all():
                    found = summarise(own, float(own.mean()), joint.level, np.nan, None, {})
            rows.append(_row(locale, gap, found or describe(sample, joint.level, seed=seed), sample))
        everywhere = list(range(len(joint.locales)))
        if joint.uncertainty[0].kind == "information" or joint.known[..., g].sum() > MOST:
            continue
        sample = _sample(joint, g, everywhere, labels)
        if sample is None or len(np.unique(sample.locale)) < FEWEST:
            continue
        found = describe(sample, joint.level, seed=seed)
        rows.append(_row(ALL_LOCALES, gap, found, sample))
        if found.new is not None:
            rows.append(_row(NEW_LOCALE, gap, found.new, sample))
    order = {name: k for k, name in enumerate([*joint.locales, ALL_LOCALES, NEW_LOCALE])}
    rows.sort(key=lambda r: (order[str(r["locale"])], GAPS.index(str(r["gap"]))))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _alone(sample: Sample) -> bool:
    return len(np.unique(sample.family)) == len(np.unique(sample.model))


def _sample(joint: Joint, g: int, places: Sequence[int], families: Labels) -> Sample | None:
    """The known gaps of some locales; None where they come from too few families."""
    at, model = np.nonzero(joint.known[list(places), :, g])
    if len(np.unique(families[model])) < FEWEST:
        return None
    locale = np.asarray(places)[at]
    value = joint.estimate[locale, model, g]
    kind = joint.uncertainty[0].kind
    covariance = draws = None
    if kind in NORMAL_KINDS:
        covariance = gap_covariance(joint, g, places, joint.known[list(places), :, g])
    else:
        rows = joint.rows_of_gap(g, places)[:, at * len(joint.models) + model]
        if kind == "posterior":
            draws = rows
        else:
            off = np.where(np.isnan(rows), 0.0, rows - value)
            off = off - off.mean(axis=0)
            covariance = off.T @ off / max(len(off) - 1, 1)
    return Sample(value, covariance, draws, families[model], model.astype(np.intp), locale.astype(np.intp))


def _row(locale: str, gap: str, found: Found, sample: Sample) -> dict[str, object]:
    squares = [found.spread.get(name, 0.0) ** 2 for name in (_FAMILY, _MODEL)]
    many = len(np.unique(sample.locale))
    n = len(np.unique(sample.family))
    return {
        "locale": locale,
        "model": LIKE_THESE,
        "gap": gap,
        "estimate": found.mean,
        "sd": found.sd,
        "lower": found.lower,
        "upper": found.upper,
        "p_positive": found.p_positive,
        "df": found.df,
        "spread_models": float(np.sqrt(sum(squares))) if found.spread else np.nan,
        "spread_locales": found.spread.get(_LOCALE, np.nan),
        "n_families": n,
        "n_models": len(np.unique(sample.model)),
        "n_locales": many,
        "note": f"{n} families" if found.converged else "the variances were not found",
    }
