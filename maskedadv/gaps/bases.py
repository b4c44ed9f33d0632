"""The bases of the variants: ways to get local less pivot, of every subset and locale, from the answers.

A base is a function of a `Run` (and of the bases before it) that gives a `Based`, or None where it is not
asked for or cannot be had. `BASES` names them in the order of every variant axis; their words are in
`maskedadv.vocabulary`. To add one, write its function (in a file of its own), and name it in both tables.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from maskedadv.design.prepare import Design
from maskedadv.engines import Engine
from maskedadv.gaps.one_trait import CommonTrait
from maskedadv.gaps.paired import paired_gaps
from maskedadv.gaps.subset_gaps import PivotAbilities, SubsetGaps, from_estimates
from maskedadv.launchers.kinds import Launcher, Local
from maskedadv.maximum_likelihood.block_estimate import Fitted
from maskedadv.maximum_likelihood.estimators import estimate_blocks
from maskedadv.result.draws import Posterior
from maskedadv.settings import Settings

Pivot = PivotAbilities | None


@dataclass(frozen=True)
class Run:
    """What a base is estimated from and with.

    Attributes
    ----------
    how : where blocks (locales, under `nuts`) are fitted
    tell : called with a line of text as parts are done
    folder : where NUTS keeps finished locales, a folder for each base; None keeps them in memory
    bases : those that may be made; None allows all
    traits : by locale, pivot abilities on CA and CS and their common trait, which several variants rest on
    """

    design: Design
    settings: Settings
    engine: Engine
    how: Launcher = Local()  # noqa: RUF009 (it cannot be changed)
    tell: Callable[[str], None] = lambda _: None
    folder: Path | None = None
    bases: Collection[str] | None = None
    traits: dict[str, list[tuple[Pivot, Pivot, CommonTrait]]] = field(default_factory=dict)


@dataclass(frozen=True)
class Based:
    """What a base gives.

    Attributes
    ----------
    gaps : by locale and subset index
    fitted : estimates of the blocks, where it has such
    posteriors : NUTS: of every locale, where it has such
    """

    gaps: Mapping[str, Mapping[int, SubsetGaps]]
    fitted: tuple[Fitted, ...] = ()
    posteriors: Mapping[str, Posterior] = field(default_factory=dict)


Make = Callable[[Run, Mapping[str, Based]], Based | None]


def plain(run: Run, done: Mapping[str, Based]) -> Based:  # noqa: ARG001
    """The Rasch model as the papers use it, by the estimator asked for."""
    return _from_blocks(run, "plain", with_floor=False)


def floor(run: Run, done: Mapping[str, Based]) -> Based | None:  # noqa: ARG001
    """A right answer may be a guess: P = c + (1 − c)·logit⁻¹(θ − b)."""
    return _from_blocks(run, "floor", with_floor=True) if run.design.has_floor else None


def _from_blocks(run: Run, name: str, *, with_floor: bool, paired: bool = False) -> Based:
    """Every block's abilities, by maximum likelihood or NUTS (which also has those of `paired` models)."""
    design, settings = run.design, run.settings
    posteriors: Mapping[str, Posterior] = {}
    if settings.method == "nuts":
        from maskedadv.sampling.locales import (
            estimate_locales,  # SciPy's solvers take half a second to import
        )

        folder = None if run.folder is None else run.folder / name
        estimates, posteriors = estimate_locales(
            design,
            settings,
            run.engine,
            how=run.how,
            tell=run.tell,
            folder=folder,
            with_floor=with_floor,
            paired=paired,
        )
    else:
        estimates = estimate_blocks(
            design, settings, run.engine, how=run.how, tell=run.tell, with_floor=with_floor
        )
    fitted = tuple(Fitted(b, e) for b, e in zip(design.blocks, estimates, strict=True))
    return Based(from_estimates(design, settings.interval, fitted), fitted, posteriors)


def paired(run: Run, done: Mapping[str, Based]) -> Based | None:
    """Each model by itself, conditional on its items answered in both languages: log(n10/n01).

    NUTS: with its own effect of every item integrated out.
    """
    return _from_pairs(run, done["plain"], with_floor=False)


def paired_floor(run: Run, done: Mapping[str, Based]) -> Based | None:
    """Each model by itself, its two answers to an item each perhaps a guess."""
    return _from_pairs(run, done["floor"], with_floor=True) if "floor" in done else None


def _from_pairs(run: Run, rest: Based, *, with_floor: bool) -> Based | None:
    if run.settings.variants == "none":
        return None
    if run.settings.method == "nuts":
        if run.settings.response != "binary":
            return None
        return _from_blocks(
            run, "paired+floor" if with_floor else "paired", with_floor=with_floor, paired=True
        )
    return Based(paired_gaps(run.design, run.settings, rest.gaps, with_floor=with_floor, tell=run.tell))


BASES: Mapping[str, Make] = {
    "plain": plain,
    "floor": floor,
    "paired": paired,
    "paired+floor": paired_floor,
}


def make_bases(run: Run) -> dict[str, Based]:
    """Every base that is asked for and can be had, `plain` first."""
    done: dict[str, Based] = {}
    for name, make in BASES.items():
        made = make(run, done) if run.bases is None or name in run.bases else None
        if made is not None:
            done[name] = made
    return done
