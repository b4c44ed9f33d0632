"""Which differences between cells the answers determine, and which are infinite or unknown.

Draw an arrow from a cell to an item it got right and from an item to a cell it defeated. A Rasch (as a
Bradley-Terry) maximum-likelihood estimate exists and is finite exactly inside the strongly connected parts
of this graph (Fischer 1981, doi:10.1007/BF02293919; Ford 1957): between two parts joined by arrows
in one direction only the difference is infinite, and between parts that are not joined it is unknown.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from maskedadv.design.collapse import Groups, collapse


@dataclass(frozen=True)
class Components:
    """Connectivity of a block's cells and items.

    Attributes
    ----------
    cell_weak, item_weak
        Connected block of each cell (C,) and item (I,): levels are comparable only inside one.
    cell_strong, item_strong
        Part inside which maximum-likelihood differences are finite.
    groups
        The collapsed block that they were found on.
    """

    cell_weak: NDArray[np.intp]
    item_weak: NDArray[np.intp]
    cell_strong: NDArray[np.intp]
    item_strong: NDArray[np.intp]
    groups: Groups

    def finite_parts(self) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Cells and items of every part that holds at least one of each, largest part first."""
        parts = []
        for label in np.intersect1d(self.cell_strong, self.item_strong):
            parts.append(
                (np.flatnonzero(self.cell_strong == label), np.flatnonzero(self.item_strong == label))
            )
        return sorted(parts, key=lambda p: (-len(p[0]), -len(p[1]), p[0][0]))


def find_components(answers: NDArray[np.float64]) -> Components:
    """Components of a block, shape (C, I), found on its collapsed groups.

    Groups may stand for their members: cells (or items) that can be exchanged without changing the
    likelihood lie in the same part, unless they are single-member parts of the same kind.
    """
    groups = collapse(answers)
    graph = _graph(groups)
    weak = _labels(groups, graph, "weak")
    strong = _labels(groups, graph, "strong")
    return Components(
        cell_weak=weak[0][groups.cell_group],
        item_weak=weak[1][groups.item_group],
        cell_strong=strong[0][groups.cell_group],
        item_strong=strong[1][groups.item_group],
        groups=groups,
    )


def _graph(groups: Groups) -> csr_array:
    """Arrows from cell groups to item groups that they got right, and back from those that defeated them."""
    n_cells, n_items = groups.trials.shape
    won = np.argwhere(groups.successes > 0)
    lost = np.argwhere(groups.trials - groups.successes > 0)
    start = np.concatenate([won[:, 0], lost[:, 1] + n_cells])
    end = np.concatenate([won[:, 1] + n_cells, lost[:, 0]])
    nodes = n_cells + n_items
    return csr_array(coo_array((np.ones(len(start)), (start, end)), shape=(nodes, nodes)))


def _labels(
    groups: Groups, graph: csr_array, connection: Literal["weak", "strong"]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    labels = connected_components(graph, directed=True, connection=connection)[1]
    n_cells = len(groups.trials)
    return labels[:n_cells].astype(np.intp), labels[n_cells:].astype(np.intp)
