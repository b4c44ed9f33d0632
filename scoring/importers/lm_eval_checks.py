"""What the results file of lm-evaluation-harness says against reading a log as it stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from maskedadv.errors import LimitedRun, MixedRuns
from maskedadv.scoring.importers.answers import Note, accuracy
from maskedadv.scoring.importers.mapping import TaskRule
from maskedadv.scoring.importers.runs import Run, listed


def check_limit(run: Run, *, allow_limited: bool) -> list[str]:
    """Notes on whether a run was limited to part of its questions.

    Raises
    ------
    LimitedRun
        It was, and this is not allowed.
    """
    if run.results is None:
        return [
            f"no results file beside the log: the model is called {run.model} after its folder or --model, "
            "and whether the run was limited cannot be told"
        ]
    samples, config = run.of_task("n-samples"), run.results.get("config")
    limit = config.get("limit") if isinstance(config, Mapping) else None
    if isinstance(samples, Mapping):
        limited = samples.get("effective") != samples.get("original")
        extent = f"{samples.get('effective')} of {samples.get('original')} questions"
    else:
        limited, extent = limit is not None, f"--limit {limit}"
    if limited and not allow_limited:
        raise LimitedRun(
            f"{run.path}: the run of {run.task} was limited ({extent}); allow it with --allow-limited."
        )
    return [f"limited run: {extent}"] if limited else []


def compare_totals(run: Run, rule: TaskRule, frame: pd.DataFrame, questions: int) -> list[str | Note]:
    """Where the log's own totals differ from what was read."""
    notes: list[str | Note] = []
    samples = run.of_task("n-samples")
    expected = samples.get("effective") if isinstance(samples, Mapping) else None
    if isinstance(expected, int) and questions != expected:
        notes.append(f"the log holds {questions} questions, its results file says {expected}")
    ours = accuracy(frame["correct"])
    for metric in [rule.correct] if rule.correct else ["acc", "exact_match"]:
        logged = [v for k, v in run.scores().items() if k.split(",")[0] == metric]
        if logged and isinstance(logged[0], int | float) and abs(logged[0] - ours) > 1e-6:
            notes.append(comparison(metric, float(logged[0]), ours))
    return notes


def comparison(metric: str, logged: float, read: float, advice: str = "") -> Note:
    """A note that the log's own score and the one of the answers read here differ."""
    text = f"the log reports {metric} {logged:.4g}, the answers read here give {read:.4g}{advice}"
    return Note(text, f"compare {metric}", metric, logged, read)


def differing_settings(runs: Sequence[Run]) -> list[str]:
    """Settings that differ between the tasks of one model; another revision of the model is refused.

    Raises
    ------
    MixedRuns
    """
    notes = []
    for model in sorted({run.model for run in runs}):
        own = [run for run in runs if run.model == model and run.results is not None]
        revisions = {str(_config(run, "model_sha")) for run in own if _config(run, "model_sha")}
        if len(revisions) > 1:
            raise MixedRuns(
                f"the logs of {model} are of {len(revisions)} revisions ({listed(sorted(revisions))}); "
                "import one at a time, or choose with --run or --task."
            )
        settings = {
            "number of examples in the prompt": {str(run.of_task("n-shot")) for run in own},
            "chat template": {str((run.results or {}).get("chat_template_sha")) for run in own},
            "system instruction": {str((run.results or {}).get("system_instruction_sha")) for run in own},
            "model arguments": {str(_config(run, "model_args")) for run in own},
            "way of generating": {", ".join(f"{k}={v}" for k, v in run.settings) or "-" for run in own},
        }
        notes += [
            f"{model}: the {what} differs between tasks ({listed(sorted(values))}); gaps then hold that too"
            for what, values in settings.items()
            if len(values) > 1
        ]
    return notes


def _config(run: Run, key: str) -> Any:
    config = (run.results or {}).get("config")
    return config.get(key) if isinstance(config, Mapping) else None
