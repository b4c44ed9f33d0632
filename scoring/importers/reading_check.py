"""Written answers as read here against the scores that the log gives them, and which of the two to take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from maskedadv.scoring.importers.answers import Note

_SMALLEST = 0.02  # share of answers that are worth advice


@dataclass
class ReadingCheck:
    """Counts of answers by metric: logged as right, and read as right.

    Attributes
    ----------
    pairs
        Metric -> (logged as right, read as right) -> answers. Answers that could not be read are not right.
    """

    pairs: dict[str, Counter[tuple[bool, bool]]] = field(default_factory=dict)

    def see(self, metrics: Mapping[str, Any], right: bool) -> None:
        """Take note of one written answer; metrics that are neither 0 nor 1 are left aside."""
        for name, value in metrics.items():
            if isinstance(value, bool | int | float) and value in (0, 1):
                self.pairs.setdefault(str(name), Counter())[bool(value), right] += 1

    def notes(self, how: str) -> list[Note]:
        """A note where log and reading differ, on the metric by which most answers are right.

        Parameters
        ----------
        how
            How the logged score is taken instead, with {metric} for its name.
        """
        if not self.pairs:
            return []
        metric = max(self.pairs, key=lambda name: sum(n for (good, _), n in self.pairs[name].items() if good))
        pairs = self.pairs[metric]
        total, log_only, read_only = pairs.total(), pairs[True, False], pairs[False, True]
        if log_only + read_only == 0:
            return []
        logged, read = (log_only + pairs[True, True]) / total, (read_only + pairs[True, True]) / total
        text = f"the log reports {metric} {logged:.4g}, the answers read here give {read:.4g}"
        if log_only + read_only >= _SMALLEST * total:
            text += f"; {_advice(log_only, read_only)}".replace("{how}", how.format(metric=metric))
        return [Note(text, f"compare {metric}", metric, logged, read)]


def _advice(log_only: int, read_only: int) -> str:
    """Which of the two to take: the one whose right answers the other misses."""
    if log_only > 3 * read_only:
        return f"{log_only} answers are right in the log only, so take its score: {{how}}"
    if read_only > 3 * log_only:
        return f"{read_only} answers are right by the reading only, which sees more: stay with the reading"
    return (
        f"{log_only} answers are right in the log only and {read_only} by the reading only: look at some "
        "before choosing ({how})"
    )
