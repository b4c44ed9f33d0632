"""What priors do to the gaps of the bundled outcomes: the numbers of docs/explanation/priors.md.

Run as `python -m tests.studies.pull_of_priors`; some minutes. Draws differ between processors.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

import maskedadv

WEAK = {"spread": 10, "spread_log_sd": 0.05, "correlation": 1000, "gap": 100, "level": 100}
"""Priors that pull no gap to another."""


BY_ERM = Path(__file__).parents[1] / "data" / "r_contrasts.csv"
"""Differences between the local language and English by conditional maximum likelihood in R (eRm)."""


def gaps(**settings: object) -> pd.DataFrame:
    """Global and local gaps of every model in every locale."""
    answers = maskedadv.datasets.global_mmlu_lite()
    fit = maskedadv.fit(answers, variants="none", **settings)  # type: ignore[arg-type]
    table = fit.gaps()
    table = table[table["gap"].isin(["global_gap", "local_gap"])]
    return table.set_index(["locale", "model", "gap"])[["estimate", "sd", "lower", "upper"]]


def inside(drawn: pd.DataFrame) -> str:
    """How many of R's differences lie inside the 95% intervals."""
    ours = pd.read_csv(BY_ERM)
    ours["gap"] = ours["subset"].map({"CA": "global_gap", "CS": "local_gap"})
    both = ours.set_index(["locale", "model", "gap"]).join(drawn, how="inner")
    return f"{int(both['cml'].between(both['lower'], both['upper']).sum())} of {len(both)}"


def main() -> None:
    """Print sds, and how far gaps move, with the priors as they are and without their pull."""
    likely = gaps(estimator="marginal", interval="information")
    print(f"marginal: standard errors {likely['sd'].min():.2f} to {likely['sd'].max():.2f}")
    for name, priors in (("default priors", None), ("without the pull", WEAK)):
        drawn = gaps(method="nuts", priors=priors, chains=2)
        moved = np.abs(drawn["estimate"] - likely["estimate"]) / drawn["sd"]
        print(
            f"{name}: sds {drawn['sd'].min():.2f} to {drawn['sd'].max():.2f}; "
            f"gaps move by {moved.mean():.2f} sds in the mean, {moved.max():.2f} at most; "
            f"{inside(drawn)} of R's differences inside the 95% intervals"
        )


if __name__ == "__main__":
    main()
