"""From the bases and variants of a run to a `Fit`."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from importlib.metadata import version

import numpy as np

from maskedadv import __version__
from maskedadv.errors import NotEstimable
from maskedadv.gaps.bases import Based, Run
from maskedadv.gaps.departure import find_departures
from maskedadv.gaps.inflation import measure_inflation
from maskedadv.gaps.kinship import find_kinship
from maskedadv.gaps.variants import Variants
from maskedadv.result.block_table import block_rows, item_frame
from maskedadv.result.cube import AbilityPart, ability_part, build_cube
from maskedadv.result.fit_result import Fit
from maskedadv.result.info import Info
from maskedadv.warnings import Facts, find_warnings, joint_of_few


def collect(run: Run, bases: Mapping[str, Based], variants: Variants) -> Fit:
    """The cube, the uncertainty of every variant, and what is to be told of the run.

    Raises
    ------
    NotEstimable
        No gap is known.
    """
    design, settings = run.design, run.settings
    fitted = bases["plain"].fitted
    parts: dict[str, AbilityPart] = {k: ability_part(design, k, fitted) for k in design.locales}
    cube = build_cube(parts, variants.gaps, [str(m) for m in design.models], design.pivot)
    plain = cube.sel(variant="plain")
    if not np.isfinite(plain["estimate"].values).any():
        asked = (plain["n_items"].values > 0).any(axis=(2, 3))
        reasons = [n for n in plain["note"].values[asked].ravel() if n]
        why = reasons[0] if reasons else "no model has answers"
        raise NotEstimable(f"no gap can be estimated from these answers ({why}).")
    departures = find_departures(run, bases)
    relatives = find_kinship(design, settings.response)
    posteriors = {name: dict(base.posteriors) for name, base in bases.items() if base.posteriors}
    blocks = {name: base.fitted for name, base in bases.items() if base.fitted}
    few = joint_of_few(settings, fitted)
    inflation = measure_inflation(run, few) if few else None
    facts = Facts(
        design, settings, blocks, cube, variants.links, departures, relatives, posteriors, inflation
    )
    info = Info(
        maskedadv=__version__,
        engine=run.engine.version,
        versions={
            "python": platform.python_version(),
            **{name: version(name) for name in ("numpy", "scipy", "pandas", "xarray")},
        },
        fingerprint=design.fingerprint,
        rows=design.rows,
        answers=design.answers,
        locales=design.locales,
        dropped=design.dropped,
        blocks=tuple(row for name, base in bases.items() for row in block_rows(name, settings, base.fitted)),
        warnings=tuple(find_warnings(facts)),
        links=variants.links,
        departures=departures,
        relatives=relatives,
    )
    return Fit(settings, cube, item_frame(fitted), variants.uncertainty, info, posteriors)
