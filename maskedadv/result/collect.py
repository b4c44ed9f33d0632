"""From the estimates of all blocks to a `Fit`."""

from __future__ import annotations

import json
import platform
from dataclasses import asdict, replace
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskedadv import __version__
from maskedadv.design.accuracy_filter import Dropped, cell_accuracy
from maskedadv.design.blocks import language_code
from maskedadv.design.logits import clipped_note
from maskedadv.engines import Engine
from maskedadv.errors import NotEstimable
from maskedadv.gaps.assemble import assemble_locale
from maskedadv.gaps.variants import Part, all_variants, floor_notes, warn_variants
from maskedadv.maximum_likelihood.block_estimate import Fitted
from maskedadv.responses import Responses
from maskedadv.result.block_table import block_rows, item_frame, trouble_notes, warn
from maskedadv.result.cube import build_cube, plain_cube
from maskedadv.result.fit_result import Fit
from maskedadv.settings import Settings


def collect(
    responses: Responses,
    settings: Settings,
    engine: Engine,
    locales: list[str],
    fitted: list[Fitted],
    floored: list[Fitted],
    dropped: list[Dropped],
    rated: NDArray[np.float64],
    keep: NDArray[np.bool_],
) -> Fit:
    """The cube, its variants, their uncertainty, and what is to be told of the run.

    Parameters
    ----------
    fitted, floored : blocks without and with the guessing floor; the latter may be none
    rated : accuracies' answers, shape (N,)
    keep : models that count in each locale, shape (n_locales, J)

    Raises
    ------
    NotEstimable
        No gap is known.
    """
    parts = []
    for k, locale in enumerate(locales):
        part, spread = assemble_locale(responses, settings, locale, _own(fitted, locale), keep[k])
        if settings.response == "crm":  # the blocks' answers are logits
            accuracy, _ = cell_accuracy(responses, rated, locale, settings.pivot)
            part = replace(part, accuracy=np.where(part.n_items > 0, accuracy, np.nan))
        parts.append(Part(part, spread))
    every, links = all_variants(
        responses,
        settings,
        locales,
        parts,
        {k: _own(fitted, k) for k in locales},
        {k: _own(floored, k) for k in locales} if floored else None,
        keep,
    )
    models = [str(m) for m in responses.models]
    used = np.any([(p.cube.n_items > 0).any(axis=(1, 2)) for p in parts], axis=0)
    cube = build_cube({v: [p.cube for p in ps] for v, ps in every.items()}, locales, models, settings.pivot)
    cube = cube.isel(model=np.flatnonzero(used))
    uncertainty = {
        v: {
            k: replace(p.uncertainty, values=p.uncertainty.values[..., used])
            for k, p in zip(locales, ps, strict=True)
        }
        for v, ps in every.items()
    }
    plain = plain_cube(cube)
    if not np.isfinite(plain["estimate"].values).any():
        asked = (plain["n_items"].values > 0).any(axis=(2, 3))
        reasons = [n for n in plain["note"].values[asked].ravel() if n]
        why = reasons[0] if reasons else "no model has answers"
        raise NotEstimable(f"no gap can be estimated from these answers ({why}).")
    info: dict[str, Any] = {
        "maskedadv": __version__,
        "engine": engine.version,
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in ("numpy", "scipy", "pandas", "xarray")},
        },
        "fingerprint": responses.fingerprint,
        "rows": len(responses),
        "answers": _count_answers(responses, fitted, settings.pivot),
        "settings": json.loads(json.dumps(asdict(settings))),
        "locales": locales,
        "dropped": [asdict(d) for d in dropped],
        "blocks": block_rows(settings, fitted),
        "warnings": [
            *responses.notes,
            *clipped_note(responses, settings.response),
            *warn(settings, fitted, dropped, plain),
            *trouble_notes(fitted),
            *trouble_notes(floored, "floor"),
            *floor_notes(responses, settings),
            *warn_variants(cube, links),
        ],
        "links": links,
        "floor_blocks": block_rows(settings, floored),
    }
    others = {v: own for v, own in uncertainty.items() if v != "plain"}
    return Fit(
        settings, cube, item_frame(responses, fitted), uncertainty["plain"], info, variant_uncertainty=others
    )


def _count_answers(responses: Responses, fitted: list[Fitted], pivot: str) -> int:
    """Observed answers that any block holds; those in the pivot serve several locales and count once."""
    shared = np.zeros((len(responses.models), len(responses.items)), dtype=bool)
    own = 0
    for f in fitted:
        b = f.block
        seen, common = ~np.isnan(b.answers), b.language == language_code(responses, pivot)
        own += int(seen[~common].sum())
        shared[b.model[common, None], b.item] |= seen[common]
    return own + int(shared.sum())


def _own(fitted: list[Fitted], locale: str) -> dict[int, Fitted]:
    """The blocks that serve a locale, by subset index."""
    return {f.block.subset: f for f in fitted if locale in f.locales}
