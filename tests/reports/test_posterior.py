"""Tables that a posterior brings, by hand."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pytest
import xarray as xr

from maskedadv.diagnostics import Finding, LocaleVerdict, Measures
from maskedadv.reports import figures
from maskedadv.reports.drawing import draw_svg
from maskedadv.reports.methods import verdicts
from maskedadv.reports.posterior import convergence, item_totals


@dataclass(frozen=True)
class _Posterior:
    """Stands in for a posterior with four items (two CA, two CS) and two replicates in each of two chains."""

    scale: float

    def tree(self) -> xr.DataTree:
        coords = {"item_subset": ("item", np.array(["CA", "CA", "CS", "CS"], dtype=object))}
        observed = xr.Dataset({"item_total": ("item", np.array([0.0, 4.0, 1.0, 2.0]))}, coords=coords)
        spread = self.scale * np.array([[0.0, 1.0], [2.0, 3.0]])
        totals = np.stack([-spread, spread, np.zeros((2, 2)), np.ones((2, 2))], axis=2)
        replicated = xr.Dataset({"item_total": (("chain", "draw", "item"), totals)}, coords=coords)
        return xr.DataTree.from_dict({"/observed_data": observed, "/posterior_predictive": replicated})


def _measures(**changed: float) -> Measures:
    given: dict[str, Any] = {f.name: 0 for f in fields(Measures)}
    given |= {"rhat_gaps": 1.001, "ess_bulk_gaps": 900.0, "ess_tail_gaps": 800.0, "bfmi": 0.9, "worst": ""}
    return Measures(**(given | changed))


POSTERIORS: Any = {"zh": _Posterior(1.0), "sw": _Posterior(0.1)}
VERDICTS = [
    LocaleVerdict("zh", _measures(rhat_gaps=1.2), [Finding("do not use", "chains disagree", "run longer")]),
    LocaleVerdict("sw", _measures(), []),
]


def test_spread_of_item_totals_by_hand() -> None:
    table = item_totals(POSTERIORS, 0.5).set_index(["locale", "statistic"])
    row = table.loc[("zh", "sd of item totals, CA")]
    assert row["observed"] == pytest.approx(4 / np.sqrt(2))
    # sd of (−s, s) is s√2; quartiles of s = 0, 1, 2, 3 are 0.75 and 2.25
    assert row["lower"] == pytest.approx(0.75 * np.sqrt(2))
    assert row["upper"] == pytest.approx(2.25 * np.sqrt(2))
    assert table.loc[("sw", "sd of item totals, CS"), "observed"] == pytest.approx(1 / np.sqrt(2))


def test_convergence_says_what_passed() -> None:
    table = convergence(VERDICTS).set_index(["locale", "measure"])
    assert not table.loc[("zh", "R-hat"), "passed"]
    assert table.loc["sw"]["passed"].all()
    assert table.loc[("zh", "R-hat"), ["value", "threshold"]].tolist() == [1.2, 1.01]


def test_posteriors_with_and_without_a_floor_are_told_apart() -> None:
    found = [LocaleVerdict(v, _measures(), [], w) for w in ("plain", "floor") for v in ("sw", "zh")]
    assert verdicts(found)[0].text == "the draws of sw, zh, sw (floor), zh (floor) can be used."
    bad = LocaleVerdict("zh", _measures(), [Finding("look", "few draws", "run longer")], "floor")
    assert verdicts([bad])[0].title == "zh (floor): look"
    table = convergence(found)
    assert not table.duplicated(["locale", "variant", "measure"]).any()
    figure = draw_svg(figures.diagnostics(table))
    drawn = [html.unescape(v) for v in re.findall(r"<text[^>]*>(.*?)</text>", figure)]
    for name in ("sw", "zh", "sw (floor)", "zh (floor)"):
        assert drawn.count(name) == 1
    assert drawn[drawn.index("R-hat") - 3 : drawn.index("R-hat")] == ["0", "2", "4"]  # divergences are counts


def test_verdicts_in_words() -> None:
    words = verdicts(VERDICTS)
    assert [(w.title, w.passed) for w in words] == [("zh: do not use", False), ("fine", True)]
    assert words[0].text == "Chains disagree; run longer."
