"""The checked response table as integer codes and arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from maskedadv.responses.clipping import count_clipped
from maskedadv.vocabulary import SUBSETS


@dataclass(frozen=True)
class Responses:
    """A response table that passed every check.

    Rows are sorted by language, model and item, and ids are sorted text, so that the order
    of rows in the file changes nothing in any result.

    Attributes
    ----------
    models, languages, items
        Distinct ids, sorted; arrays of text of shapes (J,), (K,) and (I,).
    item_subset
        Index into `SUBSETS` of every item, shape (I,).
    model, language, item
        Codes into the ids, one per row, shape (N,).
    correct, p_correct, crm_logit, n_options
        Values, shape (N,), NaN where not observed; None where the table has no such column.
        `correct` is 0 or 1; `p_correct` a probability; `crm_logit` a logit.
    extra
        Further columns as they came, in the order of the rows here, or None.
    fingerprint
        SHA-256 of ids and values; equal for tables that differ in row order only.
    notes
        Things worth a look that are no reason to refuse.
    uneven
        A warning where answers are missing more often in one language than in another.
    """

    models: NDArray[np.object_]
    languages: NDArray[np.object_]
    items: NDArray[np.object_]
    item_subset: NDArray[np.int8]
    model: NDArray[np.int32]
    language: NDArray[np.int32]
    item: NDArray[np.int32]
    correct: NDArray[np.float64] | None
    p_correct: NDArray[np.float64] | None
    crm_logit: NDArray[np.float64] | None
    n_options: NDArray[np.float64] | None
    extra: pd.DataFrame | None
    fingerprint: str
    notes: tuple[str, ...] = ()
    uneven: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.model)

    @property
    def columns(self) -> frozenset[str]:
        """Columns of values that hold any."""
        names = ("correct", "p_correct", "crm_logit", "n_options")
        return frozenset(name for name in names if getattr(self, name) is not None)

    @property
    def clipped(self) -> int:
        """Probabilities so near to 0 or 1 that their logits would be held back."""
        return 0 if self.p_correct is None else count_clipped(self.p_correct, self.crm_logit)

    def count(self, response: str) -> int:
        """Observed answers of a response type."""
        seen = {"binary": [self.correct], "soft": [self.p_correct], "crm": [self.p_correct, self.crm_logit]}
        found = [~np.isnan(v) for v in seen[response] if v is not None]
        return int(np.logical_or.reduce(found).sum()) if found else 0

    def of_locales(self, locales: Sequence[str], pivot: str) -> Responses:  # noqa: ARG002
        """At least the rows that some locales' gaps rest on: here, all."""
        return self

    def options_given(self) -> tuple[NDArray[np.int32], NDArray[np.float64]] | None:
        """Items and their numbers of options, as rows give them; None without such a column."""
        if self.n_options is None:
            return None
        known = ~np.isnan(self.n_options)
        return self.item[known], self.n_options[known]

    def to_frame(self) -> pd.DataFrame:
        """The tidy table again, one row per answer, extra columns last."""
        columns = {
            "model": self.models[self.model],
            "subset": np.array(SUBSETS, dtype=object)[self.item_subset[self.item]],
            "language": self.languages[self.language],
            "item": self.items[self.item],
        }
        frame = pd.DataFrame(columns)
        for name in ("correct", "p_correct", "crm_logit", "n_options"):
            values = getattr(self, name)
            if values is not None:
                frame[name] = values
        if self.extra is not None:
            frame = pd.concat([frame, self.extra.reset_index(drop=True)], axis=1)
        return frame
