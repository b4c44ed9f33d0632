"""One run per model and task: whose logs these are, which of several runs counts, which rule maps each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from maskedadv.errors import MixedRuns, NothingToImport, UnknownModel
from maskedadv.files.walk import files_below, is_data
from maskedadv.scoring.importers.mapping import TaskRule, find_rule

TIME = r"\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}(?:\.\d+)?"


@dataclass(frozen=True)
class Run:
    """One log.

    Attributes
    ----------
    path, task, model
        `model` is empty where nothing names it.
    time
        When it was run, sortable as text, or ''.
    results
        What the program wrote about the run as a whole, or None.
    """

    path: Path
    task: str
    model: str
    time: str
    results: Mapping[str, Any] | None

    def of_task(self, key: str) -> Any:
        """What the results say of the task under `key`, or None."""
        section = (self.results or {}).get(key)
        return section.get(self.task) if isinstance(section, Mapping) else None

    def scores(self) -> Mapping[str, Any]:
        """The scores of the task by metric; none where the results file gives none."""
        scores = self.of_task("results")
        return scores if isinstance(scores, Mapping) else {}


@dataclass(frozen=True)
class MappedRun:
    """A run, the rule for its task, and the named groups of the rule's pattern."""

    run: Run
    rule: TaskRule
    names: Mapping[str, str]


def files_under(folder: Path, suffixes: tuple[str, ...]) -> list[Path]:
    """Files under a folder whose names end so, sorted; links to folders are followed, each folder once.

    Raises
    ------
    UnreadableFile
        A folder cannot be listed, so that logs in it would be missed.
    """

    return [path for path in files_below(folder) if path.name.endswith(suffixes) and is_data(path)]


def map_runs(
    runs: Sequence[Run], rules: Sequence[TaskRule], *, tasks: Sequence[str], model: str | None, run: str
) -> tuple[list[MappedRun], list[str]]:
    """Choose the runs to read.

    Parameters
    ----------
    tasks
        Shell patterns of the tasks wanted; all if empty.
    model
        A name for the model, instead of the logs' own.
    run
        "newest", or how the time of the wanted runs begins.

    Returns
    -------
    The runs to read, and notes on what was left out.

    Raises
    ------
    NothingToImport, UnknownModel, MixedRuns
    """
    wanted = [r for r in runs if not tasks or any(_is_named(r.task, pattern) for pattern in tasks)]
    if not wanted:
        raise NothingToImport(
            f"there are no logs of the tasks {listed(tasks)}."
            if tasks
            else "no log lies under the paths given."
        )
    found = {r.task: find_rule(bare_name(r.task), rules) for r in wanted}
    chosen, left = choose_runs(name_models([r for r in wanted if found[r.task]], model), run)
    if left and not chosen:
        times = listed(sorted({r.time or "unknown" for r in left}, reverse=True))
        raise NothingToImport(f"no run's time begins with {run!r}; the runs are of {times}.")
    notes = []
    if unmapped := sorted(task for task, rule in found.items() if rule is None):
        notes.append(f"not mapped, left out: {listed(unmapped)}; map them with --map")
    if left:
        notes.append(f"other runs left out: {listed([r.path.name for r in left])}")
    return [MappedRun(r, *rule) for r in chosen if (rule := found[r.task]) is not None], notes


def bare_name(task: str) -> str:
    """A task's name without what programs put around it.

    "community|toy_en|0" (lighteval), "inspect_evals/toy_en" and "toy_en(shots=0)" (Inspect) are all "toy_en".
    """
    parts = task.split("(")[0].split("|")
    return (parts[0] if len(parts) < 3 else parts[1]).rsplit("/", 1)[-1]


def _is_named(task: str, pattern: str) -> bool:
    return fnmatchcase(task, pattern) or fnmatchcase(bare_name(task), pattern)


def name_models(runs: Sequence[Run], model: str | None) -> list[Run]:
    """Give every log its model: its own, or the user's name for it.

    Raises
    ------
    UnknownModel
        Nothing names the model of a log.
    MixedRuns
        A name was given for logs of several models.
    """
    names = sorted({run.model for run in runs if run.model})
    if model is not None and len(names) > 1:
        raise MixedRuns(
            f"these logs are of {len(names)} models ({listed(names)}); one name cannot stand for all of them."
        )
    for run in runs:
        if model is None and not run.model:
            raise UnknownModel(
                f"{run.path}: nothing beside it says of which model it is; name it with --model."
            )
    return [replace(run, model=model or run.model) for run in runs]


def choose_runs(runs: Iterable[Run], run: str) -> tuple[list[Run], list[Run]]:
    """One run per model and task: the newest, or the newest of those whose time begins with `run`.

    Returns
    -------
    The chosen runs, and those left out.

    Raises
    ------
    MixedRuns
        Two runs of one task cannot be told apart by time.
    """
    groups: dict[tuple[str, str], list[Run]] = {}
    for candidate in runs:
        groups.setdefault((candidate.model, candidate.task), []).append(candidate)
    chosen, left = [], []
    for (model, task), group in groups.items():
        wanted = group if run == "newest" else [r for r in group if r.time.startswith(run)]
        wanted.sort(key=lambda r: r.time)
        if len(wanted) > 1 and wanted[-1].time == wanted[-2].time:
            raise MixedRuns(
                f"task {task} of {model} was logged more than once and the files' times do not differ "
                f"({wanted[-2].path}, {wanted[-1].path}); import one of them."
            )
        chosen += wanted[-1:]
        left += [r for r in group if r not in wanted[-1:]]
    return chosen, left


def listed(names: Sequence[object], shown: int = 5) -> str:
    """The first names, and how many more there are."""
    more = f" and {len(names) - shown} more" if len(names) > shown else ""
    return ", ".join(str(name) for name in names[:shown]) + more
