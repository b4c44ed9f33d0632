"""`maskedadv.fit`: from a response table to a `Fit`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from maskedadv.design.prepare import Design, prepare
from maskedadv.engines import choose_engine
from maskedadv.errors import BadSetting
from maskedadv.gaps.bases import Run, make_bases
from maskedadv.gaps.variants import make_variants
from maskedadv.responses import Responses, read_responses
from maskedadv.result.collect import collect
from maskedadv.result.fit_result import Fit
from maskedadv.sampling.priors import Priors
from maskedadv.settings import Settings

Progress = Callable[[str], None]


def fit(
    responses: str | Path | pd.DataFrame | Responses,
    *,
    method: str = "optimize",
    estimator: str | None = None,
    response: str = "binary",
    locale: str | Sequence[str] | None = None,
    scope: str = "locale",
    pivot: str = "en",
    min_accuracy: float = 0.35,
    interval: str | None = None,
    level: float = 0.95,
    replicates: int = 1000,
    engine: str = "auto",
    seed: int = 1,
    chains: int = 4,
    warmup: int = 1000,
    draws: int = 1000,
    adapt_delta: float = 0.9,
    max_treedepth: int = 10,
    metric: str = "diag_e",
    priors: Mapping[str, float] | Priors | None = None,
    guessing: str | float = "auto",
    options: int | None = None,
    link: str = "auto",
    variants: str = "auto",
    jobs: int = 1,
    progress: Progress | None = None,
) -> Fit:
    """Estimate abilities and the three gaps of every model in every locale.

    Parameters
    ----------
    responses
        A response table: path, DataFrame or `Responses`; see `read_responses` for its columns.
    method
        `optimize`: maximum likelihood. `nuts`: the full posterior, see docs/explanation/nuts.md.
    estimator
        Under `optimize`, `joint` (default): abilities and sum-to-zero difficulties both free, the paper's
        estimator; inflates gaps by C/(C − 1) for C cells an item. `marginal`: difficulties integrated out
        over N(0, σ), σ estimated; unbiased with few models too. `auto`: `marginal` below 40 cells an item,
        else `joint`. Under `nuts` all give one posterior: `joint` samples difficulties, `marginal` integrates
        them out and draws them back, `auto` (default) takes the cheaper.
    response
        `binary`: `correct`. `soft`: Bernoulli quasi-likelihood on `p_correct` (`optimize` only). `crm`:
        continuous response model, normal on `crm_logit` or the logit of `p_correct`.
    locale
        Local languages to fit; None fits every language but the pivot.
    scope
        `locale`: each locale on its own rows. `joint`: one CA block over all locales, so that a CA item has
        one difficulty in all of them, and one CS block per locale.
    pivot
        Language to compare with.
    min_accuracy
        A model is left out of a locale unless its accuracy exceeds this in each of its cells; 0 keeps all.
    interval
        `robust`: sandwich, clustered by item. `information`: from the information matrix, the model taken
        as true. `bootstrap`: items resampled, percentile interval. `nuts` has equal-tailed posterior
        intervals.
    level
        Coverage of the intervals.
    replicates
        Bootstrap replicates.
    engine
        `auto`, `cmdstan` or `embedded`.
    seed
        Seed of the bootstrap (and of Stan).
    chains, warmup, draws, adapt_delta, max_treedepth, metric
        NUTS: number of chains, iterations of each before and after adaptation has ended, Stan's tuning.
    priors
        NUTS: names and numbers that replace defaults, such as {"gap": 1.0}; see docs/explanation/priors.md.
    guessing
        Floor of the `floor` variant: `chance`, 1/options of each item; a number for all items; `none`. `auto`
        takes `chance` where the number of options of every item is known. Binary responses only.
    options
        Number of options of the items that have none in a column `n_options`.
    link
        `english`: the `linked` variant, local_gap/λ − global_gap, with λ from the models' pivot-language
        abilities; needs 8 models. `auto` gives it where it can; `none` does not.
    variants
        `none` leaves out every variant that was not asked for, and the `variant` dimension of the cube.
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
    if locale is not None and not isinstance(locale, str | Sequence):
        raise BadSetting(f"locale must be a language code or several (is {locale!r}).")
    chosen = (locale,) if isinstance(locale, str) else locale
    settings = Settings(
        method=method,
        estimator=estimator or "",
        response=response,
        locale=None if chosen is None else tuple(chosen),
        scope=scope,
        pivot=pivot,
        min_accuracy=min_accuracy,
        interval=interval or "",
        level=level,
        replicates=replicates,
        engine=engine,
        seed=seed,
        chains=chains,
        warmup=warmup,
        draws=draws,
        adapt_delta=adapt_delta,
        max_treedepth=max_treedepth,
        metric=metric,
        priors=priors,
        guessing=str(guessing),
        options=options,
        link=link,
        variants=variants,
    )
    if not isinstance(jobs, int | np.integer) or jobs < 1:
        raise BadSetting(f"jobs must be a whole number of 1 or more (is {jobs!r}).")
    return run(read_responses(responses), settings, jobs=jobs, progress=progress)


def run(
    responses: Responses,
    settings: Settings,
    *,
    jobs: int = 1,
    progress: Progress | None = None,
    folder: Path | None = None,
) -> Fit:
    """Fit a checked table under checked settings; see `fit`.

    Parameters
    ----------
    folder
        Where NUTS keeps finished locales, and takes them from if they lie there; None keeps them in memory.
    """
    return fit_design(prepare(responses, settings), settings, jobs=jobs, progress=progress, folder=folder)


def fit_design(
    design: Design,
    settings: Settings,
    *,
    jobs: int = 1,
    progress: Progress | None = None,
    folder: Path | None = None,
) -> Fit:
    """From a prepared design to the result: bases, variants, cube."""
    engine = choose_engine(settings.engine)
    own = Run(design, settings, engine, jobs, progress or (lambda _: None), folder)
    bases = make_bases(own)
    return collect(own, bases, make_variants(own, bases))
