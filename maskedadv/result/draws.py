"""A locale's posterior as ArviZ groups: an `xarray.DataTree` that ArviZ 0.2x and 1.x open alike."""

from __future__ import annotations

import gc
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from maskedadv.errors import BadSetting, NotAResult
from maskedadv.files.atomic import write_whole
from maskedadv.files.damage import DAMAGE, in_words
from maskedadv.files.digests import check_file
from maskedadv.gaps.contrasts import Uncertainty
from maskedadv.vocabulary import CELLS, GAPS, QUERIES, SUBSETS

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Draws:
    """What sampling a locale gave; leading axes are (chains, draws).

    Attributes
    ----------
    ability : (…, J, 2 subsets, 2 queries), logit, against the mean difficulty of the items asked (with a
        guessing floor: of the population of items)
    difficulty : (…, I) of CA items, then CS items; None with a guessing floor
    facet_mean, facet_spread : (…, 2 subsets, 2 queries)
    correlation : (…, 4, 4)
    sigma_b : (…, 2)
    noise : (…, 2) for continuous responses, else None
    stats : sampler statistics by ArviZ's names, shape (chains, draws)
    cell_rep, item_rep : replicated totals (chains, R, J, 2, 2) and (chains, R, I) for every `thin`-th draw
    contrast, mean_contrast : the program's own gaps (…, J, gaps) and their means over models (…, gaps), NaN
        where not known
    likeness : mean and largest residual correlation of pairs of models, observed (2,) and replicated
        (chains, R, 2), NaN for draws without; None where they cannot be had
    """

    ability: Array
    difficulty: Array | None
    facet_mean: Array
    facet_spread: Array
    correlation: Array
    sigma_b: Array
    noise: Array | None
    stats: Mapping[str, NDArray[Any]]
    cell_rep: Array
    item_rep: Array
    thin: int
    contrast: Array
    mean_contrast: Array
    likeness: tuple[Array, Array] | None = None


