"""Approximate gaps from published accuracies, where answers per item are not to be had.

A gap is a difference of logits of accuracies. Two things make it approximate. Items differ in difficulty,
which draws the logit of a mean accuracy towards zero; `ability_from_accuracy` undoes that for an assumed
spread, and a band shows the gap over spreads from 0 to 3, each subset's its own. And the two languages'
answers to the same items are treated as independent, which makes intervals too wide, since they rise and fall
together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logit, ndtr, ndtri

from maskedadv.design.options import at_chance
from maskedadv.errors import BadSetting, BadValue, NoSharedItem, PivotMissing, UnknownLocale, UnknownSubset
from maskedadv.files.text_tables import check_ids, check_unique, numbers, offenders, read_text_table
from maskedadv.settings import LEVEL
from maskedadv.vocabulary import GAP_TABLE, SUBSETS

SPREADS = np.linspace(0.0, 3.0, 13)
_IDS = ["model", "subset", "language"]
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(101)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()


@dataclass(frozen=True)
class AccuracyGaps:
    """Gaps from accuracies.

    Attributes
    ----------
    gaps
        locale, model, gap (global_gap, local_gap, knowledge_gap), estimate, sd, lower, upper, p_positive,
        band_low, band_high, n_items_ca, n_items_cs, note. In logits. `band_low` and `band_high` enclose the
        estimates under item difficulties of standard deviation 0 to 3, of CA and of CS items each its own.
    cells
        model, subset, language, accuracy, n_items, n_options, se (of the accuracy), ability, near_chance.
    pivot, level
        The language compared with; the level of the intervals.
    """

    gaps: pd.DataFrame
    cells: pd.DataFrame
    pivot: str
    level: float


def gaps_from_accuracy(
    source: str | Path | pd.DataFrame,
    *,
    pivot: str = "en",
    locale: Sequence[str] | None = None,
    n_options: int | None = None,
    percent: bool = False,
    level: float = LEVEL,
) -> AccuracyGaps:
    """Approximate the three gaps of each model and locale.

    Parameters
    ----------
    source
        CSV, Parquet or DataFrame: model, subset (CA, CS), language, accuracy, n_items; optionally n_options.
    pivot
        Language compared with.
    locale
        Local languages; all but the pivot if None.
    n_options
        Options per question, where the table does not say: accuracies within two standard errors of
        1/n_options, or below it, are marked, since there a gap shows a floor and measures nothing.
    percent
        Accuracies are percentages.
    level
        Level of the intervals, between 0 and 1.

    Raises
    ------
    UnreadableFile, MissingColumn, EmptyTable, MissingId, BadId, DuplicateRows, BadValue, UnknownSubset
        The table is not as it should be.
    PivotMissing, UnknownLocale, NoSharedItem, BadSetting

    Notes
    -----
    An accuracy p of n items has standard error sqrt(p (1 − p)/n), its logit 1/sqrt(n p (1 − p)). Gaps add
    the variances of their cells. An accuracy of 0 or 1 has an infinite logit, which stays infinite.
    """
    if not 0 < level < 1:
        raise BadSetting(f"level must lie between 0 and 1, not {level!r}.")
    if n_options is not None and n_options < 2:
        raise BadSetting(f"options must be 2 or more, not {n_options!r}.")
    cells = _read(source, n_options, percent=percent)
    languages = sorted(set(cells["language"]))
    if pivot not in languages:
        raise PivotMissing(f"no row has the pivot language {pivot!r} (found: {', '.join(languages[:8])}).")
    locales = [name for name in languages if name != pivot] if locale is None else list(locale)
    if absent := [name for name in locales if name not in languages or name == pivot]:
        raise UnknownLocale(f"the table holds no locale {absent[0]!r} (found: {', '.join(languages[:8])}).")
    p, n = cells["accuracy"].to_numpy(), cells["n_items"].to_numpy()
    # One row per spread: how the same accuracies read under that spread of difficulties.
    abilities = np.array([ability_from_accuracy(p, spread) for spread in SPREADS])
    with np.errstate(divide="ignore"):
        variance = 1.0 / (n * p * (1.0 - p))
    chance = 1.0 / cells["n_options"]
    cells = cells.assign(
        se=np.sqrt(p * (1 - p) / n),
        ability=abilities[0],
        near_chance=at_chance(p, chance.to_numpy(), np.sqrt(chance * (1 - chance) / n).to_numpy()),
    )
    place = {ids: k for k, ids in enumerate(cells[_IDS].itertuples(index=False, name=None))}
    near, extreme = cells["near_chance"].to_numpy(), np.isin(p, (0.0, 1.0))
    known = _Cells(place, n, near, extreme, abilities, variance)
    rows = []
    for name in locales:
        models = [m for m in dict.fromkeys(cells["model"]) if any((m, s, name) in place for s in SUBSETS)]
        for model in models:
            rows += _gaps_of(model, name, pivot, known, level)
    gaps = pd.DataFrame(rows)
    if gaps.empty or gaps["estimate"].isna().all():
        raise NoSharedItem(f"no model has accuracies of one subset both in a locale and in {pivot!r}.")
    return AccuracyGaps(gaps, cells, pivot, level)


def ability_from_accuracy(accuracy: ArrayLike, difficulty_sd: float) -> NDArray[np.float64]:
    """The ability whose expected accuracy over items of normal difficulty is `accuracy`.

    Solves E[1/(1 + exp(b − θ))] = p for θ, with b ~ N(0, difficulty_sd²), by Gauss–Hermite quadrature.

    Parameters
    ----------
    accuracy : shape (n,), from 0 to 1
    difficulty_sd
        Standard deviation of difficulty in logits, 0 to 3; 0 gives logit(accuracy).

    Returns
    -------
    θ in logits, shape (n,), relative to the mean difficulty; infinite at accuracies of 0 and 1.
    """
    p = np.asarray(accuracy, dtype=np.float64)
    theta = np.array(logit(p))
    solvable = np.isfinite(theta)
    if difficulty_sd == 0 or not solvable.any():
        return theta
    target = p[solvable]
    reach = difficulty_sd**2 / 2 + 5 * difficulty_sd + 1
    low, high = theta[solvable] - reach, theta[solvable] + reach
    ability = theta[solvable]
    for _ in range(200):  # Newton's steps, halving the bracket where one leaves it
        chance = expit(ability[:, None] - difficulty_sd * _NODES)
        excess = chance @ _WEIGHTS - target
        low, high = np.where(excess < 0, ability, low), np.where(excess < 0, high, ability)
        with np.errstate(divide="ignore", invalid="ignore"):
            newton = ability - excess / ((chance * (1 - chance)) @ _WEIGHTS)
        inside = (newton >= low) & (newton <= high)
        step = np.where(inside, newton, (low + high) / 2) - ability
        ability = ability + step
        if np.abs(step).max() < 1e-12:
            break
    theta[solvable] = ability
    return theta


def _read(source: str | Path | pd.DataFrame, n_options: int | None, *, percent: bool) -> pd.DataFrame:
    what = "the accuracy table"
    frame = read_text_table(source, what, [*_IDS, "accuracy", "n_items"])
    check_ids(frame, _IDS, what)
    strange = frame.loc[~frame["subset"].isin(SUBSETS), "subset"]
    if len(strange):
        where = offenders(strange.index, [repr(s) for s in strange.iloc[:3]], len(strange))
        raise UnknownSubset(f"{what}: {len(strange)} subsets are neither CA nor CS ({where}).")
    check_unique(frame, _IDS, what)
    top, span = (100.0, "a percentage from 0 to 100") if percent else (1.0, "a share from 0 to 1")
    hint = "" if percent else " (percentages: --percent)"
    accuracy = numbers(frame, "accuracy", what, span + hint, 0.0, top) / top
    if percent and 0 < accuracy.max(initial=0.0) <= 0.01:
        raise BadValue(
            f"{what}, column 'accuracy': no value is above 1, so these are shares, not percentages; "
            "leave out --percent."
        )
    n_items = numbers(frame, "n_items", what, "a number of items of 1 or more", 1.0)
    for name, values in (("accuracy", accuracy), ("n_items", n_items)):
        if len(empty := np.flatnonzero(np.isnan(values))):
            where = offenders(empty, ["empty"] * 3, len(empty))
            raise BadValue(f"{what}, column {name!r}: {len(empty)} cells are empty ({where}).")
    options = np.full(len(frame), np.nan if n_options is None else float(n_options))
    if "n_options" in frame:
        own = numbers(frame, "n_options", what, "a number of options of 2 or more", 2.0)
        options = np.where(np.isnan(own), options, own)
    return frame[_IDS].assign(accuracy=accuracy, n_items=n_items, n_options=options)


class _Cells(NamedTuple):
    """All cells: row by (model, subset, language), then one value per row (abilities: spreads × rows)."""

    place: dict[tuple[str, str, str], int]
    n_items: NDArray[np.float64]
    near_chance: NDArray[np.bool_]
    extreme: NDArray[np.bool_]
    abilities: NDArray[np.float64]
    variance: NDArray[np.float64]


def _gaps_of(model: str, locale: str, pivot: str, cells: _Cells, level: float) -> list[dict[str, object]]:
    """The gaps of one model in one locale."""
    rows = {(s, q): cells.place.get((model, s, q)) for s in SUBSETS for q in (locale, pivot)}
    counts = {
        s: [cells.n_items[r] for (t, _), r in rows.items() if t == s and r is not None] for s in SUBSETS
    }
    out: list[dict[str, object]] = []
    for gap in GAP_TABLE:
        weight = dict(zip(rows, gap.cells, strict=True))
        used = {cell: r for cell, r in rows.items() if weight[cell]}
        estimate, low, high, sd = np.nan, np.nan, np.nan, np.nan
        index = [r for r in used.values() if r is not None]
        if len(index) == len(used):
            weights = np.array([weight[cell] for cell in used], dtype=np.float64)
            with np.errstate(invalid="ignore"):
                # A subset's difficulties spread alike in both languages, but not as the other subset's do.
                own = [
                    np.array([t == subset for t, _ in used]) for subset in dict.fromkeys(t for t, _ in used)
                ]
                at = np.array(index)
                parts = np.stack([cells.abilities[:, at[m]] @ weights[m] for m in own])
                estimate = float(parts[:, 0].sum())
                low, high = float(parts.min(axis=1).sum()), float(parts.max(axis=1).sum())
            sd = float(np.sqrt(weights**2 @ cells.variance[index]))
        sd = sd if np.isfinite(sd) else np.nan
        half = ndtri(0.5 + level / 2) * sd
        out.append(
            {
                "locale": locale,
                "model": model,
                "gap": gap.name,
                "estimate": estimate,
                "sd": sd,
                "lower": estimate - half,
                "upper": estimate + half,
                "p_positive": float(ndtr(estimate / sd)) if np.isfinite(sd) else np.nan,
                "band_low": low,
                "band_high": high,
                "n_items_ca": int(min(counts["CA"], default=0)),
                "n_items_cs": int(min(counts["CS"], default=0)),
                "note": _note(used, cells),
            }
        )
    return out


def _note(used: dict[tuple[str, str], int | None], cells: _Cells) -> str:
    """What is to be known of the cells of one gap."""

    def named(rows: Callable[[int | None], bool]) -> str:
        return ", ".join(f"{s} {q}" for (s, q), row in used.items() if rows(row))

    parts = {
        "no": named(lambda row: row is None),
        "at chance:": named(lambda row: row is not None and bool(cells.near_chance[row])),
        "accuracy 0 or 1:": named(lambda row: row is not None and bool(cells.extreme[row])),
    }
    return "; ".join(f"{what} {names}" for what, names in parts.items() if names)
