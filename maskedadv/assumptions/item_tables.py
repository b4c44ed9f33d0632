"""What was found of each item, made into tables: flags over a locale's items, their order, sums by subset."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.stats import false_discovery_control

from maskedadv.assumptions.item_tests import COLUMNS, BlockTest

SUBSET_COLUMNS = (
    "locale",
    "subset",
    "items",
    "tested",
    "flagged",
    "share",
    "harder",
    "easier",
    "inflation",
    "tau",
    "tau_p",
    "cells_local",
    "cells_other",
    "cells_left_out",
)


def flag_items(table: pd.DataFrame, alpha: float) -> pd.DataFrame:
    """q values over each locale's items, flags and directions."""
    table = table.copy()
    table["q"] = np.nan
    for _, own in table.groupby("locale", sort=False):
        known = own.index[np.isfinite(own["p_robust"])]
        if len(known):
            table.loc[known, "q"] = false_discovery_control(table.loc[known, "p_robust"].to_numpy())
    table["flagged"] = (table["q"] <= alpha).to_numpy(bool)
    sign = np.sign(table["effect"].fillna(0.0))
    table["direction"] = np.where(sign > 0, "easier", np.where(sign < 0, "harder", ""))
    return table[list(COLUMNS)]


def sort_items(table: pd.DataFrame, languages: Sequence[str]) -> pd.DataFrame:
    """By locale; other keys first, then by evidence; ties by the size of the effect, then by id."""
    keys = pd.DataFrame(
        {
            "locale": [languages.index(k) for k in table["locale"]],
            "key": ~table["key_differs"],
            "p": table["p_robust"].round(12),
            "effect": -table["effect"].abs(),
            "item": table["item"],
        }
    )
    return table.loc[keys.sort_values(list(keys.columns), kind="stable").index].reset_index(drop=True)


def sum_by_subset(table: pd.DataFrame, tests: Sequence[BlockTest]) -> pd.DataFrame:
    """A row for each locale and subset: items, those tested and flagged, what tests say of the whole."""
    rows = []
    for test in tests:
        locale, subset = test.items["locale"].iloc[0], test.items["subset"].iloc[0]
        own = table[(table["locale"] == locale) & (table["subset"] == subset)]
        tested, flagged = int(np.isfinite(own["p"]).sum()), own[own["flagged"]]
        rows.append(
            {
                "locale": locale,
                "subset": subset,
                "items": len(own),
                "tested": tested,
                "flagged": len(flagged),
                "share": len(flagged) / tested if tested else np.nan,
                "harder": int((flagged["direction"] == "harder").sum()),
                "easier": int((flagged["direction"] == "easier").sum()),
                "inflation": test.inflation,
                "tau": test.spread.tau,
                "tau_p": test.spread.p,
                "cells_local": test.cells[0],
                "cells_other": test.cells[1],
                "cells_left_out": test.left_out,
            }
        )
    return pd.DataFrame(rows, columns=list(SUBSET_COLUMNS))
