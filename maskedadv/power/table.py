"""Power and expected width against items and models, as a tidy table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from maskedadv.errors import BadSetting
from maskedadv.files.journal import Journal
from maskedadv.launchers.kinds import Launcher, Local
from maskedadv.power.by_simulation import BASES, Simulated, simulate_powers
from maskedadv.power.formula import expected, no_formula, per_item, power_of, width_of
from maskedadv.result.fit_result import Fit
from maskedadv.settings import LEVEL
from maskedadv.simulation.answers import check_size
from maskedadv.simulation.plan import Plan

SPREAD = (0.25, 0.5, 1.0, 2.0, 4.0)
"""Numbers of CS items that are looked at, of the plan's."""

COLUMNS = (
    "variant",
    "models",
    "items_ca",
    "items_cs",
    "truth",
    "power",
    "width",
    "expected",
    "power_simulated",
    "power_error",
    "width_simulated",
    "coverage",
    "expected_simulated",
    "studies",
)


def power_table(
    plan: Plan,
    *,
    items: Sequence[int] | None = None,
    models: Sequence[int] | None = None,
    variants: Sequence[str] = ("paired", "plain"),
    replicates: int = 0,
    level: float = LEVEL,
    result: Fit | None = None,
    jobs: int = 1,
    launcher: Launcher | None = None,
    tell: Callable[[str], None] = lambda _: None,
    journal: Path | None = None,
) -> pd.DataFrame:
    """Power and width by the information formula and, where asked for, by simulation.

    Parameters
    ----------
    plan : the study; its ratio of CA to CS items is kept
    items : numbers of CS items; default: a quarter of the plan's to four times as many
    models : numbers of models; default: half the plan's, the plan's, twice as many
    variants : of `plain` (marginal), `floor`, `paired`, `paired+floor`; the first and third have a formula
    replicates : simulated studies at every number of items, with the plan's number of models; 0 for none
    level : of the intervals
    result : if given, items are worth what they were there (any variant that it holds); not simulated
    jobs : processes of the simulation
    launcher : where studies are simulated, in the place of `jobs`; see `maskedadv.launchers`
    journal : file that keeps finished studies, so that the same call completes an interrupted one

    Returns
    -------
    DataFrame with the columns variant, models, items_ca, items_cs, truth (mean knowledge gap, logit), power,
    width, expected (estimate, logit) by the formula, and power_simulated, power_error (Monte Carlo),
    width_simulated, coverage (of the truth), expected_simulated, studies by simulation; NaN where there is
    none.

    Raises
    ------
    BadSetting
        A variant that there is not, or that needs a floor and there is none.
    """
    _check(plan, variants, replicates, result)
    n = plan.items_cs
    items = sorted({max(round(n * f), 1) for f in SPREAD} if items is None else set(items))
    sizes = {max(plan.models // 2, 1), plan.models, 2 * plan.models} if models is None else set(models)
    simulated = _simulated(plan, items, variants, replicates, level, launcher or Local(jobs), tell, journal)
    rows: list[dict[str, Any]] = []
    for variant in variants:
        for size in sorted(sizes | ({plan.models} if replicates else set())):
            own = _sized(plan, plan.items_cs, size)
            known = result is not None or not no_formula(own, variant)
            parts = per_item(own, variant, result) if known else None
            for count in items:
                at = _sized(plan, count, size)
                row: dict[str, Any] = {
                    "variant": variant,
                    "models": size,
                    "items_ca": at.items_ca,
                    "items_cs": at.items_cs,
                    "truth": plan.knowledge_gap,
                }
                if parts is not None:
                    found = expected(at, parts)
                    row["power"] = power_of(found, plan.knowledge_gap, level)
                    row["width"] = width_of(found, level)
                    row["expected"] = found.estimate
                if size == plan.models and (count, variant) in simulated:
                    own_s = simulated[count, variant]
                    row |= {
                        "power_simulated": own_s.power,
                        "power_error": own_s.power_error,
                        "width_simulated": own_s.width,
                        "coverage": own_s.coverage,
                        "expected_simulated": own_s.estimate,
                        "studies": own_s.studies,
                    }
                rows.append(row)
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype({"studies": "float64"})


def _check(plan: Plan, variants: Sequence[str], replicates: int, result: Fit | None) -> None:
    have = BASES if result is None else tuple(result.variants)
    for variant in variants:
        if variant not in have:
            raise BadSetting(f"variant must be one of {', '.join(have)} (is {variant!r}).")
        if result is None and variant.endswith("floor") and plan.options is None:
            raise BadSetting(f"variant {variant!r} needs a floor: give the number of options.")
    if result is not None and replicates:
        raise BadSetting("power from a result is not simulated; leave the replicates or the result out.")


def _sized(plan: Plan, items_cs: int, models: int) -> Plan:
    """The plan with other numbers; its ratio of CA to CS items is kept, families keep their size."""
    ca = max(round(plan.items_ca * items_cs / plan.items_cs), 1)
    families = plan.families
    if families is not None:
        families = min(max(round(families * models / plan.models), 1), models)
    return replace(plan, items_cs=items_cs, items_ca=ca, models=models, families=families)


def _simulated(
    plan: Plan,
    items: Sequence[int],
    variants: Sequence[str],
    replicates: int,
    level: float,
    how: Launcher,
    tell: Callable[[str], None],
    journal: Path | None,
) -> dict[tuple[int, str], Simulated]:
    """Every number of items and variant; none without replicates."""
    if not replicates:
        return {}
    about = {"plan": plan.as_json(), "variants": list(variants), "replicates": replicates}
    plans = [_sized(plan, count, plan.models) for count in items]
    largest = _sized(plan, max(items), plan.models)
    check_size(largest.models, sum(largest.n_items), 2)
    with Journal.open(journal, about) as kept:
        found = simulate_powers(
            plans, variants, replicates=replicates, level=level, launcher=how, tell=tell, kept=kept
        )
    return {(n, v): own for n, by_variant in zip(items, found, strict=True) for v, own in by_variant.items()}
