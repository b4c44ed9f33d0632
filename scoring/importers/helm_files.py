"""Which runs of HELM lie under some paths: folders with run_spec.json and per_instance_stats.json."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from maskedadv.errors import AggregateOnly, BrokenLog, WrongFormat
from maskedadv.files.sources import existing
from maskedadv.scoring.importers.jsonstream import CUT, open_log, read_members
from maskedadv.scoring.importers.paths import parts_of
from maskedadv.scoring.importers.runs import Run, files_under

ANSWERS, SPEC, STATE = "per_instance_stats.json", "run_spec.json", "scenario_state.json"
_HINT = "give folders of runs of HELM (run_spec.json beside per_instance_stats.json)"


def find_helm_runs(paths: Sequence[Path]) -> list[Run]:
    """All runs under folders; of a run's file, the run.

    A run's name up to its first colon, with its arguments but the model, is the task.

    Raises
    ------
    UnreadableFile, WrongFormat, BrokenLog, AggregateOnly
    """
    runs: dict[Path, Run] = {}
    for given in paths:
        existing(given, _HINT)
        folder = given if given.is_dir() else given.parent
        found = [file for file in files_under(folder, (ANSWERS,)) if file.name == ANSWERS]
        if not given.is_dir():
            found = [file for file in found if file.parent == folder and given.name in {ANSWERS, SPEC, STATE}]
        for file in found:
            spec = _load_spec(file.parent / SPEC)
            runs[file.resolve()] = Run(
                file, _task(spec), _model(spec), "", spec, parts=parts_of(file, folder)
            )
        if (
            not found
            and given.is_dir()
            and any(f.name == "stats.json" for f in files_under(given, (".json",)))
        ):
            raise AggregateOnly(
                f"{given} holds stats.json of HELM, scores per run only; per_instance_stats.json is needed."
            )
        if not found:
            raise WrongFormat(f"{given}: no {ANSWERS} lies there; {_HINT}.")
    return list(runs.values())


def count_options(answers: Path) -> dict[str, int]:
    """How many options each instance had, from scenario_state.json beside the answers; empty without one."""
    state = answers.parent / STATE
    counts: dict[str, int] = {}
    if not state.is_file():
        return counts
    for name, value in read_members(state, "request_states"):
        instance = value.get("instance") if name == "request_states" and isinstance(value, Mapping) else None
        if value is CUT or not isinstance(instance, Mapping):
            continue
        references = instance.get("references")
        if isinstance(references, list) and 2 <= len(references) <= 1000:
            counts[str(instance.get("id"))] = len(references)
    return counts


def _load_spec(path: Path) -> Mapping[str, Any]:
    if not path.is_file():
        raise BrokenLog(f"{path} is missing; it names the model and the scenario of the answers beside it.")
    try:
        with open_log(path) as file:
            spec = json.loads(file.read())
    except (ValueError, RecursionError) as error:
        raise BrokenLog(f"{path} is not JSON ({error}).") from error
    if not isinstance(spec, Mapping) or not isinstance(spec.get("name"), str):
        raise BrokenLog(f"{path} does not name a run of HELM.")
    return spec


def _model(spec: Mapping[str, Any]) -> str:
    adapter = spec.get("adapter_spec")
    for key in ("model", "model_deployment"):
        if isinstance(adapter, Mapping) and isinstance(adapter.get(key), str) and adapter[key]:
            return str(adapter[key])
    return ""


def _task(spec: Mapping[str, Any]) -> str:
    """quiz(language=de) of quiz:language=de,model=org_m."""
    name, _, arguments = str(spec["name"]).partition(":")
    kept = [a for a in arguments.split(",") if a and not a.startswith(("model=", "model_deployment="))]
    return name + (f"({', '.join(kept)})" if kept else "")
