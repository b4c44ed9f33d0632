"""`maskedadv.fit`: from a response table to a `Fit`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection
from dataclasses import fields, replace
from pathlib import Path
from typing import Unpack, get_type_hints

import pandas as pd

from maskedadv.checks import Whole
from maskedadv.design.prepare import Design, prepare
from maskedadv.engines import choose_engine
from maskedadv.gaps.bases import Run, make_bases
from maskedadv.gaps.variants import make_variants
from maskedadv.responses import Responses, read_responses
from maskedadv.result.collect import collect
from maskedadv.result.fit_result import Fit
from maskedadv.settings import GROUPS, OPTIONS, Arguments, Settings, option_docs

Progress = Callable[[str], None]


def fit(
    responses: str | Path | pd.DataFrame | Responses,
    *,
    jobs: int = 1,
    progress: Progress | None = None,
    **arguments: Unpack[Arguments],
) -> Fit:
    """Estimate abilities and the gaps of every model in every locale.

    Parameters
    ----------
    responses
        A response table: path, DataFrame or `Responses`; see `read_responses` for its columns.
    OPTIONS
    jobs
        Blocks (locales, under `nuts`) fitted at the same time; changes no number.
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
    Whole(1, 10**6)("jobs", jobs)
    design = prepare(read_responses(responses), settings)  # and the table is let go: it may be large
    return fit_design(design, settings, jobs=jobs, progress=progress)


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


def fit_design(
    design: Design,
    settings: Settings,
    *,
    jobs: int = 1,
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
    engine = choose_engine(settings.engine, settings.response)
    tell = progress or (lambda _: None)
    own = Run(design, settings, engine, jobs, tell, folder, bases)
    made = make_bases(own)
    found = collect(own, made, make_variants(own, made))
    if design.other is None:
        return found
    end = "left-out" if settings.missing == "wrong" else "wrong"
    other = fit_design(
        design.other,
        replace(settings, missing=end),
        jobs=jobs,
        progress=lambda line: tell(f"missing answers {end}: {line}"),
        bases=bases,
    )
    return replace(found, other=other)
