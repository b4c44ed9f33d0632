"""What estimates and intervals lean on."""

from __future__ import annotations

from maskedadv.warnings.kinds import Facts, kind
from maskedadv.words.lists import and_more


@kind("few cells")
def _few_cells(f: Facts) -> str | None:
    from maskedadv.design.estimable import FEW_CELLS  # what reads a result needs nothing that fits

    few = f.joint_of_few
    if not few:
        return None
    least = max(2.0, min(b.typical_cells for b in few))
    much = (
        f"by {least / (least - 1):.2f} or more"
        if f.inflation is None
        else f"here to {f.inflation:.2f} times those of marginal"
    )
    return (
        f"joint maximum likelihood with {least:.0f} cells an item inflates gaps, {much} (fewer than "
        f"{FEW_CELLS} in {len(few)} of {len(f.plain)} blocks); use --estimator marginal."
    )


@kind("sigma at zero")
def _sigma_low(f: Facts) -> str | None:
    low = [b.name for b in f.plain if b.bound < 0]
    if not low:
        return None
    return f"items do not differ in difficulty beyond chance in {and_more(low)}: sigma is at zero there."


@kind("sigma unbounded")
def _sigma_high(f: Facts) -> str | None:
    high = [b.name for b in f.plain if b.bound > 0]
    if not high:
        return None
    return (
        f"sigma has no finite estimate in {and_more(high)} (too few items tell cells apart); "
        "gaps there lean on the largest value allowed."
    )


@kind("soft information")
def _soft_information(f: Facts) -> str | None:
    if f.settings.response != "soft" or f.settings.interval != "information":
        return None
    return "information intervals take soft answers for coin flips and are too wide; use --interval robust."


@kind("information means")
def _information_means(f: Facts) -> str | None:
    if f.settings.interval != "information":
        return None
    return (
        "information intervals take the model as true: they know nothing of what models share beyond "
        "ability, nor of the pivot answers that locales share (means over locales have no interval); use "
        "--interval robust."
    )


@kind("failed replicates")
def _failed_replicates(f: Facts) -> str | None:
    if f.settings.interval != "bootstrap":
        return None
    most = max(b.failed_replicates for b in f.plain)
    if most <= 0.01 * f.settings.replicates:
        return None
    return (
        f"up to {most} of {f.settings.replicates} bootstrap replicates of a cell have no finite "
        "estimate; intervals leave them out and are too narrow there."
    )
