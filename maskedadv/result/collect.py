"""From the parts of a run to a `Fit`."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from maskedadv import __version__
from maskedadv.design.cells import of_models
from maskedadv.design.missing import in_order
from maskedadv.design.prepare import join_designs
from maskedadv.errors import NotEstimable
from maskedadv.gaps.departure import join_departures
from maskedadv.gaps.inflation import measure_inflation
from maskedadv.gaps.kinship import Likeness, find_kinship
from maskedadv.gaps.variants import join_variants
from maskedadv.result.block_table import block_rows
from maskedadv.result.cube import build_cube
from maskedadv.result.fit_result import Fit
from maskedadv.result.info import Info
from maskedadv.result.part import Part
from maskedadv.settings import Settings
from maskedadv.warnings import Facts, find_warnings


def collect(
    parts: Sequence[Part], likeness: Likeness, settings: Settings, engine: str, *, otherwise: bool = False
) -> Fit:
    """The cube, the uncertainty of every variant, and what is to be told of the run.

    Parameters
    ----------
    parts : of all locales, in order
    engine : version of the Stan engine
    otherwise : whether there is to be a fit with missing answers treated the other way

    Raises
    ------
    NotEstimable
        No gap is known.
    """
    design, used = join_designs([part.design for part in parts])
    parts = [_of_models(part, used) for part in parts]
    variants = join_variants([part.variants for part in parts], settings)
    cells = {k: v for part in parts for k, v in part.cells.items()}
    cube = build_cube(cells, variants.gaps, [str(m) for m in design.models], design.pivot)
    _require_some_gap(cube)
    departures = join_departures(
        [part.departures for part in parts], [int(design.cells[k].keep.sum()) for k in design.locales]
    )
    bases = parts[0].blocks
    blocks = {name: [b for part in parts for b in part.blocks[name]] for name in bases}
    posteriors = {
        name: {k: v for part in parts for k, v in part.posteriors[name].items()}
        for name in parts[0].posteriors
    }
    inflation = [part.inflation for part in parts if part.inflation.size]
    facts = Facts(
        design=design,
        settings=settings,
        blocks=blocks,
        cube=cube,
        links=variants.links,
        departures=departures,
        relatives=find_kinship(likeness, parts[0].design.models, used),
        posteriors=posteriors,
        inflation=measure_inflation(inflation) if inflation else None,
        uneven=in_order(cell for part in parts for cell in part.uneven),
        otherwise=otherwise,
    )
    info = Info(
        maskedadv=__version__,
        engine=engine,
        versions={
            "python": platform.python_version(),
            **{name: version(name) for name in ("numpy", "scipy", "pandas", "xarray")},
        },
        fingerprint=design.fingerprint,
        rows=design.rows,
        answers=design.answers,
        locales=design.locales,
        dropped=design.dropped,
        blocks=tuple(row for name, own in blocks.items() for row in block_rows(name, settings, own)),
        warnings=tuple(find_warnings(facts)),
        links=variants.links,
        departures=departures,
        relatives=facts.relatives,
    )
    items = pd.concat([part.items for part in parts], ignore_index=True)
    return Fit(settings, cube, items, variants.uncertainty, info, posteriors)


def _of_models(part: Part, used: NDArray[np.bool_]) -> Part:
    """A part for some of its models, but for its design."""
    own = part.variants
    return replace(
        part,
        cells={k: of_models(cells, used) for k, cells in part.cells.items()},
        variants=replace(
            own,
            gaps={v: {k: of_models(g, used) for k, g in gaps.items()} for v, gaps in own.gaps.items()},
            uncertainty={
                v: {k: u.of_models(used) for k, u in spread.items()} for v, spread in own.uncertainty.items()
            },
        ),
    )


def _require_some_gap(cube: xr.Dataset) -> None:
    plain = cube.sel(variant="plain")
    if np.isfinite(plain["estimate"].values).any():
        return
    asked = (plain["n_items"].values > 0).any(axis=(2, 3))
    reasons = [n for n in plain["note"].values[asked].ravel() if n]
    why = reasons[0] if reasons else "no model has answers"
    raise NotEstimable(f"no gap can be estimated from these answers ({why}).")
