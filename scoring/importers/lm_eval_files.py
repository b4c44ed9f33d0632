"""Which logs of lm-evaluation-harness lie under some paths, of which model, task and run each is.

From 0.4.3 on: `samples_<task>_<time>.jsonl` beside `results_<time>.json`, a folder per model. Before:
`<model arguments>_<task>.jsonl` beside `results.json`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from maskedadv.errors import AggregateOnly, BrokenLog, WrongFormat
from maskedadv.files.sources import existing
from maskedadv.scoring.importers.jsonstream import MAX_RECORD, open_log
from maskedadv.scoring.importers.paths import parts_of
from maskedadv.scoring.importers.runs import TIME, Run, files_under

_NEW_NAME = re.compile(rf"samples_(?P<task>.+?)(?:_(?P<time>{TIME}))?(?:\.[^.]+)*\.jsonl?")
_MODEL_ARGUMENTS = ("peft", "delta", "pretrained", "model", "path", "engine")


def find_runs(paths: Sequence[Path], known_task: Callable[[str], bool]) -> tuple[list[Run], list[str]]:
    """All logs under files and folders.

    Parameters
    ----------
    paths
        Logs, or folders searched through.
    known_task
        Whether a task name is mapped; tells arguments and task apart in a file name of the old layout
        when there is no results file.

    Returns
    -------
    The logs, and names of files that look like none.

    Raises
    ------
    UnreadableFile, WrongFormat, AggregateOnly, BrokenLog
    """
    runs, others = [], []
    seen: set[Path] = set()
    folders: dict[Path, list[Mapping[str, Any]]] = {}
    for path in paths:
        existing(path, "give sample logs or the folder they are in")
        for log in files_under(path, (".jsonl",)) if path.is_dir() else [path]:
            if log.resolve() in seen:
                continue
            seen.add(log.resolve())
            if not path.is_dir() and log.suffix not in {".jsonl", ".json"}:
                raise WrongFormat(
                    f"{log} is not a sample log of lm-evaluation-harness, which ends in .jsonl."
                )
            run = _identify(log, folders, known_task)
            if run is not None:
                parts = parts_of(log, path) if log != path else ()
                runs.append(replace(run, parts=parts, settings=_generation(run.results)))
            elif path.is_dir():
                others.append(log.name)
            elif log.suffix == ".json" and _results(log) is not None:
                raise AggregateOnly(
                    f"{log} holds scores per task only; import the samples_*.jsonl beside it, which "
                    "lm-evaluation-harness writes with --log_samples."
                )
            else:
                raise WrongFormat(
                    f"{log}: neither the file's name nor a results file beside it tells the task; "
                    "expected samples_<task>_<time>.jsonl."
                )
    if not runs:
        aggregates = [
            f for p in paths if p.is_dir() for f in files_under(p, (".json",)) if _results(f) is not None
        ]
        if aggregates:
            raise AggregateOnly(
                f"{aggregates[0]} holds scores per task only and no sample log lies near it; "
                "lm-evaluation-harness writes them with --log_samples."
            )
    return runs, others


def _identify(
    path: Path, folders: dict[Path, list[Mapping[str, Any]]], known_task: Callable[[str], bool]
) -> Run | None:
    if path.parent not in folders:
        found = [_results(file) for file in sorted(path.parent.glob("*.json"))]
        folders[path.parent] = [results for results in found if results is not None]
    beside = folders[path.parent]
    match = _NEW_NAME.fullmatch(path.name)
    if match:
        time = match["time"] or ""
        own = [r for r in beside if time and r["file"].endswith(f"_{time}.json")]
        own = own or ([] if time else [r for r in beside if match["task"] in r["configs"]])
        results = own[0] if len(own) == 1 else None
        folder = path.parent.name  # the harness writes org/model as org__model
        name = folder.replace("__", "/", 1) if "__" in folder.strip("_") else ""
        return Run(path, match["task"], name if results is None else _model(results), time, results)
    if path.suffix != ".jsonl":
        return None
    for results in beside:
        # A later run into the same folder replaces results.json: the arguments tell whose it is.
        arguments = re.sub("[/=]", "__", str(_config(results).get("model_args") or ""))
        named = path.stem.removeprefix(f"{arguments}_")
        if named != path.stem and named in results["configs"]:
            return Run(path, named, _model(results), _time(results), results)
    ends = [path.stem[m.end() :] for m in re.finditer("_", path.stem)]
    task = next((end for end in ends if known_task(end)), None)
    return Run(path, task, "", "", None) if task else None


def _results(path: Path) -> Mapping[str, Any] | None:
    """A results file, or None if it is something else; its name is added under `file`."""
    if path.stat().st_size > MAX_RECORD:
        return None
    try:
        with open_log(path) as file:
            data = json.loads(file.read())
    except (BrokenLog, ValueError, RecursionError) as error:
        if path.name.startswith("results"):
            raise BrokenLog(f"{path} is a results file that cannot be read ({error}).") from error
        return None
    if not isinstance(data, dict) or not all(isinstance(data.get(k), dict) for k in ("results", "configs")):
        return None
    return {**data, "file": path.name}


def _model(results: Mapping[str, Any] | None) -> str:
    if results is None:
        return ""
    if isinstance(results.get("model_name"), str) and results["model_name"]:
        return str(results["model_name"])
    config = _config(results)
    arguments = config.get("model_args") or ""
    if isinstance(arguments, str):
        arguments = dict(pair.split("=", 1) for pair in arguments.split(",") if "=" in pair)
    if isinstance(arguments, Mapping):
        for key in _MODEL_ARGUMENTS:
            if arguments.get(key):
                return str(arguments[key])
    return str(config.get("model") or "")


def _config(results: Mapping[str, Any]) -> Mapping[str, Any]:
    config = results.get("config")
    return config if isinstance(config, Mapping) else {}


def _generation(results: Mapping[str, Any] | None) -> tuple[tuple[str, str], ...]:
    """How answers were generated (`--gen_kwargs`), by name."""
    given = _config(results or {}).get("gen_kwargs")
    if isinstance(given, str):
        given = dict(pair.split("=", 1) for pair in given.split(",") if "=" in pair)
    if not isinstance(given, Mapping):
        return ()
    return tuple(sorted((str(key), str(value)) for key, value in given.items() if value is not None))


def _time(results: Mapping[str, Any]) -> str:
    date = results.get("date")
    if not isinstance(date, int | float) or not 0 < date < 1e11:
        return ""
    return datetime.fromtimestamp(date, UTC).strftime("%Y-%m-%dT%H-%M-%S.%f")
