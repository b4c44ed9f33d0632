"""Plain against paired over a whole run: Hausman's test of every locale and gap, and of all together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from maskedadv.gaps.bases import Based, Run
from maskedadv.gaps.hausman import Outcome, Shift, compare_all, compare_gaps, find_shift
from maskedadv.gaps.headline import Departure
from maskedadv.gaps.subset_gaps import SubsetGaps, from_estimates
from maskedadv.likelihoods import paired
from maskedadv.maximum_likelihood.block_estimate import Fitted
from maskedadv.maximum_likelihood.estimators import estimate_blocks
from maskedadv.vocabulary import BY_SUBSET, GAPS, SUBSETS

Array = NDArray[np.float64]

FEWEST = 2
"""With one model there is nothing that models could share."""


@dataclass(frozen=True)
class _Piece:
    """One subset of a locale: the shift, and plain and paired gaps, shapes (J,)."""

    subset: int
    shift: Shift
    plain: Array
    paired: Array


@dataclass(frozen=True)
class Departures:
    """The tests of some locales and gaps, and what the test of everything needs of them."""

    rows: tuple[Departure, ...] = ()
    shifts: tuple[Shift, ...] = ()


def find_departures(run: Run, bases: Mapping[str, Based]) -> Departures:
    """The test of every locale and gap; none with a single model.

    Where the plain gaps are posterior draws, replicates or directions, they are estimated once more with
    influences by item, under `nuts` by maximum likelihood.
    """
    design = run.design
    if len(design.models) < FEWEST:
        return Departures()
    plain = _by_item(run, bases["plain"])
    rows: list[Departure] = []
    shifts: list[Shift] = []
    for locale in design.locales:
        pieces = _pieces(run, locale, plain[locale])
        shifts += [piece.shift for piece in pieces.values()]
        for gap, weights in zip(GAPS, BY_SUBSET, strict=True):
            needed = [s for s in range(len(SUBSETS)) if weights[s]]
            if all(s in pieces for s in needed):
                rows.append(_depart(locale, gap, weights, [pieces[s] for s in needed]))
    return Departures(tuple(rows), tuple(shifts))


def join_departures(parts: Sequence[Departures], kept: Iterable[int]) -> tuple[Departure, ...]:
    """The tests of all locales, and last that of everything; none where no locale keeps two models.

    Parameters
    ----------
    kept : number of models of every locale
    """
    if max(kept) < FEWEST:
        return ()
    rows = [row for part in parts for row in part.rows]
    together = compare_all([shift for part in parts for shift in part.shifts])
    rows.append(Departure("(all locales)", "(all gaps)", None, None, 0, None, None, *_numbers(together)))
    return tuple(rows)


def _depart(locale: str, gap: str, weights: Array, pieces: Sequence[_Piece]) -> Departure:
    signed = sorted(pieces, key=lambda piece: -weights[piece.subset])
    shift, sd, outcome = compare_gaps(*(piece.shift for piece in signed))
    both = np.logical_and.reduce([np.isfinite(p.plain) & np.isfinite(p.paired) for p in pieces])
    plain, paired_mean = (
        float(sum(weights[p.subset] * values(p)[both].mean() for p in pieces)) if both.any() else np.nan
        for values in (lambda p: p.plain, lambda p: p.paired)
    )
    means = _known(plain), _known(paired_mean)
    return Departure(locale, gap, *means, int(both.sum()), _known(shift), _known(sd), *_numbers(outcome))


def _numbers(outcome: Outcome) -> tuple[float | None, float | None, float | None]:
    return _known(outcome.statistic), _known(outcome.df), _known(outcome.p)


def _known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _by_item(run: Run, plain: Based) -> Mapping[str, Mapping[int, SubsetGaps]]:
    settings = run.settings
    if settings.interval == "robust":
        return plain.gaps
    estimator = settings.estimator
    if settings.method == "nuts":
        estimator = "joint" if settings.response == "crm" else "marginal"
    ours = replace(
        settings, method="optimize", estimator=estimator, interval="robust", priors=None, variants="none",
        guessing="none", link="none",
    )  # fmt: skip
    estimates = estimate_blocks(run.design, ours, run.engine, how=run.how, tell=lambda _: None)
    fitted = [Fitted(b, e) for b, e in zip(run.design.blocks, estimates, strict=True)]
    return from_estimates(run.design, "robust", fitted)


def _pieces(run: Run, locale: str, plain: Mapping[int, SubsetGaps]) -> dict[int, _Piece]:
    """Every subset that has answers."""
    design = run.design
    out = {}
    for s, block in design.of_locale(locale).items():
        local, pivot = design.in_both(locale, block)
        gap = plain[s].difference
        if run.settings.response == "crm":
            own, _ = paired.mean_difference(local, pivot)
            known = np.isfinite(gap)
            score = np.nan_to_num(np.where(known[:, None], local - pivot - gap[:, None], 0.0)).T
            information = np.where(known, (~np.isnan(local - pivot)).sum(axis=1), 0).astype(np.float64)
        else:
            pairs = paired.find_pairs(local, pivot)
            own = paired.log_ratio(*paired.counts(pairs))
            score, information = paired.conditional_score(pairs, gap)
        influence = np.where(np.isfinite(gap), plain[s].rows, 0.0)
        out[s] = _Piece(s, find_shift(score, information, influence, plain[s].key), gap, own)
    return out
