"""The transformation `linked`: CS differences on the CA scale, over λ from a base's pivot abilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskedadv.errors import NotEstimable
from maskedadv.gaps.bases import Run
from maskedadv.gaps.link import Link, find_link, link_from_draws
from maskedadv.gaps.one_trait import CommonTrait, fit_common_trait
from maskedadv.gaps.subset_gaps import ROWS_SHARED, LocaleGaps, PivotAbilities, add_by_key
from maskedadv.settings import Settings

Array = NDArray[np.float64]

_CA, _CS = 0, 1


@dataclass(frozen=True)
class Transformed:
    """What a transformation gives: gaps by locale (None where it is not asked for), and what to tell."""

    gaps: Mapping[str, LocaleGaps] | None
    told: list[dict[str, Any]]


def link_all(run: Run, variant: str, base: Mapping[str, LocaleGaps]) -> Transformed:
    """Link every locale of a base."""
    settings = run.settings
    if settings.link == "none" or settings.variants == "none":
        return Transformed(None, [])
    links = {k: link_of(settings, own) for k, own in base.items()}
    told = [
        {"locale": k, "variant": variant, **_told(link, _trait_of(run, k, base[k]))}
        for k, link in links.items()
    ]
    return Transformed({k: link_locale(settings, k, own, links[k]) for k, own in base.items()}, told)


def without_link(told: Sequence[Mapping[str, Any]], settings: Settings) -> set[str]:
    """Variants that can be linked in no locale, from what was told of all links.

    Raises
    ------
    NotEstimable
        A link was asked for and the plain abilities give one in no locale.
    """
    lost = {link["variant"] for link in told} - {link["variant"] for link in told if not link["reason"]}
    if settings.link == "english" and "linked" in lost:
        reason = next(link["reason"] for link in told if link["variant"] == "linked")
        raise NotEstimable(f"no locale can be linked ({reason}); leave --link out.")
    return lost


def link_of(settings: Settings, own: LocaleGaps) -> Link:
    """λ of a locale."""
    pair = pivot_pair(own)
    if pair is None:
        return find_link(np.zeros(0), np.zeros((0, 0)), np.zeros(0), np.zeros((0, 0)))
    ca, cs = pair
    if ca.scales is not None and cs.scales is not None:
        return link_from_draws(ca.ability, cs.ability, ca.scales[:, 0], cs.scales[:, 0], ca.scales[:, 1])
    rows_ca, rows_cs = ca.rows, cs.rows
    if settings.interval in ROWS_SHARED:
        rows_ca, rows_cs = _deviations(rows_ca), _deviations(rows_cs)
    return find_link(ca.ability, rows_ca, cs.ability, rows_cs)


def _trait_of(run: Run, locale: str, own: LocaleGaps) -> CommonTrait:
    """The common trait, found once for the variants that rest on the same pivot abilities."""
    pair = own[_CA].pivot, own[_CS].pivot
    known = run.traits.setdefault(locale, [])
    for ca, cs, trait in known:
        if pair[0] is ca and pair[1] is cs:
            return trait
    found = common_trait_of(run.settings, own)
    known.append((*pair, found))
    return found


def common_trait_of(settings: Settings, own: LocaleGaps) -> CommonTrait:
    """λ under one pivot-language ability per model, of a locale."""
    nothing = np.zeros(0)
    pair = pivot_pair(own)
    unknown = fit_common_trait(nothing, np.zeros((0, 0)), nothing, np.zeros((0, 0)))
    if pair is None:
        return unknown
    if settings.interval == "posterior":
        return replace(unknown, reason="a common trait is judged by maximum likelihood only")
    ca, cs = pair
    rows_ca, rows_cs = ca.rows, cs.rows
    freedom = (np.inf, np.inf)
    if settings.interval != "information":  # then the covariances themselves are told from so many items
        freedom = (max(ca.items - 1.0, 1.0), max(cs.items - 1.0, 1.0))
    if settings.interval in ROWS_SHARED:
        again = max(min(len(rows_ca), len(rows_cs)) - 1.0, 1.0)
        freedom = (1 / (1 / freedom[0] + 1 / again), 1 / (1 / freedom[1] + 1 / again))
        rows_ca, rows_cs = _deviations(rows_ca), _deviations(rows_cs)
    return fit_common_trait(ca.ability, rows_ca.T @ rows_ca, cs.ability, rows_cs.T @ rows_cs, freedom=freedom)


def link_locale(settings: Settings, locale: str, own: LocaleGaps, link: Link) -> LocaleGaps:
    """A locale's differences with those of CS on the CA scale.

    Rows that are influences or directions take the link's share by the delta method, and one more row holds
    what is uncertain in λ alone; replicates and draws get a λ each.
    """
    cs = own[_CS]
    if link.reason:
        nothing = np.full_like(cs.rows, np.nan)
        note = np.where(cs.note == "", link.reason, cs.note)
        return {
            **own,
            _CS: replace(cs, difference=np.full_like(cs.difference, np.nan), rows=nothing, note=note),
        }
    difference = cs.difference / link.ratio
    pair = pivot_pair(own)
    assert pair is not None
    if settings.interval in ROWS_SHARED:
        key, rows = cs.key, cs.rows / _ratios(settings, pair, link)[:, None]
        if settings.interval == "posterior":
            difference = np.where(np.isnan(difference), np.nan, np.nanmean(rows, axis=0))
    else:
        scaled = np.where(np.isfinite(difference), difference, 0.0)  # an infinite gap has no interval
        # Locales share models and often English answers, so their luck goes together; taken as one, a mean
        # over locales is never too sure of itself. Directions of `information` stand alone in each locale.
        alone = "link" if settings.interval == "robust" else f"{locale} link"
        key, rows = add_by_key(
            [
                (cs.key, cs.rows / link.ratio),
                (pair[0].key, -link.rows_ca[:, None] * scaled),
                (pair[1].key, -link.rows_cs[:, None] * scaled),
                (np.array([alone], dtype=object), -link.own_sd * scaled[None]),
            ]
        )
    return {**own, _CS: replace(cs, difference=difference, key=key, rows=rows)}


def pivot_pair(own: LocaleGaps) -> tuple[PivotAbilities, PivotAbilities] | None:
    """Pivot-language abilities on CA and on CS, of the models that a link can rest on; None without any.

    Those have both abilities, on items that chain them together: the levels of cells without a shared chain
    of items have zeros of their own, and their distance is no spread. Of several chains the one with most
    models is taken; the other models' abilities are NaN.
    """
    ca, cs = own[_CA].pivot, own[_CS].pivot
    if ca is None or cs is None:
        return None
    parts = np.stack([ca.part, cs.part])
    use = np.isfinite(ca.ability) & np.isfinite(cs.ability)
    if use.any():
        chains, count = np.unique(parts[:, use], axis=1, return_counts=True)
        use &= (parts == chains[:, [int(np.argmax(count))]]).all(axis=0)
    one, other = (replace(p, ability=np.where(use, p.ability, np.nan)) for p in (ca, cs))
    return one, other


def _told(link: Link, trait: CommonTrait) -> dict[str, Any]:
    """A link's numbers for `fit.json`; those that do not exist are None."""
    names = ("ratio", "slope", "log_sd", "lower", "upper", "models", "correlation", "reason")
    values: dict[str, Any] = {n: getattr(link, n) for n in names}
    values |= {f"common_{n}": v for n, v in asdict(trait).items()}
    return {n: None if isinstance(v, float) and not np.isfinite(v) else v for n, v in values.items()}


