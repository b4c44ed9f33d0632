"""The peer of whole commands: a table read by pandas, every block by girth, gaps to a CSV file.

`python -m tests.benchmarks.girth_peer TABLE OUT`. Points alone: no standard errors, no variants, no checks.
"""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd

NAME = "pandas and girth's `rasch_mml`: points alone, one variant"


def main(table: str, out: str) -> None:
    """Local less pivot abilities of every locale and subset."""
    import girth

    data = pd.read_parquet(table)
    for name in ("model", "language", "item"):
        data[name] = data[name].astype("category")
    pivot = data[data["language"] == "en"]
    found = []
    for locale in sorted(set(data["language"].cat.categories) - {"en"}):
        local = data[data["language"] == locale]
        for subset in ("CA", "CS"):
            own = local[local["subset"] == subset]
            shared = pivot[pivot["item"].isin(own["item"].unique())]
            rows = pd.concat([own, shared])
            cell = rows["model"].cat.codes.astype(int) * 2 + (rows["language"] == "en")
            answers = rows.assign(cell=cell).pivot_table("correct", "cell", "item", observed=True)
            both = [c for c in answers.index if c ^ 1 in answers.index]
            matrix = answers.loc[both].to_numpy()
            matrix = matrix[:, ~np.isnan(matrix).any(axis=0)].astype(int)
            easiness = -np.asarray(girth.rasch_mml(matrix)["Difficulty"])
            names = data["model"].cat.categories[[c // 2 for c in both[::2]]]
            found.append(
                pd.DataFrame(
                    {
                        "locale": locale,
                        "subset": subset,
                        "model": names,
                        "gap": easiness[::2] - easiness[1::2],
                    }
                )
            )
    pd.concat(found).to_csv(out, index=False)


if __name__ == "__main__":
    main(*sys.argv[1:])
