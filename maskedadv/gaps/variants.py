"""The knowledge gap under other assumptions: with the guessing floor, on the linked scale, with both.

`plain` is the Rasch model as the papers use it. `floor` lets a right answer be a guess. `linked` divides the
local gap by λ, the ratio of the spreads of the models' pivot-language abilities on CS and on CA.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from maskedadv.design.options import chance_of_items, options_notes
from maskedadv.errors import NotEstimable
from maskedadv.gaps.assemble import ROWS_SHARED, assemble_locale, cell_index
from maskedadv.gaps.contrasts import Uncertainty, interval
from maskedadv.gaps.link import FEW, LOOSE, Link, find_link, link_from_draws
from maskedadv.gaps.one_trait import CommonTrait, fit_common_trait
from maskedadv.responses import Responses
from maskedadv.result.cube import LocaleCube

if TYPE_CHECKING:
    from maskedadv.maximum_likelihood.block_estimate import Fitted
    from maskedadv.settings import Settings

Array = NDArray[np.float64]

VARIANTS = ("plain", "floor", "linked", "floor+linked")
"""In the order of every variant axis."""


@dataclass(frozen=True)
class Part:
    """One locale under one variant: its part of the cube and its joint uncertainty."""

    cube: LocaleCube
    uncertainty: Uncertainty


def wanted_floor(responses: Responses, settings: Settings) -> Array | None:
    """Floor of every item for the `floor` variant, shape (I,), or None where there is to be none."""
    possible = _floor_possible(settings)
    return chance_of_items(responses, settings.guessing, settings.options) if possible else None


def floor_notes(responses: Responses, settings: Settings) -> list[str]:
    """Sentences on a floor that was left out for want of options, and on options of no use."""
    possible = _floor_possible(settings)
    return options_notes(responses, settings.guessing, settings.options) if possible else []


def _floor_possible(settings: Settings) -> bool:
    return settings.response == "binary" and settings.variants != "none"


def all_variants(
    responses: Responses,
    settings: Settings,
    locales: Sequence[str],
    plain: Sequence[Part],
    own: Mapping[str, Mapping[int, Fitted]],
    floored: Mapping[str, Mapping[int, Fitted]] | None,
    keep: NDArray[np.bool_],
) -> tuple[dict[str, list[Part]], list[dict[str, Any]]]:
    """Every variant's parts, one per locale, plain first, and what is to be told of the links.

    Parameters
    ----------
    own, floored
        The blocks of every locale by subset index, without and with the guessing floor.
    keep
        Models that count in each locale, shape (n_locales, J).

    Raises
    ------
    NotEstimable
        A link was asked for and can be found in no locale.
    """
    every = {"plain": list(plain)}
    bases = {"linked": ("plain", own)}
    if floored is not None:
        every["floor"] = [
            Part(*assemble_locale(responses, settings, k, floored[k], own_models))
            for k, own_models in zip(locales, keep, strict=True)
        ]
        bases["floor+linked"] = ("floor", floored)
    told: list[dict[str, Any]] = []
    if settings.link == "none" or settings.variants == "none":
        return every, told
    for name, (base, blocks) in bases.items():
        links = [link_of(responses, settings, k, blocks[k]) for k in locales]
        for k, link in zip(locales, links, strict=True):
            trait = common_trait_of(responses, settings, k, blocks[k])
            told.append({"locale": k, "variant": name, **_told(link, trait)})
        if all(v.reason for v in links):
            if settings.link == "english" and base == "plain":
                raise NotEstimable(f"no locale can be linked ({links[0].reason}); leave --link out.")
            continue
        every[name] = [
            link_part(responses, settings, k, blocks[k], part, link)
            for k, part, link in zip(locales, every[base], links, strict=True)
        ]
    return {v: every[v] for v in VARIANTS if v in every}, told


def warn_variants(cube: xr.Dataset, links: Sequence[Mapping[str, Any]]) -> list[str]:
    """Sentences on links that rest on little and cells at chance."""
    out: list[str] = []
    if "variant" not in cube.dims:
        return out
    shown = set(cube["variant"].values)
    links = [v for v in links if v["variant"] in shown and not v["reason"]]
    few = [v for v in links if v["models"] < FEW]
    if few:
        out.append(
            f"the link rests on {min(v['models'] for v in few)} models (fewer than {FEW}) in "
            f"{', '.join(dict.fromkeys(v['locale'] for v in few))}; take linked gaps as a rough check there."
        )
    wide = [v for v in links if v["upper"] > 2 * v["lower"]]
    if wide:
        worst = max(wide, key=lambda v: v["upper"] / max(v["lower"], 1e-300))
        out.append(
            f"the interval of the link's ratio spans more than a factor of 2 in {len(wide)} of {len(links)} "
            f"links (at worst {worst['locale']}, {worst['variant']}: {worst['lower']:.2g} to "
            f"{worst['upper']:.2g}); take linked gaps as a rough check there."
        )
    loose = [v for v in links if v["correlation"] is not None and v["correlation"] < LOOSE]
    if loose:
        least = min(loose, key=lambda v: v["correlation"])
        out.append(
            f"the models' pivot abilities on CA and CS hardly go together in {len(loose)} of {len(links)} "
            f"links (correlation {least['correlation']:.2f} in {least['locale']}, {least['variant']}): that "
            "they spread equally on both, which the link assumes, is in doubt."
        )
    if "floor" in shown:
        notes = cube["note"].sel(variant="floor", gap=["global_gap", "local_gap"]).values.ravel()
        lost = sum("at_chance" in str(n) for n in notes)
        if lost:
            gaps = "gap has" if lost == 1 else "gaps have"
            out.append(f"{lost} {gaps} no value under the guessing floor: a cell is not above chance.")
    return out


def _told(link: Link, trait: CommonTrait) -> dict[str, Any]:
    """A link's numbers for `fit.json`; those that do not exist are None."""
    names = ("ratio", "slope", "log_sd", "lower", "upper", "models", "correlation", "reason")
    values: dict[str, Any] = {n: getattr(link, n) for n in names}
    values |= {f"common_{n}": v for n, v in asdict(trait).items()}
    return {n: None if isinstance(v, float) and not np.isfinite(v) else v for n, v in values.items()}