def build_tree(
    draws: Draws,
    *,
    models: NDArray[np.object_],
    items: tuple[NDArray[np.object_], NDArray[np.object_]],
    answers: tuple[Array, Array],
    attrs: Mapping[str, Any],
    log_likelihood: Array | None = None,
) -> xr.DataTree:
    """Arrange draws as ArviZ groups with named coordinates.

    Parameters
    ----------
    answers : of each subset, shape (2J, I_s), NaN where not observed
    attrs : settings and priors as text or numbers, written to the root and to `posterior`
    log_likelihood : shape (chains, draws, I), of every item's answers; items without any are left out
    """
    seen = [~np.isnan(a) for a in answers]
    chains, n = draws.ability.shape[:2]
    coords: dict[str, Any] = {
        "chain": np.arange(chains),
        "draw": np.arange(n),
        "model": models,
        "subset": np.array(SUBSETS, dtype=object),
        "query": np.array(QUERIES, dtype=object),
        "gap": np.array(GAPS, dtype=object),
        "item": np.concatenate(items),
        "item_subset": ("item", np.repeat(np.array(SUBSETS, dtype=object), [len(i) for i in items])),
        "facet": np.array(CELLS, dtype=object),
        "other_facet": np.array(CELLS, dtype=object),
    }
    at = ("chain", "draw")
    posterior: dict[str, Any] = {
        "contrast": ((*at, "model", "gap"), draws.contrast),
        "mean_contrast": ((*at, "gap"), draws.mean_contrast),
        "ability": ((*at, "model", "subset", "query"), draws.ability),
        "facet_mean": ((*at, "subset", "query"), draws.facet_mean),
        "facet_spread": ((*at, "subset", "query"), draws.facet_spread),
        "correlation": ((*at, "facet", "other_facet"), draws.correlation),
        "sigma_b": ((*at, "subset"), draws.sigma_b),
    }
    if draws.difficulty is not None:
        posterior["difficulty"] = ((*at, "item"), draws.difficulty.astype(np.float32))
    if draws.noise is not None:
        posterior["noise"] = ((*at, "subset"), draws.noise)
    text = {
        "contrast": "gap of a model",
        "mean_contrast": "mean gap over models",
        "ability": "ability, relative to the difficulties of its subset",
        "facet_mean": "mean ability over models",
        "facet_spread": "standard deviation of abilities over models",
        "correlation": "correlation between a model's abilities",
        "sigma_b": "standard deviation of difficulties",
        "difficulty": "difficulty of an item",
        "noise": "standard deviation of a response",
    }
    groups = {
        "posterior": _dataset(posterior, coords, attrs),
        "sample_stats": _dataset({k: (at, v) for k, v in draws.stats.items()}, coords),
        "posterior_predictive": _dataset(
            {
                "cell_total": ((*at, "model", "subset", "query"), draws.cell_rep),
                "item_total": ((*at, "item"), draws.item_rep),
            },
            coords | {"draw": np.arange(n)[:: draws.thin]},
        ),
        "observed_data": _dataset(
            {
                "cell_total": (
                    ("model", "subset", "query"),
                    _facets([np.nansum(a, axis=1) for a in answers]),
                ),
                "item_total": (("item",), np.concatenate([np.nansum(a, axis=0) for a in answers])),
            },
            coords,
        ),
        "constant_data": _dataset(
            {
                "cell_answers": (("model", "subset", "query"), _facets([s.sum(axis=1) for s in seen])),
                "item_answers": (("item",), np.concatenate([s.sum(axis=0) for s in seen])),
            },
            coords,
        ),
    }
    if draws.likeness is not None:
        axis = {"statistic": np.array(["mean", "largest"], dtype=object)}
        for group, dims, values in zip(
            ("observed_data", "posterior_predictive"),
            (("statistic",), (*at, "statistic")),
            draws.likeness,
            strict=True,
        ):
            groups[group] = groups[group].assign_coords(axis).assign(likeness=(dims, values))
    if log_likelihood is not None:
        answered = np.concatenate([s.any(axis=0) for s in seen])
        own = _dataset({"answers": ((*at, "item"), log_likelihood)}, coords).isel(item=answered)
        own["answers"].attrs = {
            "long_name": "log likelihood of an item's answers, its difficulty integrated out"
        }
        groups["log_likelihood"] = own
    for name, variable in groups["posterior"].data_vars.items():
        unit = "1" if name == "correlation" else "logit"
        variable.attrs = {"long_name": text[str(name)], "units": unit}
    root = xr.Dataset(attrs=dict(attrs))
    return xr.DataTree.from_dict({"/": root, **{f"/{k}": v for k, v in groups.items()}})


def _dataset(
    variables: Mapping[str, Any], coords: Mapping[str, Any], attrs: Mapping[str, Any] | None = None
) -> xr.Dataset:
    """Only the coordinates that the variables have."""
    used = {d for dims, _ in variables.values() for d in dims}
    own = {k: v for k, v in coords.items() if k in used or (k == "item_subset" and "item" in used)}
    return xr.Dataset(variables, coords=own, attrs=dict(attrs or {}))


def _facets(by_subset: list[Array]) -> Array:
    """Values of cells, local of every model then pivot, to shape (J, 2 subsets, 2 queries)."""
    return np.stack([v.reshape(2, -1).T for v in by_subset], axis=1).astype(np.float64)


_PLAIN = re.compile(r"[A-Za-z0-9]+(-[A-Za-z0-9]+)*")
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)", re.IGNORECASE)


def file_names(locales: list[str]) -> dict[str, str]:
    """File of every locale: its code where that is a safe name on every system, else its number."""
    taken: set[str] = set()
    out = {}
    for k, locale in enumerate(locales):
        safe = _PLAIN.fullmatch(locale) and len(locale) <= 40 and not _RESERVED.fullmatch(locale)
        safe = safe and not locale.endswith(
            "-floor"
        )  # the ending of names that belong to the other posterior
        name = f"{locale}.nc" if safe and locale.casefold() not in taken else f"locale_{k}.nc"
        taken.add(locale.casefold())
        out[locale] = name
    return out


