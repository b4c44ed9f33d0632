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
from maskedadv.scoring.importers.paths import match_path, parts_of, path_fields

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
    parts
        The parts of its path that count, as `paths.parts_of` gives them; empty for the path itself.
    settings
        How answers were generated, by name, where the program says so.
    """

    path: Path
    task: str
    model: str
    time: str
    results: Mapping[str, Any] | None
    parts: tuple[str, ...] = ()
    settings: tuple[tuple[str, str], ...] = ()

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
    """A run, the rule for its task, and what templates know of it: groups of patterns, parts of its path."""

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
    mapped = [_mapped(r, *rule) for r in wanted if (rule := found[r.task]) is not None]
    named, notes = name_models(mapped, model)
    named, told = systems(named)
    chosen, left = choose_runs(named, run)
    if left and not chosen:
        times = listed(sorted({r.run.time or "unknown" for r in left}, reverse=True))
        raise NothingToImport(f"no run's time begins with {run!r}; the runs are of {times}.")
    if unmapped := sorted(task for task, rule in found.items() if rule is None):
        notes.append(f"not mapped, left out: {listed(unmapped)}; map them with --map")
    if left:
        notes.append(_other_runs([r.run for r in left], [r.run for r in chosen]))
    return chosen, [*told, *notes]


def _mapped(run: Run, rule: TaskRule, groups: Mapping[str, str]) -> MappedRun:
    parts = run.parts or parts_of(run.path, run.path)
    names = path_fields(parts) | dict(groups)
    if rule.path is not None:
        names |= match_path(rule.path, parts, in_folder=bool(run.parts), where=str(run.path))
    if rule.model is None and rule.path is not None and "model" in rule.path.groupindex:
        run = replace(run, model=rule.models.get(names["model"], names["model"]))
    elif rule.model is not None:
        name = rule.model.fill(names, {}, str(run.path))
        run = replace(run, model=rule.models.get(name, name))
    elif run.model:
        run = replace(run, model=rule.models.get(run.model, run.model))
    return MappedRun(run, rule, names)


def _other_runs(left: Sequence[Run], chosen: Sequence[Run]) -> str:
    """A note on runs left out, and on their folders where those may be what tells them apart."""
    note = f"other runs left out: {listed([r.path.name for r in left])}"
    folders = {str(r.path.parent) for r in left} - {str(r.path.parent) for r in chosen}
    if folders:
        note += (
            f"; they lie in folders of their own ({listed(sorted(folders), 3)}): if these say which language "
            'or model it is, write so in a mapping, such as language = "{path.1}" or model = "{folder}"'
        )
    return note


def bare_name(task: str) -> str:
    """A task's name without what programs put around it.

    "community|toy_en|0" (lighteval), "inspect_evals/toy_en" and "toy_en(shots=0)" (Inspect) are all "toy_en".
    """
    parts = task.split("(")[0].split("|")
    return (parts[0] if len(parts) < 3 else parts[1]).rsplit("/", 1)[-1]


def _is_named(task: str, pattern: str) -> bool:
    return fnmatchcase(task, pattern) or fnmatchcase(bare_name(task), pattern)


def name_models(mapped: Sequence[MappedRun], model: str | None) -> tuple[list[MappedRun], list[str]]:
    """Give every log its model: its own, or the user's name for it.

    A log that nothing names takes the user's name, else that of the other logs in its folder, where they are
    all of one model; else it is left out, where others have names. That holds for logs with a time in their
    name; programs that wrote none had one folder for all models.

    Returns
    -------
    The logs that have a model, and notes.

    Raises
    ------
    UnknownModel
        Nothing names the model of any log.
    MixedRuns
        A name was given for logs of several models that have names.
    """
    names = sorted({each.run.model for each in mapped if each.run.model})
    nameless = [each for each in mapped if not each.run.model]
    if model is not None and (len(names) < 2 or nameless):
        instead = len(names) < 2
        return [_named(each, model) if instead or not each.run.model else each for each in mapped], []
    if model is not None:
        raise MixedRuns(
            f"these logs are of {len(names)} models ({listed(names)}); one name cannot stand for all of them."
        )
    notes, given, out = [], dict[Path, str](), set[Path]()
    for each in nameless:
        path = each.run.path
        beside = {r.run.model for r in mapped if r.run.path.parent == path.parent and r.run.model}
        if len(beside) == 1 and each.run.time:
            (given[path],) = beside
        elif names and each.run.time:
            out.add(path)
        else:
            raise UnknownModel(f"{path}: nothing beside it says of which model it is; name it with --model.")
    if given:
        files = listed([path.name for path in given])
        notes.append(f"nothing names the model of {files}; taken for that of the other logs in the folder")
    if out:
        files = listed(sorted(map(str, out)))
        notes.append(f"nothing names the model of {files}, left out; name it with --model")
    kept = [each for each in mapped if each.run.path not in out]
    return [_named(r, given[r.run.path]) if r.run.path in given else r for r in kept], notes


def _named(mapped: MappedRun, model: str) -> MappedRun:
    return replace(mapped, run=replace(mapped.run, model=model))


def systems(mapped: Sequence[MappedRun]) -> tuple[list[MappedRun], list[str]]:
    """Runs of one model and task under other generation settings, named as systems of their own.

    Returns
    -------
    The runs, those of such a model with the differing settings behind its name, and a note on each.
    """
    again: dict[tuple[str, ...], set[tuple[tuple[str, str], ...]]] = {}
    for each in mapped:
        again.setdefault(_what(each), set()).add(each.run.settings)
    several = {key[0] for key, settings in again.items() if len(settings) > 1}
    notes, names = [], dict[tuple[str, tuple[tuple[str, str], ...]], str]()
    for model in sorted(several):
        settings = sorted({each.run.settings for each in mapped if each.run.model == model})
        keys = sorted({key for one in settings for key, _ in one})
        odd = [key for key in keys if len({dict(one).get(key, "not set") for one in settings}) > 1]
        for one in settings:
            own = ", ".join(f"{key}={dict(one)[key]}" for key in odd if key in dict(one))
            names[model, one] = f"{model} ({own})" if own else model
        differ = "; ".join(f"{key} {_values(key, settings)}" for key in odd)
        notes.append(
            f"the runs of {model} are {len(settings)} systems: they differ in gen_kwargs ({differ}); name "
            "them with model or [task.models] in a mapping, or take one with --run"
        )
    return [_named(r, names.get((r.run.model, r.run.settings), r.run.model)) for r in mapped], notes


def _values(key: str, settings: Sequence[tuple[tuple[str, str], ...]]) -> str:
    values = {dict(one).get(key, "not set") for one in settings}
    return ", ".join(sorted(values, key=lambda v: (not v.isdigit(), int(v) if v.isdigit() else 0, v)))


def _what(mapped: MappedRun) -> tuple[str, ...]:
    """What has to be the same for two logs to be runs of one thing: model, task, and what the path says."""
    rule, names = mapped.rule, mapped.names
    used = [f for t in (rule.language, rule.item, rule.subset) if t is not None for _, f in t.parts]
    told = {".".join(path) for path in used} & set(names)
    return (mapped.run.model, mapped.run.task, *(names[name] for name in sorted(told)))


def choose_runs(mapped: Iterable[MappedRun], run: str) -> tuple[list[MappedRun], list[MappedRun]]:
    """One run per model and task: the newest, or the newest of those whose time begins with `run`.

    Returns
    -------
    The chosen runs, and those left out.

    Raises
    ------
    MixedRuns
        Two runs of one task cannot be told apart by time.
    """
    groups: dict[tuple[str, ...], list[MappedRun]] = {}
    for candidate in mapped:
        groups.setdefault(_what(candidate), []).append(candidate)
    chosen, left = [], []
    for (model, task, *_), group in groups.items():
        wanted = group if run == "newest" else [r for r in group if r.run.time.startswith(run)]
        wanted.sort(key=lambda r: r.run.time)
        if len(wanted) > 1 and wanted[-1].run.time == wanted[-2].run.time:
            raise MixedRuns(
                f"task {task} of {model} was logged more than once and the files' times do not differ "
                f"({wanted[-2].run.path}, {wanted[-1].run.path}); import one of them."
            )
        chosen += wanted[-1:]
        left += [r for r in group if r not in wanted[-1:]]
    return chosen, left


def listed(names: Sequence[object], shown: int = 5) -> str:
    """The first names, and how many more there are."""
    more = f" and {len(names) - shown} more" if len(names) > shown else ""
    return ", ".join(str(name) for name in names[:shown]) + more
