"""Cells, items and models that are not known, lean on something else, or were left out."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from maskedadv.warnings.kinds import Facts, kind
from maskedadv.words.lists import and_more


@kind("unknown gaps")
def _unknown_gaps(f: Facts) -> str | None:
    plain = f.cube.sel(variant="plain")
    # A model that was left out of a locale, or not asked there, has no row whose note could say so.
    present = np.asarray((plain["n_items"].values[..., 0] > 0).any(axis=-1))
    unknown = np.isnan(plain["estimate"].values[..., :2]) & present[..., None]
    noted = int((unknown & (plain["note"].values[..., :2] != "")).sum())
    return f"{noted} global or local gaps are not known; the note column says why." if noted else None


@kind("joint instead of marginal")
def _joint_instead(f: Facts) -> str | None:
    if f.settings.method != "nuts" or f.settings.estimator != "marginal":
        return None
    instead = list(dict.fromkeys(b.locale for b in f.plain if b.estimator == "joint"))
    if not instead:
        return None
    return (
        f"items have too many patterns of missing answers for marginal in {and_more(instead)}: joint "
        "was used there, which has the same posterior."
    )


@kind("extreme cells")
def _extreme_cells(f: Facts) -> str | None:
    if f.settings.method != "nuts" or f.settings.response != "binary":
        return None
    extreme = sum(b.extreme for b in f.plain)
    if not extreme:
        return None
    return (
        f"{extreme} cells are all right or all wrong: only the priors keep their abilities finite, "
        "and their gaps lean on them."
    )


@kind("uninformative items")
def _uninformative_items(f: Facts) -> str | None:
    if f.settings.method != "optimize" or f.settings.response == "crm":
        return None
    joint = [b for b in f.plain if b.estimator == "joint"]
    silent = sum(b.uninformative for b in joint)
    if not silent:
        return None
    total = sum(b.items for b in joint)
    return (
        f"{silent} of {total} items (summed over blocks) were answered alike by every cell; they carry "
        "no information on joint gaps and were set aside."
    )


@kind("dropped models")
def _dropped_models(f: Facts) -> str | None:
    dropped = f.design.dropped
    if not dropped:
        return None
    return (
        f"{len(dropped)} times a model was left out for accuracy at or under {f.settings.min_accuracy:g}: "
        f"{and_more([str(d) for d in dropped])}."
    )


@kind("optimiser failed")
def _optimiser_failed(f: Facts) -> Iterable[str]:
    for base, blocks in f.blocks.items():
        for b in blocks:
            if not b.trouble:
                continue
            place = b.name + ("" if base == "plain" else f" ({base})")
            done = (
                "Newton's method from moment estimates gave the estimate"
                if b.estimated
                else "nothing is estimated there"
            )
            yield f"Stan's optimiser failed in {place}, {done}: {b.trouble}"
