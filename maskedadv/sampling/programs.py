"""The programs that sample a locale, as a table: to add one, write `stan/posterior_*.stan` and an entry here.

An entry says where the data come from, which parameters start where beyond those that all programs share, and
what becomes of the draws. All programs give the variables of `stan/blocks/abilities.stan` and `gaps.stan`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from maskedadv.errors import BadSetting
from maskedadv.sampling import item_likelihood
from maskedadv.sampling.choose import joint_cost, marginal_cost, too_many_patterns
from maskedadv.sampling.collect import (
    Parts,
    Variables,
    collect_explicit,
    collect_guessing,
    collect_marginal,
    collect_paired,
)
from maskedadv.sampling.grid import Grid, build_grid
from maskedadv.sampling.guessing_grid import build_floor_grid
from maskedadv.sampling.pairs import count_pairs, rough_start
from maskedadv.sampling.stan_data import explicit_data, floor_data, marginal_data, paired_data
from maskedadv.sampling.starts import (
    OwnStarts,
    Start,
    at_sigma,
    difficulties,
    difficulties_and_noise,
    no_more,
    rough,
)
from maskedadv.sampling.task import Array, Plan, Task


@dataclass(frozen=True)
class Choice:
    """A program's name, why it was taken (in words), and the grids that the choice had to lay."""

    program: str
    why: str = ""
    grids: tuple[Grid, Grid] | None = None


@dataclass(frozen=True)
class Ready:
    """Data of a program, rough estimates that chains start from, and what collecting needs once more."""

    data: dict[str, Any]
    starts: tuple[Start, Start]
    constants: Any = None


@dataclass(frozen=True)
class Program:
    """One way to sample a locale.

    Attributes
    ----------
    name : file in `stan/`, without its ending
    estimator : `joint` or `marginal`, as results call it
    prepare : data and starts of a task
    own_starts : starting values of parameters that not all programs have
    collect : what a posterior keeps of the draws: abilities, difficulties, replicated totals
    likelihood : log likelihood of every item in every draw
    tells : a variable that no other program of the same kind has; how imported draws are recognised
    with_floor : whether right answers may be guesses
    """

    name: str
    estimator: str
    prepare: Callable[[Task, Choice], Ready]
    own_starts: OwnStarts
    collect: Callable[[Task, Plan, Variables, int], Parts]
    likelihood: Callable[[Task, Plan, Variables], Array]
    tells: str
    with_floor: bool = False


def choose_program(task: Task) -> Choice:
    """The program for a task: its variant and responses decide, and where two will do, the cost."""
    if task.paired:
        return Choice("posterior_paired", "pairs")
    if task.chance is not None:
        # Explicit difficulties cost as much with a floor and mix worse.
        return Choice("posterior_guessing", "guessing floor")
    if task.response == "crm":
        return Choice("posterior_continuous")
    return _joint_or_marginal(task)


def _joint_or_marginal(task: Task) -> Choice:
    if task.estimator == "joint":
        return Choice("posterior_joint", "asked for")
    if too_many_patterns(task.layout) and not task.marginal_at_any_cost:
        return Choice("posterior_joint", "items have too many patterns of missing answers for marginal")
    try:
        first, second = (
            build_grid(a, s, task.priors)
            for a, s in zip(task.layout.answers, _rough(task, continuous=False), strict=True)
        )
    except BadSetting:
        if task.marginal_at_any_cost:
            raise
        return Choice("posterior_joint", "the prior of the difficulties' spread is too wide for marginal")
    grids = (first, second)
    joint, marginal = joint_cost(task.layout), marginal_cost(grids)
    patterns = [len(g.margins.seen) for g in grids]
    wanted = task.marginal_at_any_cost or (task.estimator == "marginal" and max(patterns) == 1)
    if marginal <= joint or wanted:
        why = f"about {marginal:.2g} operations a gradient against {joint:.2g} with joint"
        return Choice("posterior_marginal", why, grids)
    why = f"about {joint:.2g} operations a gradient against {marginal:.2g} with marginal"
    if max(patterns) > 1:
        why += f", for {sum(patterns)} patterns of missing answers"
    return Choice("posterior_joint", why)


def _rough(task: Task, *, continuous: bool) -> tuple[Start, Start]:
    first, second = (rough(a, continuous=continuous) for a in task.layout.answers)
    return first, second


def _explicit(task: Task, choice: Choice) -> Ready:
    continuous = choice.program == "posterior_continuous"
    starts = _rough(task, continuous=continuous)
    return Ready(explicit_data(task.layout, task.priors, starts, continuous=continuous), starts)


def _integrated(task: Task, choice: Choice) -> Ready:
    assert choice.grids is not None
    first, second = (
        at_sigma(s, g.sigma) for s, g in zip(_rough(task, continuous=False), choice.grids, strict=True)
    )
    starts = (first, second)
    return Ready(marginal_data(task.layout, task.priors, starts, choice.grids), starts, choice.grids)


def _guessing(task: Task, choice: Choice) -> Ready:  # noqa: ARG001
    assert task.chance is not None
    first, second = (
        build_floor_grid(a, c, task.priors) for a, c in zip(task.layout.answers, task.chance, strict=True)
    )
    grids = (first, second)
    return Ready(floor_data(task.layout, task.priors, grids), (first.start, second.start), grids)


def _pairs(task: Task, choice: Choice) -> Ready:  # noqa: ARG001
    first, second = (count_pairs(a, c) for a, c in _with_chance(task))
    one, other = (rough_start(a, c) for a, c in _with_chance(task))
    counts, starts = (first, second), (one, other)
    return Ready(paired_data(task.layout, task.priors, starts, counts), starts, counts)


def _with_chance(task: Task) -> list[tuple[Array, Array | None]]:
    chance = (None, None) if task.chance is None else task.chance
    return list(zip(task.layout.answers, chance, strict=True))


PROGRAMS = {
    p.name: p
    for p in (
        Program(
            "posterior_continuous",
            "joint",
            _explicit,
            difficulties_and_noise,
            collect_explicit,
            item_likelihood.continuous,
            "noise",
        ),
        Program(
            "posterior_joint",
            "joint",
            _explicit,
            difficulties,
            collect_explicit,
            item_likelihood.explicit,
            "difficulty_ca",
        ),
        Program(
            "posterior_marginal",
            "marginal",
            _integrated,
            no_more,
            collect_marginal,
            item_likelihood.integrated,
            "ability",
        ),
        Program(
            "posterior_guessing",
            "marginal",
            _guessing,
            no_more,
            collect_guessing,
            item_likelihood.guessing,
            "ability",
            with_floor=True,
        ),
        Program(
            "posterior_paired", "marginal", _pairs, no_more, collect_paired, item_likelihood.paired, "pairs"
        ),
    )
}
"""In the order in which imported draws are tried: the first whose telling variable they hold."""
