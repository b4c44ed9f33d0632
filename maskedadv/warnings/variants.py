"""What the variants rest on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from maskedadv.gaps.link import FEW, LOOSE
from maskedadv.warnings.kinds import Facts, kind


@kind("few linked models")
def _few_linked(f: Facts) -> str | None:
    few = [v for v in _shown_links(f) if v["models"] < FEW]
    if not few:
        return None
    return (
        f"the link rests on {min(v['models'] for v in few)} models (fewer than {FEW}) in "
        f"{', '.join(dict.fromkeys(v['locale'] for v in few))}; take linked gaps as a rough check there."
    )


@kind("wide link")
def _wide_link(f: Facts) -> str | None:
    links = _shown_links(f)
    wide = [v for v in links if v["upper"] > 2 * v["lower"]]
    if not wide:
        return None
    worst = max(wide, key=lambda v: v["upper"] / max(v["lower"], 1e-300))
    return (
        f"the interval of the link's ratio spans more than a factor of 2 in {len(wide)} of {len(links)} "
        f"links (at worst {worst['locale']}, {worst['variant']}: {worst['lower']:.2g} to "
        f"{worst['upper']:.2g}); take linked gaps as a rough check there."
    )


@kind("loose link")
def _loose_link(f: Facts) -> str | None:
    links = _shown_links(f)
    loose = [v for v in links if v["correlation"] is not None and v["correlation"] < LOOSE]
    if not loose:
        return None
    least = min(loose, key=lambda v: v["correlation"])
    return (
        f"the models' pivot abilities on CA and CS hardly go together in {len(loose)} of {len(links)} "
        f"links (correlation {least['correlation']:.2f} in {least['locale']}, {least['variant']}): that "
        "they spread equally on both, which the link assumes, is in doubt."
    )


@kind("cells at chance")
def _at_chance(f: Facts) -> str | None:
    if "floor" not in f.cube["variant"].values:
        return None
    notes = f.cube["note"].sel(variant="floor", gap=["global_gap", "local_gap"]).values.ravel()
    lost = sum("at_chance" in str(n) for n in notes)
    if not lost:
        return None
    gaps = "gap has" if lost == 1 else "gaps have"
    return f"{lost} {gaps} no value under the guessing floor: a cell is not above chance."


def _shown_links(f: Facts) -> list[Mapping[str, Any]]:
    shown = set(f.cube["variant"].values)
    return [v for v in f.links if v["variant"] in shown and not v["reason"]]
