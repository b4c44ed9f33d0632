"""What a reader of the numbers should know: every kind of warning, with its sentence.

A kind is a function of `Facts` that gives a sentence, several, or none, under `@kind("its name")`; warnings
come in the order of this file. Whoever wants some of them picks by kind, never by words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from maskedadv.gaps.link import FEW, LOOSE
from maskedadv.words.numbers import p_value

if TYPE_CHECKING:
    import xarray as xr

    from maskedadv.design.prepare import Design
    from maskedadv.gaps.departure import Departure
    from maskedadv.gaps.kinship import Kinship
    from maskedadv.maximum_likelihood.block_estimate import Fitted
    from maskedadv.result.draws import Posterior
    from maskedadv.settings import Settings


UNEVEN = 0.02
"""Difference of the shares of missing answers in the two languages from which it is told, if it is clear."""


@dataclass(frozen=True)
class Warned:
    """A sentence and its kind."""

    kind: str
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Facts:
    """What warnings are told from.

    Attributes
    ----------
    blocks : fitted blocks of every base that has such, `plain` first
    cube : with its `variant` dimension
    links, departures, relatives : as in `Info`
    posteriors : by base and locale
    """

    design: Design
    settings: Settings
    blocks: Mapping[str, Sequence[Fitted]]
    cube: xr.Dataset
    links: Sequence[Mapping[str, Any]] = ()
    departures: Sequence[Departure] = ()
    relatives: Kinship | None = None
    posteriors: Mapping[str, Mapping[str, Posterior]] = field(default_factory=dict)

    @property
    def fitted(self) -> Sequence[Fitted]:
        """The plain blocks."""
        return self.blocks["plain"]


Tell = Callable[[Facts], "str | Iterable[str] | None"]
KINDS: dict[str, Tell] = {}
"""Every kind by name, in the order in which warnings are given."""


def kind(name: str) -> Callable[[Tell], Tell]:
    """Enter a function under the name of its kind."""

    def enter(tell: Tell) -> Tell:
        KINDS[name] = tell
        return tell

    return enter


def find_warnings(facts: Facts) -> list[Warned]:
    """All that there is to warn of, what the preparation found first."""
    out = list(facts.design.notes)
    for name, tell in KINDS.items():
        told = tell(facts) or ()
        out += [Warned(name, text) for text in ([told] if isinstance(told, str) else told)]
    return out


@kind("not converged")
def _not_converged(f: Facts) -> str | None:
    bad = [b.block.name for b in f.fitted if not b.estimate.converged]
    return (
        f"not converged: {_some(bad)}; the gradient is not zero, do not use these numbers." if bad else None
    )


@kind("plain and paired differ")
def _departure(f: Facts) -> str | None:
    from maskedadv.gaps.departure import rejects

    if not rejects(f.departures):
        return None
    worst = max(f.departures[:-1], key=lambda d: abs(d.statistic or 0.0))
    means = f"no model has a finite {_plain_name(worst.gap)} in {worst.locale} under both"
    if worst.plain is not None and worst.paired is not None:
        means = (
            f"the mean {_plain_name(worst.gap)} in {worst.locale} is {worst.plain:.2f} plain and "
            f"{worst.paired:.2f} paired"
        )
    shown = "paired" in f.cube["variant"].values
    p = p_value(f.departures[-1].p or 0.0)
    inflated = ", or are inflated by joint estimation from few cells an item" if _joint_of_few(f) else ""
    return (
        "plain gaps lean on what models share beyond ability, or know of single items"
        f"{inflated} (Hausman's test against each model by itself: p {p}): {means}"
        + ("; take the paired gaps." if shown else "; fit with variants to have the paired gaps.")
    )


@kind("relatives")
def _relatives(f: Facts) -> str | None:
    if f.relatives is None or not f.relatives.groups:
        return None
    told = []
    for group in f.relatives.groups:
        low, high = f.relatives.within(group)
        ends = dict.fromkeys(f"{v:.2f}" for v in (low, high))
        reach = " to ".join(ends)
        names = f"{', '.join(group[:-1])} and {group[-1]}" if len(group) <= 8 else _some(group, 7)
        told.append(f"{names} (residual correlation {reach})")
    return (
        f"models answer alike beyond ability and difficulty: {_some(told, 3)}; plain gaps and means over "
        "models take them for independent."
    )


@kind("uneven missing answers")
def _uneven_missing(f: Facts) -> str | None:
    """Answers that are missing more often in one language than in the other, by more than chance."""
    found: list[tuple[float, str]] = []
    for locale in f.design.locales:
        for block in f.design.of_locale(locale).values():
            seen = [~np.isnan(v) for v in block.in_both(locale, f.design.models, f.design.cells[locale].keep)]
            only = [(one & ~other).sum(axis=1) for one, other in (seen, seen[::-1])]
            there = seen[0].any(axis=1) & seen[1].any(axis=1)
            share = (only[1] - only[0]) / len(block.item)
            clear = np.abs(only[0] - only[1]) > 3 * np.sqrt(only[0] + only[1])
            for j in np.flatnonzero(there & clear & (np.abs(share) > UNEVEN)):
                language = locale if share[j] > 0 else f.design.pivot
                text = (
                    f"{f.design.models[j]} {block.name} ({100 * abs(share[j]):.0f} points more in {language})"
                )
                found.append((-abs(float(share[j])), text))
    if not found:
        return None
    return (
        f"answers are missing unevenly between the languages in {len(found)} cells: "
        f"{_some([text for _, text in sorted(found)], 3)}; if they are missing because they are hard, plain "
        "gaps are off, while paired ones use only items answered in both."
    )


@kind("few cells")
def _few_cells(f: Facts) -> str | None:
    from maskedadv.design.estimable import FEW_CELLS  # what reads a result needs nothing that fits

    few = _joint_of_few(f)
    if not few:
        return None
    least = max(2.0, min(b.estimate.typical_cells for b in few))
    return (
        f"joint maximum likelihood with {least:.0f} cells an item inflates gaps by about "
        f"{least / (least - 1):.2f} (fewer than {FEW_CELLS} in {len(few)} of {len(f.fitted)} blocks); "
        "use --estimator marginal."
    )


@kind("sigma at zero")
def _sigma_low(f: Facts) -> str | None:
    low = [b.block.name for b in f.fitted if b.estimate.bound < 0]
    if not low:
        return None
    return f"items do not differ in difficulty beyond chance in {_some(low)}: sigma is at zero there."


@kind("sigma unbounded")
def _sigma_high(f: Facts) -> str | None:
    high = [b.block.name for b in f.fitted if b.estimate.bound > 0]
    if not high:
        return None
    return (
        f"sigma has no finite estimate in {_some(high)} (too few items tell cells apart); "
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
    most = max(b.failed_replicates for b in f.fitted)
    if most <= 0.01 * f.settings.replicates:
        return None
    return (
        f"up to {most} of {f.settings.replicates} bootstrap replicates of a cell have no finite "
        "estimate; intervals leave them out and are too narrow there."
    )


@kind("unknown gaps")
def _unknown_gaps(f: Facts) -> str | None:
    plain = f.cube.sel(variant="plain")
    # A model that was left out of a locale, or not asked there, has no row whose note could say so.
    present = np.asarray((plain["n_items"].values[..., 0] > 0).any(axis=-1))
    unknown = np.isnan(plain["estimate"].values[..., :2]) & present[..., None]
    noted = int((unknown & (plain["note"].values[..., :2] != "")).sum())
    return f"{noted} global or local gaps are not known; the note column says why." if noted else None


@kind("joint instead of marginal")
def _joint_instead(f: Facts) -> str | None:
    if f.settings.method != "nuts" or f.settings.estimator != "marginal":
        return None
    instead = list(dict.fromkeys(b.block.locale for b in f.fitted if b.estimate.estimator == "joint"))
    if not instead:
        return None
    return (
        f"items have too many patterns of missing answers for marginal in {_some(instead)}: joint "
        "was used there, which has the same posterior."
    )


@kind("extreme cells")
def _extreme_cells(f: Facts) -> str | None:
    if f.settings.method != "nuts" or f.settings.response != "binary":
        return None
    extreme = sum(int(np.isin(np.nanmean(b.block.answers, axis=1), (0.0, 1.0)).sum()) for b in f.fitted)
    if not extreme:
        return None
    return (
        f"{extreme} cells are all right or all wrong: only the priors keep their abilities finite, "
        "and their gaps lean on them."
    )


@kind("uninformative items")
def _uninformative_items(f: Facts) -> str | None:
    if f.settings.method != "optimize" or f.settings.response == "crm":
        return None
    joint = [b for b in f.fitted if b.estimate.estimator == "joint"]
    silent = sum(int((~b.estimate.informative).sum()) for b in joint)
    if not silent:
        return None
    total = sum(b.block.answers.shape[1] for b in joint)
    return (
        f"{silent} of {total} items (summed over blocks) were answered alike by every cell; they carry "
        "no information on joint gaps and were set aside."
    )


@kind("dropped models")
def _dropped_models(f: Facts) -> str | None:
    dropped = f.design.dropped
    if not dropped:
        return None
    return (
        f"{len(dropped)} times a model was left out for accuracy at or under {f.settings.min_accuracy:g}: "
        f"{_some([str(d) for d in dropped])}."
    )


@kind("optimiser failed")
def _optimiser_failed(f: Facts) -> Iterable[str]:
    for base, fitted in f.blocks.items():
        for b in fitted:
            if not b.estimate.trouble:
                continue
            place = b.block.name + ("" if base == "plain" else f" ({base})")
            done = (
                "Newton's method from moment estimates gave the estimate"
                if np.isfinite(b.estimate.ability).any()
                else "nothing is estimated there"
            )
            yield f"Stan's optimiser failed in {place}, {done}: {b.estimate.trouble}"


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


SAMPLING = "sampling"
"""A kind that pages leave out where they give the verdicts in full."""


@kind(SAMPLING)
def _sampling(f: Facts) -> Iterable[str]:
    if not f.posteriors:
        return ()
    from maskedadv.diagnostics.check import sampling_warnings

    return [s for base, own in f.posteriors.items() for s in sampling_warnings(own, base)]


def _shown_links(f: Facts) -> list[Mapping[str, Any]]:
    shown = set(f.cube["variant"].values)
    return [v for v in f.links if v["variant"] in shown and not v["reason"]]


def _joint_of_few(f: Facts) -> list[Fitted]:
    """Blocks whose gaps joint maximum likelihood inflates."""
    from maskedadv.design.estimable import FEW_CELLS  # what reads a result needs nothing that fits

    if f.settings.method != "optimize" or f.settings.response != "binary":
        return []
    return [b for b in f.fitted if b.estimate.estimator == "joint" and b.estimate.typical_cells < FEW_CELLS]


def _plain_name(gap: str) -> str:
    return gap.replace("_", " ")


def _some(names: Sequence[str], most: int = 5) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