def _deviations(rows: Array) -> Array:
    """Replicates or draws as rows whose products sum to their covariance."""
    whole = rows[~np.isnan(rows).any(axis=1)]
    if len(whole) < 2:
        return np.zeros((1, rows.shape[1]))
    return np.asarray((whole - whole.mean(axis=0)) / np.sqrt(len(whole) - 1))


def _ratios(settings: Settings, pair: tuple[PivotAbilities, PivotAbilities], link: Link) -> Array:
    """λ of every replicate or draw, shape (K,).

    A posterior draw has its own scales. A replicate's abilities carry the noise twice, once from the data and
    once from resampling, and it gets the luck of having few models besides.
    """
    ca, cs = pair
    if ca.scales is not None and cs.scales is not None:
        return np.asarray(cs.scales[:, 0] / ca.scales[:, 0])
    spreads = []
    for part in pair:
        rows = part.rows[:, np.isfinite(part.ability)]
        noise = _deviations(rows)
        variance = np.var(rows, axis=1, ddof=1) - 2.0 * np.var(noise, axis=1, ddof=1).sum()
        spreads.append(np.where(variance > 0, variance, np.nan))
    luck = np.random.default_rng([settings.seed, 2**31 - 1]).standard_normal(len(spreads[0]))
    sample = np.sqrt(max(1.0 - link.correlation**2, 0.0) / (link.models - 1))
    return np.asarray(np.sqrt(spreads[1] / spreads[0]) * np.exp(sample * luck))
