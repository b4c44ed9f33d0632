"""`maskedadv.fit`: from a response table to a `Fit`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from maskedadv.design.accuracy_filter import apply_floor
from maskedadv.design.blocks import Block, build_block, choose_locales, observed_values, require_shared_items
from maskedadv.design.logits import rated_values
from maskedadv.diagnostics.check import sampling_warnings
from maskedadv.engines import choose_engine
from maskedadv.errors import BadSetting
from maskedadv.gaps.variants import wanted_floor
from maskedadv.maximum_likelihood.block_estimate import Fitted
from maskedadv.maximum_likelihood.estimators import estimate_blocks
from maskedadv.responses import Responses, read_responses
from maskedadv.result.collect import collect
from maskedadv.result.draws import FLOOR_FOLDER, Posterior
from maskedadv.result.fit_result import Fit
from maskedadv.sampling.locales import estimate_locales
from maskedadv.sampling.priors import Priors
from maskedadv.settings import Settings
from maskedadv.vocabulary import SUBSETS

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
    values = observed_values(responses, settings.response)
    locales = choose_locales(responses, settings.locale, settings.pivot)
    require_shared_items(responses, values, locales, settings.pivot)
    rated = rated_values(responses, settings.response)
    keep, dropped = apply_floor(responses, rated, locales, settings.pivot, settings.min_accuracy)
    engine = choose_engine(settings.engine)
    tell = progress or (lambda _: None)
    blocks: list[tuple[Block, tuple[str, ...]]] = []
    for subset, served in _tasks(locales, settings.scope):
        rows = keep[[locales.index(k) for k in served]]
        block = build_block(
            responses, values, subset=subset, locales=served, pivot=settings.pivot, keep_model=rows
        )
        if block is not None:
            blocks.append((block, served))
    if settings.method == "nuts":
        estimates, posteriors = estimate_locales(
            blocks, responses, settings, engine, jobs=jobs, tell=tell, folder=folder
        )
    else:
        posteriors = {}
        estimates = estimate_blocks(
            [(block, _name(block, served)) for block, served in blocks],
            settings,
            engine,
            n_items=len(responses.items),
            jobs=jobs,
            tell=tell,
        )
    fitted = [Fitted(b, served, e) for (b, served), e in zip(blocks, estimates, strict=True)]
    chance = wanted_floor(responses, settings)
    floored: list[Fitted] = []
    floor_posteriors: dict[str, Posterior] = {}
    if chance is not None and settings.method == "nuts":
        floors, floor_posteriors = estimate_locales(
            blocks,
            responses,
            settings,
            engine,
            jobs=jobs,
            tell=tell,
            folder=folder and folder / FLOOR_FOLDER,
            chance=chance,
        )
        floored = [Fitted(b, served, e) for (b, served), e in zip(blocks, floors, strict=True)]
    elif chance is not None:
        floors = estimate_blocks(
            [(block, _name(block, served)) for block, served in blocks],
            settings,
            engine,
            n_items=len(responses.items),
            jobs=jobs,
            tell=tell,
            chance=chance,
        )
        floored = [Fitted(b, served, e) for (b, served), e in zip(blocks, floors, strict=True)]
    result = collect(responses, settings, engine, locales, fitted, floored, dropped, rated, keep)
    if posteriors:
        result.info["warnings"] += sampling_warnings(posteriors)
        result.info["warnings"] += sampling_warnings(floor_posteriors, "floor")
    return replace(result, posteriors=posteriors, floor_posteriors=floor_posteriors)


def _name(block: Block, served: tuple[str, ...]) -> str:
    place = served[0] if len(served) == 1 else f"{len(served)} locales"
    return f"{place} {SUBSETS[block.subset]}"


def _tasks(locales: list[str], scope: str) -> list[tuple[int, tuple[str, ...]]]:
    """(subset, locales served) of every block."""
    if scope == "joint":
        first: list[tuple[int, tuple[str, ...]]] = [(0, tuple(locales))]
        return first + [(1, (k,)) for k in locales]
    return [(subset, (k,)) for k in locales for subset in (0, 1)]
