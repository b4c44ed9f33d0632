"""Sample every locale: one after the other, or several at a time in processes of their own."""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import maskedadv
from maskedadv.design.blocks import Block
from maskedadv.design.prepare import Design
from maskedadv.engines.protocol import Engine
from maskedadv.errors import EngineFailed, NotAResult
from maskedadv.files.alive import temporary_folder
from maskedadv.files.atomic import partial_files
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
    jobs: int,
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
    jobs : locales at the same time; their chains share the cores
    folder : where finished locales are kept (and taken from, if they lie there); None keeps them in memory
    among : see `Design`
    """
    names = file_names(list(among or [layout.locale for layout in layouts]))
    threads = None if jobs == 1 else max(1, (os.cpu_count() or 1) // jobs)
    tasks = [make_task(layout, settings, engine.name, threads) for layout in layouts]
    tasks = [replace(task, paired=paired) for task in tasks]
    if chance is not None:
        tasks = [replace(task, chance=chance[task.layout.locale]) for task in tasks]
    variant = "+".join(name for name, on in (("paired", paired), ("floor", chance is not None)) if on)
    with temporary_folder() as temporary:
        running = _Running()

        def one(task: Task) -> Posterior:
            locale = task.layout.locale
            path = (folder or temporary) / names[locale]

            def tell(line: str) -> None:
                progress(f"{locale}{variant and ', ' + variant}: {line}")

            if path.exists():
                try:
                    kept = kept_tree(path)
                except NotAResult:
                    tell("the file of the earlier run is damaged; sampled again")
                else:
                    tell("kept from the earlier run")
                    return kept

            if jobs == 1:
                tree = sample_locale(task, tell)
                if folder is None:
                    return Posterior(tree)
                return keep_tree(tree, path)
            running.sample(task, path, tell)
            return kept_tree(path) if folder else Posterior(kept_tree(path).tree())

        if jobs == 1:
            return [one(task) for task in tasks]
        with ThreadPoolExecutor(jobs) as pool:
            try:
                futures = [pool.submit(one, task) for task in tasks]
                return [f.result() for f in futures]
            except BaseException:
                for f in futures:
                    f.cancel()
                running.stop()
                raise


def estimate_locales(
    design: Design,
    settings: Settings,
    engine: Engine,
    *,
    jobs: int,
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
        jobs=jobs,
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


@dataclass
class _Running:
    """The worker processes alive, so that an interrupt can end them."""

    stopped: bool = False

    def __post_init__(self) -> None:
        self._alive: set[subprocess.Popen[str]] = set()
        self._lock = threading.Lock()

    def sample(self, task: Task, path: Path, tell: Progress) -> None:
        """Run one worker to its end."""
        with temporary_folder() as folder:
            file, errors = folder / "task.pickle", folder / "errors"
            file.write_bytes(pickle.dumps(task))
            home = str(Path(maskedadv.__file__).resolve().parent.parent)
            paths = [home, *filter(None, [os.environ.get("PYTHONPATH")])]
            with self._lock:
                if self.stopped:
                    return
                with errors.open("w", encoding="utf-8") as stderr:
                    process = subprocess.Popen(
                        [sys.executable, "-m", "maskedadv.sampling.worker", str(file), str(path)],
                        stdout=subprocess.PIPE,
                        stderr=stderr,
                        text=True,
                        encoding="utf-8",
                        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONIOENCODING": "utf-8"},
                        start_new_session=True,
                    )
                self._alive.add(process)
            assert process.stdout is not None
            for line in process.stdout:
                tell(line.rstrip("\n"))
            code = process.wait()
            for partial in partial_files(path, process.pid):
                partial.unlink(missing_ok=True)
            problem = errors.read_text("utf-8").strip()
            with self._lock:
                self._alive.discard(process)
        if code and not self.stopped:
            last = problem.splitlines()[-1] if problem else f"exit code {code}"
            raise EngineFailed(f"locale {task.layout.locale!r}: {last}")

    def stop(self) -> None:
        """End all workers and what they started."""
        with self._lock:
            self.stopped = True
            alive = list(self._alive)
        for process in alive:
            if hasattr(os, "killpg"):
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
