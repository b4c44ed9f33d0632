"""What is kept of some locales once they are fitted: everything that a result needs, and no answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from maskedadv.design.missing import UnevenCell, uneven_cells
from maskedadv.design.prepare import Design
from maskedadv.gaps.bases import Run, make_bases
from maskedadv.gaps.departure import Departures, find_departures
from maskedadv.gaps.inflation import joint_and_marginal
from maskedadv.gaps.kinship import Likeness, add_likeness
from maskedadv.gaps.variants import Variants, variants_of
from maskedadv.maximum_likelihood.block_facts import BlockFacts, facts_of, joint_of_few
from maskedadv.maximum_likelihood.side_by_side import begin
from maskedadv.result.block_table import item_frame
from maskedadv.result.cube import AbilityPart, ability_part
from maskedadv.result.draws import Posterior


@dataclass(frozen=True)
class Part:
    """The result of some locales.

    Attributes
    ----------
    design : without its answers
    cells : of every locale
    variants : the gaps of every variant that may be had, whether or not it can
    blocks : of every base that has such, `plain` first
    items : difficulties
    posteriors : by base and locale
    departures : tests of plain against paired
    inflation : joint and marginal gaps of blocks of few cells, shape (2, N)
    uneven : cells whose answers are missing unevenly
    """

    design: Design
    cells: Mapping[str, AbilityPart]
    variants: Variants
    blocks: Mapping[str, tuple[BlockFacts, ...]]
    items: pd.DataFrame
    posteriors: Mapping[str, Mapping[str, Posterior]]
    departures: Departures
    inflation: NDArray[np.float64]
    uneven: tuple[UnevenCell, ...]


def fit_part(run: Run, likeness: Likeness) -> tuple[Part, Likeness]:
    """Fit some locales: bases, variants, and what is to be told of them; the likeness with theirs added."""
    design, settings = run.design, run.settings
    # Stan leaves a processor free meanwhile; NUTS takes them all.
    alike = begin(lambda: add_likeness(likeness, design) if settings.response == "binary" else likeness)
    bases = make_bases(run)
    plain = bases["plain"].fitted
    blocks = {
        name: tuple(facts_of(f, settings) for f in base.fitted) for name, base in bases.items() if base.fitted
    }
    few = [f for f, facts in zip(plain, blocks["plain"], strict=True) if joint_of_few(settings, facts)]
    part = Part(
        design=replace(design, blocks=()),
        cells={k: ability_part(design, k, plain) for k in design.locales},
        variants=variants_of(run, bases),
        blocks=blocks,
        items=item_frame(plain),
        posteriors={name: dict(base.posteriors) for name, base in bases.items() if base.posteriors},
        departures=find_departures(run, bases),
        inflation=joint_and_marginal(run, few) if few else np.zeros((2, 0)),
        uneven=tuple(uneven_cells(design)),
    )
    return part, alike()