def common_trait_of(
    responses: Responses, settings: Settings, locale: str, own: Mapping[int, Fitted]
) -> CommonTrait:
    """λ under one pivot-language ability per model, from a locale's blocks (by subset index)."""
    nothing = np.zeros(0)
    if len(own) < 2:
        return fit_common_trait(nothing, np.zeros((0, 0)), nothing, np.zeros((0, 0)))
    if settings.interval == "posterior":
        return replace(
            fit_common_trait(nothing, np.zeros((0, 0)), nothing, np.zeros((0, 0))),
            reason="a common trait is judged by maximum likelihood only",
        )
    (ca, rows_ca), (cs, rows_cs) = pivot_pair(responses, settings, locale, own)
    freedom = (np.inf, np.inf)
    if settings.interval != "information":  # then the covariances themselves are told from so many items
        freedom = (max(len(own[0].block.item) - 1.0, 1.0), max(len(own[1].block.item) - 1.0, 1.0))
    if settings.interval in ROWS_SHARED:
        again = max(min(len(rows_ca), len(rows_cs)) - 1.0, 1.0)
        freedom = (1 / (1 / freedom[0] + 1 / again), 1 / (1 / freedom[1] + 1 / again))
        rows_ca, rows_cs = _deviations(rows_ca), _deviations(rows_cs)
    return fit_common_trait(ca, rows_ca.T @ rows_ca, cs, rows_cs.T @ rows_cs, freedom=freedom)


def link_of(responses: Responses, settings: Settings, locale: str, own: Mapping[int, Fitted]) -> Link:
    """λ of a locale from its blocks (by subset index)."""
    if len(own) < 2:
        return find_link(np.zeros(0), np.zeros((0, 0)), np.zeros(0), np.zeros((0, 0)))
    (ca, rows_ca), (cs, rows_cs) = pivot_pair(responses, settings, locale, own)
    one, other = own[0].estimate.pivot, own[1].estimate.pivot
    if one is not None and other is not None:
        return link_from_draws(ca, cs, one[:, 0], other[:, 0], one[:, 1])
    if settings.interval in ROWS_SHARED:
        rows_ca, rows_cs = _deviations(rows_ca), _deviations(rows_cs)
    return find_link(ca, rows_ca, cs, rows_cs)


def link_part(
    responses: Responses, settings: Settings, locale: str, own: Mapping[int, Fitted], part: Part, link: Link
) -> Part:
    """Put a locale's local and knowledge gaps on the CA scale.

    Rows that are influences or directions take the link's share by the delta method, and one more row holds
    what is uncertain in λ alone; replicates and draws get a λ each.
    """
    estimate = part.cube.estimate
    old = part.uncertainty
    if link.reason:
        blank = np.full_like(estimate, np.nan)
        blank[:, 0] = estimate[:, 0]
        note = part.cube.note.copy()
        note[:, 1:] = np.where(note[:, 1:] == "", link.reason, note[:, 1:])
        values = np.where(np.array([True, False])[None, :, None], old.values, np.nan)
        return _finish(settings, part, blank, note, Uncertainty(old.kind, old.key, values))
    if old.kind in ROWS_SHARED:
        ratio = _ratios(responses, settings, locale, own, link)
        local = old.values[:, 1] / ratio[:, None]
        uncertainty = Uncertainty(old.kind, old.key, np.stack([old.values[:, 0], local], axis=1))
    else:
        scaled = np.nan_to_num(estimate[:, 1] / link.ratio)
        along = np.concatenate([{0: link.rows_ca, 1: link.rows_cs}[s] for s in own])
        local = old.values[:, 1] / link.ratio - along[:, None] * scaled
        alone = np.zeros((1, 2, len(scaled)))
        alone[0, 1] = -link.own_sd * scaled
        values = np.concatenate([np.stack([old.values[:, 0], local], axis=1), alone])
        # Locales share models and often English answers, so their luck goes together; taken as one, a mean
        # over locales is never too sure of itself. Directions of `information` stand alone in each locale.
        shared = "link" if old.kind == "robust" else f"{locale} link"
        key = np.append(old.key, np.array([shared], dtype=object))
        uncertainty = Uncertainty(old.kind, key, values)
    linked = estimate.copy()
    linked[:, 1] = np.nanmean(local, axis=0) if old.kind == "posterior" else estimate[:, 1] / link.ratio
    linked[np.isnan(estimate[:, 1]), 1] = np.nan
    linked[:, 2] = linked[:, 1] - linked[:, 0]
    return _finish(settings, part, linked, part.cube.note, uncertainty)


