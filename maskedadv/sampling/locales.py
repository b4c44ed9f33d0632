"""Sample every locale: one after the other here, or each as a unit of its own by a launcher."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from maskedadv.design.blocks import Block
from maskedadv.design.prepare import Design
from maskedadv.engines.protocol import Engine
from maskedadv.errors import NotAResult
from maskedadv.files.atomic import sweep
from maskedadv.launchers.kinds import Launcher
from maskedadv.launchers.launching import complete
from maskedadv.launchers.unit import Unit
from maskedadv.maximum_likelihood.block_estimate import BlockEstimate
from maskedadv.result.draws import Posterior, file_names
from maskedadv.result.unfinished import keep_tree, kept_tree
from maskedadv.sampling.layout import Layout, build_layout
from maskedadv.sampling.pairs import pairs_only
from maskedadv.sampling.posterior_estimate import block_estimates
from maskedadv.sampling.priors import make_priors
from maskedadv.sampling.sample import Task, sample_locale
from maskedadv.settings import Settings

Array = NDArray[np.float64]
Progress = Callable[[str], None]


def sample_all(
    layouts: Sequence[Layout],
    settings: Settings,
    engine: Engine,
    *,
    how: Launcher,
    progress: Progress,
    folder: Path | None,
    chance: Mapping[str, tuple[Array, Array]] | None = None,
    paired: bool = False,
    among: Sequence[str] = (),
) -> list[Posterior]:
    """Posteriors in the order of the layouts.

    Parameters
    ----------
    chance : guessing floor of every item of either subset, by locale; None samples without a floor
    paired : whether the layouts hold pairs only, to be sampled model by model
    how : where locales are sampled
    folder : where finished locales are kept (and taken from, if they lie there); None keeps them in memory
    among : see `Design`
    """
    names = file_names(list(among or [layout.locale for layout in layouts]))
    tasks = [make_task(layout, settings, engine.name, how.threads) for layout in layouts]
    tasks = [replace(task, paired=paired) for task in tasks]
    if chance is not None:
        tasks = [replace(task, chance=chance[task.layout.locale]) for task in tasks]
    variant = "+".join(name for name, on in (("paired", paired), ("floor", chance is not None)) if on)
    called = [task.layout.locale + (f", {variant}" if variant else "") for task in tasks]
    paths = [None if folder is None else folder / names[task.layout.locale] for task in tasks]
    found: dict[int, Posterior] = {}
    for k, path in enumerate(paths):
        if path is not None and path.exists():
            try:
                found[k] = kept_tree(path)
            except NotAResult:
                progress(f"{called[k]}: the file of the earlier run is damaged; sampled again")
            else:
                progress(f"{called[k]}: kept from the earlier run")
    for path in filter(None, paths[:1]):
        path.parent.mkdir(parents=True, exist_ok=True)
    todo = [k for k in range(len(tasks)) if k not in found]

    def keep(n: int, tree: xr.DataTree | None) -> None:
        path = paths[todo[n]]
        if path is None:
            assert tree is not None
            found[todo[n]] = Posterior(tree)
        else:
            found[todo[n]] = kept_tree(path) if tree is None else keep_tree(tree, path)

    units = [Unit(called[k], partial(_sample, tasks[k], paths[k])) for k in todo]
    try:
        complete(units, how, keep=keep, tell=progress)
    finally:
        for path in filter(None, paths):  # of processes that were killed
            sweep(path)
    return [found[k] for k in range(len(tasks))]


def _sample(task: Task, path: Path | None, tell: Progress) -> xr.DataTree | None:
    """Sample a locale into its file; on a machine that has no such folder, give the posterior back."""
    tree = sample_locale(task, tell)
    if path is None or not path.parent.is_dir():
        return tree
    keep_tree(tree, path)
    return None


def estimate_locales(
    design: Design,
    settings: Settings,
    engine: Engine,
    *,
    how: Launcher,
    tell: Progress,
    folder: Path | None,
    with_floor: bool = False,
    paired: bool = False,
) -> tuple[list[BlockEstimate], dict[str, Posterior]]:
    """Estimates in the order of the design's blocks, and the posterior of every locale.

    Parameters
    ----------
    with_floor : whether right answers may be guesses, at the blocks' `chance`
    paired : whether every model is taken by itself, on its items answered in both languages
    """
    own = {k: blocks for k in design.locales if (blocks := design.of_locale(k))}
    layouts = {k: build_layout(b, k, design.pivot) for k, b in own.items()}
    floors = {k: floors_of(b) for k, b in own.items()} if with_floor else None
    if paired:
        layouts = {k: pairs_only(layout) for k, layout in layouts.items()}
    found = sample_all(
        list(layouts.values()),
        settings,
        engine,
        how=how,
        progress=tell,
        folder=folder,
        chance=floors,
        paired=paired,
        among=design.among,
    )
    posteriors = dict(zip(layouts, found, strict=True))
    estimates = {
        k: block_estimates(
            p.tree(),
            layouts[k],
            own[k],
            continuous=settings.response == "crm",
            chance=None if floors is None else floors[k],
        )
        for k, p in posteriors.items()
    }
    return [estimates[block.locale][block.subset] for block in design.blocks], posteriors


def floors_of(blocks: Mapping[int, Block]) -> tuple[Array, Array]:
    """Floors of a locale's items by subset; none where the subset is absent."""

    def own(subset: int) -> Array:
        chance = blocks[subset].chance if subset in blocks else None
        return np.zeros(0) if chance is None else chance

    return own(0), own(1)


def make_task(layout: Layout, settings: Settings, engine: str, threads: int | None = None) -> Task:
    """What to sample of a locale, from the settings of the run."""
    return Task(
        layout=layout,
        response=settings.response,
        estimator=settings.estimator,
        priors=make_priors(settings.priors),
        sampler=settings.sampler,
        chains=settings.chains,
        log_likelihood=settings.log_likelihood == "item",
        engine=engine,
        seed=settings.seed,
        threads=threads,
    )
