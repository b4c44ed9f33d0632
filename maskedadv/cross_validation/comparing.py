"""`compare`: from a response table to candidates scored on answers that they have not seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from maskedadv.cross_validation.comparison import Comparison
from maskedadv.cross_validation.plan import make_plan
from maskedadv.cross_validation.running import run_plan
from maskedadv.launchers.kinds import Launcher, Local
from maskedadv.responses import Responses, read_responses


def compare(
    responses: str | Path | pd.DataFrame | Responses,
    *,
    scheme: str = "block",
    folds: int = 5,
    candidates: Sequence[str] | None = None,
    nuts: bool = False,
    jobs: int = 1,
    launcher: Launcher | None = None,
    progress: Callable[[str], None] = lambda _: None,
    **arguments: Any,
) -> Comparison:
    """Hold answers out, predict them by every candidate, and score the predictions.

    All candidates have the same folds and are scored on the same answers: every one is an answer with
    `correct` (0 or 1) whose fold was left out when its prediction was made.

    Parameters
    ----------
    responses
        A response table: path, DataFrame or `Responses`; it needs the column `correct`.
    scheme
        `block`, `random`, `item` (new items) or `model` (new models).
    folds
        Number of folds, 2 to 100.
    candidates
        Names of candidates; None takes all that the table allows.
    nuts
        Whether candidates sampled by NUTS are among them where none is named; they take minutes.
    jobs
        Folds fitted by maximum likelihood at the same time; changes no number.
    launcher
        Where folds are fitted, posteriors too, in the place of `jobs`; see `maskedadv.launchers`.
    progress
        Called with a line of text as folds are done.
    arguments
        Those of `maskedadv.fit` that say which part of the table is used and how Stan is run: locale,
        pivot, min_accuracy, options, guessing, engine, seed, chains, warmup, draws, adapt_delta,
        max_treedepth, priors.

    Raises
    ------
    InputError
        One of its named kinds: bad table, unknown candidate, a candidate that the table cannot serve.
    NotEstimable
        No answer can be held out.

    Examples
    --------
    >>> import maskedadv
    >>> answers = maskedadv.datasets.global_mmlu_lite()
    >>> found = maskedadv.compare(answers, locale="zh", candidates=["joint", "marginal"])
    >>> found.scores[["candidate", "bce", "bce_sd"]]  # doctest: +SKIP
    """
    plan = make_plan(
        read_responses(responses), scheme=scheme, folds=folds, candidates=candidates, nuts=nuts, **arguments
    )
    return run_plan(plan, how=launcher or Local(jobs), progress=progress)
