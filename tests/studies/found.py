"""What the tests of assumptions find on the bundled outcomes.

Run as `python -m tests.studies.found`, a minute: the numbers of docs/explanation/fit.md, of the last part of
assumption-1.md, and of the bundled outcomes in artefacts.md.
"""

from __future__ import annotations

import pandas as pd

import maskedadv

SETS = {
    "Global-MMLU-Lite": (maskedadv.datasets.global_mmlu_lite, None),
    "TruthfulQA": (maskedadv.datasets.truthfulqa_multi, 0.0),
}
"""Answers, and the accuracy filter where it is not the usual one."""


def show(title: str, frame: pd.DataFrame) -> None:
    print(f"\n## {title}\n\n{frame.round(3).to_string(index=False)}")


def variants() -> pd.DataFrame:
    """Mean knowledge gap of every locale, plain and with the floor."""
    fit = maskedadv.fit(maskedadv.datasets.global_mmlu_lite(), estimator="marginal")
    means = [fit.means(gap="knowledge_gap", variant=name).assign(variant=name) for name in ("plain", "floor")]
    return pd.concat(means)[["variant", "locale", "estimate", "sd"]]


def main() -> None:
    """Print all of it."""
    show("Mean knowledge gaps of Global-MMLU-Lite", variants())
    for name, (answers, least) in SETS.items():
        more = {} if least is None else {"min_accuracy": least}
        fits = maskedadv.fit_check(answers(), **more)
        show(f"{name}: reliabilities and flags", fits.blocks)
        show(f"{name}: Andersen's tests", fits.andersen)
        show(f"{name}: dimensions", fits.dimensions)
        for against in ("pivot", "all"):
            found = maskedadv.dif(answers(), against=against, **more)
            show(f"{name}: differences between languages, against {against}", found.subsets)


if __name__ == "__main__":
    main()