def write_tree(tree: xr.DataTree, path: Path) -> str:
    """Write a posterior file, whole or not at all; gives its SHA-256.

    Raises
    ------
    OutputExists
        The disk is full or refuses.
    """
    content = as_netcdf(tree)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, lambda partial: partial.write_bytes(content))
    return hashlib.sha256(content).hexdigest()


def as_netcdf(data: xr.DataTree | xr.Dataset) -> bytes:
    """The bytes of a netCDF file: made in memory, as HDF5 ends the process where a disk fills under it."""
    content = data.to_netcdf(None, engine="h5netcdf")
    assert isinstance(content, memoryview | bytes)
    # A copy: a view of the buffer, kept in the trace of an error, ends Python by a fault when it leaves.
    return bytes(content)


_LARGE = 10_000_000
"""Bytes of a posterior's file that are worth a look for others that nobody holds any more."""


def read_tree(path: Path, digest: str | None = None) -> xr.DataTree:
    """Read a posterior file into memory.

    Parameters
    ----------
    digest : the SHA-256 of what was written, if it is known; HDF5 may read other bytes without a word

    Raises
    ------
    NotAResult
    """
    try:
        check_file(path, digest)
        if path.stat().st_size > _LARGE:
            gc.collect()  # a tree's branches hold their root: those that were read before would stay
        with xr.open_datatree(path, engine="h5netcdf") as tree:
            return tree.load()
    except DAMAGE as error:
        raise NotAResult(_damaged(path, error)) from error


def _damaged(path: Path, error: Exception) -> str:
    return f"{path} is damaged ({in_words(error)}); fit again."


@dataclass(frozen=True)
class Posterior:
    """A locale's posterior, in memory or in a file, with the SHA-256 of what was written there."""

    source: xr.DataTree | Path
    digest: str | None = None

    def tree(self) -> xr.DataTree:
        """The ArviZ groups."""
        return read_tree(self.source, self.digest) if isinstance(self.source, Path) else self.source

    def variable(self, name: str) -> xr.DataArray:
        """One variable of the group `posterior`; of a file, nothing else is read."""
        if not isinstance(self.source, Path):
            return self.source["posterior"].to_dataset()[name]
        try:
            check_file(self.source, self.digest)
            with xr.open_datatree(self.source, engine="h5netcdf") as tree:
                return tree["posterior"].to_dataset()[name].load()
        except DAMAGE as error:
            raise NotAResult(_damaged(self.source, error)) from error


def stack_draws(
    posteriors: Mapping[str, Posterior],
    name: str,
    cube: xr.Dataset,
    transformed: Mapping[str, Uncertainty] | None = None,
) -> xr.DataArray:
    """Draws of a gap or of the abilities of all locales, on one model axis; see `Fit.draws`.

    Parameters
    ----------
    cube : the result's cube under one variant; gaps without an estimate there have no draws
    transformed : the joint uncertainty of a transformed variant, whose rows are the draws of its gaps
    """
    if name not in (*GAPS, "ability"):
        raise BadSetting(f"draws of {name!r} are not kept together; choose from {', '.join(GAPS)}, ability.")
    parts = []
    for locale, posterior in posteriors.items():
        own = posterior.variable("ability" if name == "ability" else "contrast")
        own = own.reindex(model=cube["model"].values)
        if name != "ability":
            if transformed is not None:
                own = own.transpose("chain", "draw", "gap", "model")
                own = own.copy(data=transformed[locale].gaps().reshape(own.shape))
            known = cube["estimate"].sel(locale=locale, gap=name, drop=True).notnull()
            own = own.sel(gap=name, drop=True).where(known).transpose("chain", "draw", "model")
        parts.append(own)
    axis = xr.DataArray(np.array(list(posteriors), dtype=object), dims="locale", name="locale")
    stacked = xr.concat(parts, dim=axis).rename(name)
    stacked.attrs = {"long_name": name, "units": "logit"}
    return stacked