def pivot_pair(
    responses: Responses, settings: Settings, locale: str, own: Mapping[int, Fitted]
) -> list[tuple[Array, Array]]:
    """Pivot-language abilities and uncertainty rows on CA and on CS, of the models that a link can rest on.

    Those have both abilities, on items that chain them together: the levels of cells without a shared chain
    of items have zeros of their own, and their distance is no spread. Of several chains the one with most
    models is taken; the other models' abilities are NaN.
    """
    pair = [_pivot_abilities(responses, settings, locale, own[s]) for s in (0, 1)]
    parts = np.stack([part for _, _, part in pair])
    use = np.isfinite(pair[0][0]) & np.isfinite(pair[1][0])
    if use.any():
        chains, count = np.unique(parts[:, use], axis=1, return_counts=True)
        use &= (parts == chains[:, [int(np.argmax(count))]]).all(axis=0)
    return [(np.where(use, ability, np.nan), rows) for ability, rows, _ in pair]


def _pivot_abilities(
    responses: Responses, settings: Settings, locale: str, fitted: Fitted
) -> tuple[Array, Array, NDArray[np.intp]]:
    """Of all models: abilities (J,), NaN where none; their uncertainty rows (K, J); labels of parts (J,)."""
    index = cell_index(responses, fitted, locale, settings.pivot)[:, 1]
    ability = np.full(len(index), np.nan)
    rows = np.zeros((len(fitted.estimate.uncertainty), len(index)))
    have = np.flatnonzero(index >= 0)
    ability[have] = np.where(
        fitted.estimate.part[index[have]] >= 0, fitted.estimate.ability[index[have]], np.nan
    )
    rows[:, have] = fitted.estimate.uncertainty[:, index[have]]
    part = np.full(len(index), -1, dtype=np.intp)
    part[have] = fitted.estimate.part[index[have]]
    return ability, rows, part


def _finish(
    settings: Settings, part: Part, estimate: Array, note: NDArray[np.object_], uncertainty: Uncertainty
) -> Part:
    rows = np.moveaxis(uncertainty.gaps(), 1, 2)
    found = interval(uncertainty.kind, rows, estimate, settings.level)
    cube = replace(
        part.cube,
        estimate=estimate,
        sd=found.sd,
        lower=found.lower,
        upper=found.upper,
        p_positive=found.p_positive,
        note=note,
    )
    return Part(cube, uncertainty)


def _deviations(rows: Array) -> Array:
    """Replicates or draws as rows whose products sum to their covariance."""
    whole = rows[~np.isnan(rows).any(axis=1)]
    if len(whole) < 2:
        return np.zeros((1, rows.shape[1]))
    return np.asarray((whole - whole.mean(axis=0)) / np.sqrt(len(whole) - 1))


def _ratios(
    responses: Responses, settings: Settings, locale: str, own: Mapping[int, Fitted], link: Link
) -> Array:
    """λ of every replicate or draw, shape (K,).

    A posterior draw has its own scales. A replicate's abilities carry the noise twice, once from the data and
    once from resampling, and it gets the luck of having few models besides.
    """
    one, other = own[0].estimate.pivot, own[1].estimate.pivot
    if one is not None and other is not None:
        return np.asarray(other[:, 0] / one[:, 0])
    spreads = []
    for ability, rows in pivot_pair(responses, settings, locale, own):
        rows = rows[:, np.isfinite(ability)]
        noise = _deviations(rows)
        variance = np.var(rows, axis=1, ddof=1) - 2.0 * np.var(noise, axis=1, ddof=1).sum()
        spreads.append(np.where(variance > 0, variance, np.nan))
    luck = np.random.default_rng([settings.seed, 2**31 - 1]).standard_normal(len(spreads[0]))
    sample = np.sqrt(max(1.0 - link.correlation**2, 0.0) / (link.models - 1))
    return np.asarray(np.sqrt(spreads[1] / spreads[0]) * np.exp(sample * luck))
