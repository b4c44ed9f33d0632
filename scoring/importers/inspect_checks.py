"""Whether a log of Inspect is whole: as many samples as it says, of all that it should be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from maskedadv.errors import LimitedRun
from maskedadv.scoring.importers.runs import Run


def check_count(run: Run, held: int) -> list[str]:
    """Whether the log holds as many samples as its header says."""
    header = run.results or {}
    results, config, dataset = (
        _table(header.get("results")),
        *(_table(header["eval"].get(key)) for key in ("config", "dataset")),
    )
    epochs, limit, size = config.get("epochs") or 1, config.get("limit"), dataset.get("samples")
    expected = results.get("total_samples")
    if not isinstance(expected, int) and isinstance(size, int) and isinstance(epochs, int):
        expected = (min(size, limit) if isinstance(limit, int) else size) * epochs
    if not isinstance(expected, int) or expected == held or config.get("sample_id"):
        return []
    return [f"the log holds {held} samples, its header says {expected}"]


def check_complete(run: Run, *, allow_limited: bool) -> list[str]:
    """Refuse runs of part of the samples, and runs that did not end well, unless they are allowed."""
    header = run.results or {}
    config, dataset = (_table(header["eval"].get(key)) for key in ("config", "dataset"))
    limit, size = config.get("limit"), dataset.get("samples")
    problems = []
    if header.get("status", "success") != "success":
        problems.append(f"it ended with status {header.get('status')!r}")
    if config.get("sample_id"):
        problems.append("it was limited to chosen samples")
    elif limit is not None and not (isinstance(limit, int) and isinstance(size, int) and size <= limit):
        problems.append(f"it was limited ({limit})")
    if problems and not allow_limited:
        raise LimitedRun(f"{run.path}: {' and '.join(problems)}; allow it with --allow-limited.")
    return problems


def _table(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
