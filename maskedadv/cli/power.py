"""`maskedadv power`: how many items and models a study needs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from maskedadv.checks import Number, Whole
from maskedadv.cli.launch_options import launch_options
from maskedadv.cli.options import json_option, plan_of, plan_options
from maskedadv.cli.say import say, tell
from maskedadv.files.unfinished import journal_file
from maskedadv.settings import LEVEL
from maskedadv.vocabulary import VARIANTS
from maskedadv.words.numbers import level_text, number, percent, plural, probability
from maskedadv.words.terminal import format_table, records, to_json, wrap

if TYPE_CHECKING:
    import pandas as pd

    from maskedadv.launchers import Launcher
    from maskedadv.result.fit_result import Fit
    from maskedadv.simulation.plan import Plan

OF_RESULT = ("models", "items_ca", "items_cs", "knowledge_gap", "gap_sd")
"""Numbers that may be given on top of a result."""


@click.command()
@click.argument("results", type=click.Path(path_type=Path), required=False)
@plan_options()
@click.option(
    "--variant", multiple=True, type=click.Choice(list(VARIANTS)), help="Default: paired and plain."
)
@click.option("--at-items", multiple=True, type=int, help="CS items to look at; repeatable.")
@click.option("--at-models", multiple=True, type=int, help="Models to look at; repeatable.")
@click.option("--power", "wanted", type=float, default=0.8, show_default=True, help="Power that is wanted.")
@click.option("--level", type=float, default=LEVEL, show_default=True, help="Coverage of the intervals.")
@click.option("--replicates", type=int, default=0, show_default=True, help="Simulated studies; 0 for none.")
@launch_options("Groups of simulated studies")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Table: .csv or .parquet.")
@click.option("--figure", type=click.Path(path_type=Path), help="Figure: .png, .svg or .pdf.")
@click.option("--overwrite", is_flag=True, help="Replace table and figure.")
@json_option
def command(
    results: Path | None,
    variant: tuple[str, ...],
    at_items: tuple[int, ...],
    at_models: tuple[int, ...],
    wanted: float,
    level: float,
    replicates: int,
    how: Launcher,
    output: Path | None,
    figure: Path | None,
    overwrite: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """How many items and models are needed to see a knowledge gap, and how wide its interval will be.

    Power is the share of studies whose interval lies on the gap's side of zero. It comes from the information
    formula and, with --replicates, from simulated studies. With RESULTS (a folder that `maskedadv fit` wrote)
    items are worth what they were there, relatives and items that differ between languages included; of the
    numbers, only --models, --items-ca, --items-cs, --knowledge-gap and --gap-sd then count.
    """
    from maskedadv.files.atomic import check_table_output, write_table
    from maskedadv.files.claims import claim
    from maskedadv.launchers import tracked
    from maskedadv.power.table import power_table
    from maskedadv.result.save import load

    Whole(0, 10**7)("--replicates", replicates)
    for flag, counts in (("--at-items", at_items), ("--at-models", at_models)):
        for count in counts:
            Whole(1, 10**7)(flag, count)
    if output is not None:
        check_table_output(output, overwrite=overwrite)
    if figure is not None:
        from maskedadv.reports.drawing import check_figure

        check_figure(figure, overwrite=overwrite)
    fit = None if results is None else load(results)
    plan = _plan(plan_of(given), fit)
    variants = variant or tuple(v for v in ("paired", "plain") if fit is None or v in fit.variants)
    needed = {v: _needed(plan, v, fit, wanted, level) for v in variants}
    with claim(output):  # a second run's table would replace the first one's
        with tracked(how, output if replicates else None) as how:
            table = power_table(
                plan,
                items=at_items or None,
                models=at_models or None,
                variants=variants,
                replicates=replicates,
                level=level,
                result=fit,
                launcher=how,
                tell=tell,
                journal=journal_file(output),
            )
        if output is not None:
            write_table(table, output)
    if figure is not None:
        from maskedadv.reports.drawing import write_figure
        from maskedadv.reports.figures.power import power_curves

        write_figure(power_curves(table, wanted=wanted, level=level), figure)
    if as_json:
        plain = {v: {"with_ratio": ratio, "ca_fixed": fixed} for v, (ratio, fixed) in needed.items()}
        say(to_json({"plan": plan.as_json(), "needed": plain, "table": records(table)}))
        return
    say(wrap(_answer(plan, needed, wanted, level)))
    say(f"\n{_text(table, level)}")
    for line in _words(plan, variants, fit, simulated=replicates > 0):
        say(f"\n{wrap(line)}")


def _plan(given: dict[str, Any], fit: Fit | None) -> Plan:
    from maskedadv.errors import BadSetting
    from maskedadv.simulation.likeness import plan_of_fit
    from maskedadv.simulation.plan import Plan

    if fit is None:
        return Plan(**given)
    for name in given:
        if name not in OF_RESULT:
            flags = ", ".join("--" + n.replace("_", "-") for n in OF_RESULT)
            raise BadSetting(
                f"--{name.replace('_', '-')} is the result's own; beside RESULTS go {flags} only."
            )
    return replace(plan_of_fit(fit), **given)


def _needed(plan: Plan, variant: str, fit: Fit | None, power: float, level: float) -> tuple[float, float]:
    """CS items with the plan's ratio of CA to CS, and with its CA items; NaN where there is no formula."""
    from maskedadv.power.formula import items_needed, no_formula

    for name, share in (("power", power), ("level", level)):
        Number(0.0, 1.0)(f"--{name}", share)
    if fit is None and no_formula(plan, variant):
        return np.nan, np.nan
    ratio, fixed = (
        items_needed(plan, variant, result=fit, power=power, level=level, fixed_ca=own)
        for own in (False, True)
    )
    return ratio, fixed


