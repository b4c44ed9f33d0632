"""Every figure of Thellmann et al. (2026) that can be worked back from what they print."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from maskedadv.validity.evidence import classify
from maskedadv.validity.ranking import kendall_tau

# Table 6: R2 base, R2 extended, dR2, lower limit of beta, p, LOFO refits passed of 17, class.
TABLE_6 = {
    "Skolprov": (0.856, 0.984, 0.128, 0.798, 1e-13, 17, "robust"),
    "INCLUDE-LT": (0.890, 0.965, 0.076, 0.667, 1e-7, 17, "robust"),
    "NRK-Quiz": (0.934, 0.975, 0.041, 0.289, 1e-6, 17, "robust"),
    "Exam-ET": (0.954, 0.979, 0.024, 0.340, 1e-5, 17, "robust"),
    "INCLUDE-ET": (0.818, 0.877, 0.059, -0.021, 0.002, 16, "marginal"),
    "DanishCT": (0.951, 0.960, 0.009, 0.006, 0.027, 14, "marginal"),
}
DF = 25


@pytest.mark.parametrize("name", TABLE_6)
def test_the_printed_inputs_give_the_printed_class(name: str) -> None:
    *_, lower, p, passed, printed = TABLE_6[name]
    assert classify(p, lower, passed, 17) == printed


def test_swedish_facts_is_null() -> None:
    assert classify(0.242, -0.1, 3, 17) == "null"


def f_from_r2(r2_base: float, r2_ext: float, df_resid: int, df_added: int = 1) -> tuple[float, float]:
    """Nested F statistic and its p from two R2 values, with (df_added, df_resid) degrees of freedom."""
    f = (r2_ext - r2_base) / df_added / ((1 - r2_ext) / df_resid)
    return f, float(stats.f.sf(f, df_added, df_resid))


def partial_r_from_r2(r2_base: float, r2_ext: float) -> float:
    """Size of the partial correlation of the added predictor: sqrt(dR2 / (1 - R2_base))."""
    return float(np.sqrt((r2_ext - r2_base) / (1 - r2_base)))


def _p_range(name: str, half: float = 0.0005) -> tuple[float, float]:
    """Smallest and largest p that the printed, rounded R2 values allow."""
    base, extended = TABLE_6[name][:2]
    signs = itertools.product((-half, half), repeat=2)
    ps = [f_from_r2(base + a, extended + b, DF)[1] for a, b in signs]
    return min(ps), max(ps)


@pytest.mark.parametrize("name", ["INCLUDE-ET", "DanishCT"])
def test_printed_p_follows_from_printed_r2_with_25_degrees_of_freedom(name: str) -> None:
    low, high = _p_range(name)
    printed = TABLE_6[name][4]
    assert low - 0.0005 <= printed <= high + 0.0005
    # The degrees of freedom are pinned down: half as many would not give the printed p of INCLUDE-ET.
    if name == "INCLUDE-ET":
        assert round(f_from_r2(0.818, 0.877, DF)[1], 3) == printed
        assert round(f_from_r2(0.818, 0.877, 12)[1], 3) != printed


@pytest.mark.parametrize("name", ["INCLUDE-LT", "NRK-Quiz", "Exam-ET"])
def test_printed_bounds_on_p_hold(name: str) -> None:
    low, _ = _p_range(name)
    assert low < TABLE_6[name][4]


def test_skolprov_p_is_a_little_above_its_printed_bound() -> None:
    """Printed: below 1e-13. The printed R2 values give 1.3e-13 to 3.0e-13, whatever their rounding."""
    low, high = _p_range("Skolprov")
    assert 1e-13 < low < high < 4e-13


def test_skolprov_partial_correlation() -> None:
    assert round(partial_r_from_r2(0.856, 0.984), 3) == 0.943


def test_swedish_facts_f_and_p_are_one_statement() -> None:
    assert round(float(stats.f.sf(1.436, 1, DF)), 3) == 0.242
    # and F comes back from any pair of R2 values that it belongs to
    base = 0.7
    extended = 1 - (1 - base) / (1 + 1.436 / DF)
    f, p = f_from_r2(base, extended, DF)
    assert f == pytest.approx(1.436)
    assert round(p, 3) == 0.242


def test_p_of_a_tau_of_089_over_29_models() -> None:
    """A ranking with 22 of 406 pairs discordant has tau .892; its asymptotic p is about 1e-11."""
    ranks = np.arange(29.0)
    other = ranks.copy()
    for start in range(0, 28, 4):  # reversing a run of four makes six discordant pairs
        if start // 4 < 3:
            other[start : start + 4] = other[start : start + 4][::-1]
    other[20:23] = other[20:23][::-1]  # three more
    other[[25, 26]] = other[[26, 25]]  # one more
    tau, p = kendall_tau(ranks, other)
    assert tau == pytest.approx(1 - 2 * 22 / 406)
    assert round(tau, 2) == 0.89
    assert 0.5e-11 < p < 2e-11


def test_delta_r2_interval_is_never_a_test() -> None:
    """INCLUDE-ET's dR2 interval [.000, .199] plays no part: the class hangs on p, beta and refits."""
    assert classify(0.002, 0.1, 17, 17) == "robust"
