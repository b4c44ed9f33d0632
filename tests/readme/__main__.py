"""Make every number and the figure of README.md anew and show what differs: `make readme`.

Exit code 1 where something does. `--write` puts the new numbers and the new figure in place.
"""

from __future__ import annotations

import difflib
import sys

import maskedadv
from maskedadv.result.fit_result import Fit
from tests.readme.figure import FIGURE, draw, figures_told, numbers_of
from tests.readme.numbers import README, made_anew


def fitted() -> Fit:
    """What `maskedadv demo` fits."""
    return maskedadv.fit(maskedadv.datasets.global_mmlu_lite(), estimator="marginal")


def main(*, write: bool) -> int:
    """Print the differences; how many there are is told by the exit code."""
    fit = fitted()
    old = README.read_text("utf-8")
    new = made_anew(old, fit)
    difference = list(
        difflib.unified_diff(
            old.splitlines(keepends=True), new.splitlines(keepends=True), "README.md", "made anew"
        )
    )
    drawn = numbers_of(fit)
    if drawn != figures_told(FIGURE):
        difference += [f"{FIGURE.name}: drawn {figures_told(FIGURE)}\n", f"{FIGURE.name}: would be {drawn}\n"]
    print("".join(difference) or "README.md: every number and the figure are as made anew.")
    if write and difference:
        README.write_text(new, "utf-8")
        draw(fit, FIGURE)
    return 1 if difference and not write else 0


if __name__ == "__main__":
    sys.exit(main(write="--write" in sys.argv[1:]))
