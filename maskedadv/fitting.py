"""`maskedadv.fit`: from a response table to a `Fit`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Unpack, get_type_hints

import pandas as pd

from maskedadv.design.cells import Counted
from maskedadv.design.prepare import Design, open_table, other_end, prepare, prepare_locales
from maskedadv.engines import choose_engine
from maskedadv.gaps.bases import Run
from maskedadv.gaps.kinship import Likeness
from maskedadv.launchers.kinds import Launcher, Local
from maskedadv.linear_algebra import one_thread
from maskedadv.responses import Responses, StoredResponses, open_responses
from maskedadv.result.collect import collect
from maskedadv.result.fit_result import Fit
from maskedadv.result.part import Part, fit_part
from maskedadv.result.uncertainty_files import Shelf
from maskedadv.settings import GROUPS, OPTIONS, Arguments, Settings, option_docs

Progress = Callable[[str], None]


def fit(
    responses: str | Path | pd.DataFrame | Responses | StoredResponses,
    *,
    jobs: int = 1,
    launcher: Launcher | None = None,
    progress: Progress | None = None,
    **arguments: Unpack[Arguments],
) -> Fit:
    """Estimate abilities and the gaps of every model in every locale.

    Parameters
    ----------
    responses
        A response table: path, DataFrame or `Responses`; see `read_responses` for its columns. A large one in
        Parquet is read a locale at a time.
    OPTIONS
    jobs
        Blocks (locales, under `nuts`) fitted at the same time; changes no number.
    launcher
        Where they are fitted, in the place of `jobs`: processes, Slurm or Ray; see `maskedadv.launchers`.
    progress
        Called with a line of text as blocks are finished.

    Returns
    -------
    Fit

    Raises
    ------
    InputError
        One of its named kinds: bad table, unknown locale, no shared item, bad setting.
    EstimationError
        The answers determine no gap, or an engine failed.

    Examples
    --------
    >>> import maskedadv
    >>> fit = maskedadv.fit(maskedadv.datasets.global_mmlu_lite(), estimator="marginal")
    >>> fit.gaps(locale="zh", gap="knowledge_gap")  # doctest: +SKIP
    """
    unknown = [name for name in arguments if name not in OPTIONS]
    if unknown:
        raise TypeError(f"fit() got an unexpected keyword argument {unknown[0]!r}")
    settings = Settings(**arguments)  # type: ignore[arg-type]  # the checks bring them to one form
    how = launcher or Local(jobs)
    table = open_responses(responses, progress or (lambda _: None))
    return fit_table(table, settings, how=how, progress=progress)


def _describe_fit() -> None:
    """Give `fit` the signature and the words of the settings, which stand in `maskedadv.settings` once."""
    own = inspect.signature(fit)
    kept = [p for p in own.parameters.values() if p.kind is not p.VAR_KEYWORD]
    types = get_type_hints(Arguments)
    more = [
        inspect.Parameter(f.name, inspect.Parameter.KEYWORD_ONLY, default=f.default, annotation=types[f.name])
        for group in GROUPS
        for f in fields(group)
    ]
    fit.__signature__ = own.replace(parameters=[kept[0], *more, *kept[1:]])  # type: ignore[attr-defined]
    fit.__doc__ = inspect.cleandoc(fit.__doc__ or "").replace("OPTIONS", option_docs())


_describe_fit()


def fit_table(
    table: Responses | StoredResponses,
    settings: Settings,
    *,
    how: Launcher = Local(),  # noqa: B008 (it cannot be changed)
    progress: Progress | None = None,
    folder: Path | None = None,
) -> Fit:
    """From a table to the result; one that stays in its files is fitted some locales at a time.

    See `fit_design` for the parameters. With the scope `joint` all locales are one piece, and in memory at
    once.
    """
    if isinstance(table, Responses):
        design = prepare(table, settings)
        del table  # it may be large
        return fit_design(design, settings, how=how, progress=progress, folder=folder)
    opened = open_table(table, settings)
    step = len(opened.locales) if settings.scope == "joint" else how.at_once
    batches = [opened.locales[at : at + step] for at in range(0, len(opened.locales), step)]

    def designs(own: Settings) -> Iterator[Design]:
        ours = replace(opened, settings=own)
        counted = Counted(len(table.models), len(table.items)) if len(batches) > 1 else None
        for number, locales in enumerate(batches):
            if progress and len(batches) > 1:
                progress(f"{', '.join(locales)} ({number + 1} of {len(batches)})")
            yield prepare_locales(ours, locales, counted=counted)

    shelf = Shelf() if len(batches) > 1 else None
    return _fit(designs, _Way(how, progress or (lambda _: None), folder, shelf=shelf), settings)


def fit_design(
    design: Design,
    settings: Settings,
    *,
    how: Launcher = Local(),  # noqa: B008 (it cannot be changed)
    progress: Progress | None = None,
    folder: Path | None = None,
    bases: Collection[str] | None = None,
) -> Fit:
    """From a prepared design to the result: bases, variants, cube; see `fit`.

    Parameters
    ----------
    folder
        Where NUTS keeps finished locales, and takes them from if they lie there; None keeps them in memory.
    bases
        Those that may be made; None makes all that can be had.
    """

    def designs(own: Settings) -> Iterator[Design]:
        wanted = design if own.missing == settings.missing else design.other
        assert wanted is not None
        yield wanted

    way = _Way(how, progress or (lambda _: None), folder, bases)
    return _fit(designs, way, settings, twice=design.other is not None)


@dataclass(frozen=True)
class _Way:
    """How a fit runs, which changes no number; see `Run`, and `Shelf` for what memory cannot hold."""

    how: Launcher
    tell: Progress
    folder: Path | None = None
    bases: Collection[str] | None = None
    shelf: Shelf | None = None


@one_thread
def _fit(
    designs: Callable[[Settings], Iterator[Design]], way: _Way, settings: Settings, *, twice: bool = True
) -> Fit:
    """Fit designs of some locales each, one after the other, and put together what is kept of them.

    Parameters
    ----------
    designs : of all locales under these settings, or under those that treat missing answers the other way
    twice : whether there may be a second fit, which treats them so
    """
    engine = choose_engine(settings.engine)
    parts: list[Part] = []
    likeness = Likeness()
    for design in designs(settings):
        run = Run(design, settings, engine, way.how, way.tell, way.folder, way.bases)
        part, likeness = fit_part(run, likeness)
        parts.append(part if way.shelf is None else replace(part, variants=way.shelf.put(part.variants)))
        del design, run  # the answers of one batch at a time
    end = other_end(settings, [cell for part in parts for cell in part.uneven]) if twice else ""
    found = collect(parts, likeness, settings, engine.version, otherwise=bool(end))
    if not end:
        return found
    tell = way.tell
    other = _fit(
        designs,
        replace(way, tell=lambda line: tell(f"missing answers {end}: {line}"), folder=None),
        replace(settings, missing=end),
        twice=False,
    )
    return replace(found, other=other)