def _answer(plan: Plan, needed: dict[str, tuple[float, float]], power: float, level: float) -> str:
    """How many items, in one sentence."""
    if plan.knowledge_gap == 0.0:
        return (
            "A knowledge gap of zero cannot be seen: power is the share of studies that see one all the same."
        )
    known = {v: n for v, n in needed.items() if not np.isnan(n[0])}
    if not known:
        return "No variant that was asked for has a formula under such a plan; simulate it (--replicates)."
    parts = []
    for variant, (ratio, fixed) in known.items():
        ca = round(ratio * plan.items_ca / plan.items_cs) if np.isfinite(ratio) else np.inf
        own = "no number of items is enough" if np.isinf(ratio) else f"{ratio:,.0f} CS and {ca:,.0f} CA items"
        also = "no number of CS items is enough" if np.isinf(fixed) else f"{fixed:,.0f} CS items"
        parts.append(f"{variant} {own} (with {plural(plan.items_ca, 'CA item')}: {also})")
    return (
        f"To see a knowledge gap of {number(plan.knowledge_gap)} logits in {percent(power)} of studies with "
        f"{plural(plan.models, 'model')} ({level_text(level)} intervals): {'; '.join(parts)}."
    )


def _text(table: pd.DataFrame, level: float) -> str:
    """Power and width by the formula and by simulation."""
    simulated = table["power_simulated"].notna().any()
    header = ["variant", "models", "CA", "CS", "power", f"{level_text(level)} width"]
    if simulated:
        header += ["simulated", "width", "coverage"]
    rows = []
    for r in records(table):
        row = [r["variant"], str(r["models"]), str(r["items_ca"]), str(r["items_cs"])]
        row += [probability(r["power"]), number(r["width"])]
        if simulated:
            error = "" if np.isnan(r["power_error"]) else f" ({probability(r['power_error'])})"
            row += [probability(r["power_simulated"]) + error, number(r["width_simulated"])]
            row += [probability(r["coverage"])]
        rows.append(row)
    return format_table(header, rows, left=(0,))


def _words(plan: Plan, variants: tuple[str, ...], fit: Fit | None, *, simulated: bool) -> list[str]:
    """What the table rests on."""
    from maskedadv.power.formula import expected, no_formula, per_item

    out = []
    if fit is not None:
        out.append(
            "Items are worth what they were in the result: what models have in common there (relatives, "
            "items harder in one language for all) does not go away with more models, only with more "
            "items. The gap is the one that was asked for, not the estimated one."
        )
    for v in variants:
        if fit is None and (why := no_formula(plan, v)):
            out.append(f"{why}; {'see the simulated columns' if simulated else 'give --replicates'}.")
        elif (
            fit is None
            and abs(bias := expected(plan, per_item(plan, v)).estimate - plan.knowledge_gap) > 0.005
        ):
            out.append(
                f"{v} estimates tend to {number(plan.knowledge_gap + bias)} where the truth is "
                f"{number(plan.knowledge_gap)}: its model does not hold under this plan."
            )
    if simulated:
        out.append("simulated: share of studies that see the gap, with its Monte Carlo standard error.")
    return out
