"""A design with some items of some locales left out; models stay as they were chosen on all items."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np

from maskedadv.design.blocks import Block
from maskedadv.design.cells import count_cells
from maskedadv.design.prepare import Design


def without_items(design: Design, left_out: Mapping[str, Collection[str]]) -> Design:
    """The design without items, by locale; blocks must each serve one locale.

    Cells that keep no answer go; a block that keeps no item does.
    """
    blocks = []
    for block in design.blocks:
        gone = np.isin(block.item, np.array(sorted(left_out.get(block.locale, ())), dtype=object))
        shortened = _shortened(block, ~gone) if gone.any() else block
        if shortened is not None:
            blocks.append(shortened)
    cells = {
        k: count_cells([b for b in blocks if k in b.locales], design.models, k, design.cells[k].keep)
        for k in design.locales
    }
    return replace(design, blocks=tuple(blocks), cells=cells)


def _shortened(block: Block, keep: np.ndarray) -> Block | None:
    answers = block.answers[:, keep]
    cell = (~np.isnan(answers)).any(axis=1)
    if not cell.any():
        return None
    return replace(
        block,
        model=block.model[cell],
        language=block.language[cell],
        item=block.item[keep],
        place=block.place[keep],
        answers=answers[cell],
        chance=None if block.chance is None else block.chance[keep],
    )
