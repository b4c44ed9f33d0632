"""Which details files of lighteval lie under some paths, of which model and run each is.

lighteval writes `details/<model>/<time>/details_<task>_<time>.parquet` and, beside `details`,
`results/<model>/results_<time>.json`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from maskedadv.errors import AggregateOnly, WrongFormat
from maskedadv.files.sources import existing
from maskedadv.scoring.importers.jsonstream import MAX_RECORD
from maskedadv.scoring.importers.paths import parts_of
from maskedadv.scoring.importers.runs import TIME, Run, files_under

_NAME = re.compile(rf"details_(?P<task>.+?)(?:_(?P<time>{TIME}))?\.parquet")


def find_details(paths: Sequence[Path]) -> list[Run]:
    """All details files under files and folders.

    Raises
    ------
    UnreadableFile, WrongFormat, AggregateOnly
    """
    runs: dict[Path, Run] = {}
    for path in paths:
        existing(path, "give details_*.parquet or the folder they are in")
        inside = files_under(path, (".parquet",)) if path.is_dir() else [path]
        for file in inside:
            if path.is_dir() and not file.name.startswith("details_"):
                continue
            match = _NAME.fullmatch(file.name)
            if match is None:
                what = "holds scores per task only" if file.suffix == ".json" else "is not a details file"
                error = AggregateOnly if file.suffix == ".json" else WrongFormat
                raise error(
                    f"{file} {what}; lighteval writes details_<task>_<time>.parquet with --save-details."
                )
            time = match["time"] or ""
            results = _find_results(file, match["task"], time)
            runs[file.resolve()] = Run(
                *(file, match["task"], _model(file, time, results), time, results),
                parts=parts_of(file, path) if file != path else (),
            )
        if (
            path.is_dir()
            and not runs
            and any(f.name.startswith("results_") for f in files_under(path, (".json",)))
        ):
            raise AggregateOnly(
                f"{path} holds results but no details; lighteval writes them with --save-details."
            )
    return list(runs.values())


def _find_results(file: Path, task: str, time: str) -> Mapping[str, Any] | None:
    """The results of the same time that name the task, looked for near the file."""
    if not time:
        return None
    name = f"results_{time}.json"
    folders = list(file.resolve().parents)
    found = [folder / name for folder in folders[:2] if (folder / name).is_file()]
    beside = next((folder.parent / "results" for folder in folders if folder.name == "details"), None)
    found += sorted(beside.rglob(name)) if beside is not None and beside.is_dir() else []
    matching = [r for r in map(_load, dict.fromkeys(found)) if r is not None and _names(r, task)]
    return matching[0] if len(matching) == 1 else None


def _load(path: Path) -> Mapping[str, Any] | None:
    if path.stat().st_size > MAX_RECORD:
        return None
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def _names(results: Mapping[str, Any], task: str) -> bool:
    scores = results.get("results")
    return isinstance(scores, Mapping) and task in {str(key).replace(":", "|") for key in scores} | set(
        scores
    )


def _model(file: Path, time: str, results: Mapping[str, Any] | None) -> str:
    general = (results or {}).get("config_general")
    if isinstance(general, Mapping) and general.get("model_name"):
        return str(general["model_name"])
    parts = file.parts
    if time and file.parent.name == time and "details" in parts:
        at = len(parts) - 1 - parts[::-1].index("details")
        return "/".join(parts[at + 1 : -2])
    return ""
