"""Work off units: a model is loaded once for all its pieces; what fails is recorded, and the rest goes on."""

from __future__ import annotations

import importlib
import json
import multiprocessing
import os
import queue
import sys
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

from maskedadv.errors import BadSetting, MaskedadvError, PackageMissing
from maskedadv.files.atomic import write_whole
from maskedadv.scoring.endpoints.secrets import hide_of
from maskedadv.scoring.endpoints.settings import ApiSettings
from maskedadv.scoring.launch.devices import Slot, is_spoilt
from maskedadv.scoring.launch.plan import Unit
from maskedadv.scoring.launch.work import keeping
from maskedadv.scoring.models.settings import HfSettings

ERRORS = "_errors"
Identities = Mapping[str, Mapping[str, Any]]


def identify_units(
    units: Sequence[Unit], out: Path, report: Callable[[str], None]
) -> dict[str, dict[str, Any]]:
    """The models' parts of the fingerprint, by model; a model that has none is recorded as failed.

    Raises
    ------
    BadSetting, PackageMissing
        What is wrong with every model alike.
    """
    found = {}
    for unit in units:
        try:
            found[unit.model] = backend_of(unit).identify(unit.settings)
        except (BadSetting, PackageMissing):
            raise
        except Exception as error:
            _fail(out, unit, error, report)
    return found


def largest_first(units: Sequence[Unit]) -> list[Unit]:
    """Models by their number of parameters, so that the longest work is not begun last."""
    return sorted(units, key=lambda unit: -backend_of(unit).parameters(unit.settings))


def run_units(
    units: Sequence[Unit],
    identities: Identities,
    out: Path,
    report: Callable[[str], None],
    slots: Sequence[Slot] = (),
    *,
    again: bool = False,
) -> list[str]:
    """Score all units that are not done, in their order.

    Parameters
    ----------
    identities
        From `identify_units`; units without one count as failed.
    slots
        From `devices.assign`: processes at a time, each with GPUs of its own; none works in this process.
    again
        Whether pieces with answers that failed for passing reasons (a server, memory) are done anew.

    Returns
    -------
    Names of the models that failed. Why is in the folder `_errors`.
    """
    failed = [unit.model for unit in units if unit.model not in identities]
    ready = [unit for unit in units if unit.model in identities]
    if not slots:
        done = [run_unit(unit, identities[unit.model], out, report, again=again) for unit in ready]
        return failed + [unit.model for unit, good in zip(ready, done, strict=True) if not good]
    waiting: queue.SimpleQueue[Unit] = queue.SimpleQueue()
    for unit in ready:
        waiting.put(unit)

    def serve(slot: Slot) -> None:
        while True:
            try:
                unit = waiting.get_nowait()
            except queue.Empty:
                return
            if not _run_apart(slot, unit, identities[unit.model], out, again):
                failed.append(unit.model)

    threads = [threading.Thread(target=serve, args=(slot,)) for slot in slots]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return failed


def _run_apart(slot: Slot, unit: Unit, identity: Mapping[str, Any], out: Path, again: bool) -> bool:
    """Score a unit in a process of its own; in a second one, if the first lost its GPU."""
    for last in (False, True):
        code = start_worker(slot, unit, identity, out, again)
        if code < 0:
            record_failure(out, unit, f"The process was ended by signal {-code}.")
        if code == 0 or last or not is_spoilt(read_errors(out).get(unit.model, "")):
            break
    return code == 0


def start_worker(slot: Slot, unit: Unit, identity: Mapping[str, Any], out: Path, again: bool) -> int:
    """Run a process that scores one unit, and wait for its exit code."""
    worker = multiprocessing.get_context("spawn").Process(
        target=work_on, args=(slot, unit, identity, out, again)
    )
    worker.start()
    worker.join()
    return worker.exitcode or 0


def run_unit(
    unit: Unit,
    identity: Mapping[str, Any],
    out: Path,
    report: Callable[[str], None],
    *,
    again: bool = False,
) -> bool:
    """Score what is missing of one unit; False if it failed, which is recorded."""
    try:
        score_unit(unit, identity, out, report, again=again)
    except Exception as error:  # whatever happens to one model, the others go on
        _fail(out, unit, error, report)
        return False
    _error_path(out, unit).unlink(missing_ok=True)
    return True


def score_unit(
    unit: Unit,
    identity: Mapping[str, Any],
    out: Path,
    report: Callable[[str], None],
    *,
    again: bool = False,
) -> None:
    """Score what is missing of one unit; answers are kept as they come."""
    with keeping(unit, identity, out, again=again) as (wanted, keep):
        if wanted:
            backend_of(unit).answer(unit.model, unit.settings, identity, wanted, keep, report)


def backend_of(unit: Unit) -> Any:
    """The module that reaches the unit's model: it has `identify` and `answer`.

    Raises
    ------
    PackageMissing
    """
    name = "endpoints.ask" if isinstance(unit.settings, ApiSettings) else "models.unit"
    try:
        return importlib.import_module(f"maskedadv.scoring.{name}")
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("maskedadv"):
            raise  # a module of ours: no installation of another package mends that
        raise PackageMissing(
            f"scoring needs the package {error.name!r}; install with: pip install 'maskedadv[scoring]'."
        ) from error


def read_errors(out: Path) -> dict[str, str]:
    """Why models failed, by model."""
    found = {}
    for path in sorted((out / ERRORS).glob("*.json")):
        record = json.loads(path.read_text("utf-8"))
        found[record["model"]] = record["error"]
    return found


def work_on(slot: Slot, unit: Unit, identity: Mapping[str, Any], out: Path, again: bool) -> None:
    """What a process of `run_units` does; leaves with 1 if the unit failed."""
    os.environ["CUDA_VISIBLE_DEVICES"] = slot.visible

    def report(line: str) -> None:
        print(line, file=sys.stderr, flush=True)

    if isinstance(unit.settings, HfSettings):  # the others ask an endpoint
        unit = replace(unit, settings=replace(unit.settings, device=slot.device))
    done = run_unit(unit, identity, out, report, again=again)
    raise SystemExit(0 if done else 1)


def _error_path(out: Path, unit: Unit) -> Path:
    return out / ERRORS / f"{quote(unit.model, safe='')[-120:]}.json"


def _fail(out: Path, unit: Unit, error: Exception, report: Callable[[str], None]) -> None:
    kind = "" if isinstance(error, MaskedadvError) else f"{type(error).__name__}: "
    report(_hide(unit, f"{unit.model} failed: {kind}{error}"))
    try:
        record_failure(out, unit, _hide(unit, "".join(traceback.format_exception(error))))
    except OSError as second:  # what keeps answers from being written keeps this from it, too
        report(f"This cannot be recorded in {out / ERRORS} ({second.strerror or second}).")


def _hide(unit: Unit, text: str) -> str:
    return hide_of(unit.settings, text) if isinstance(unit.settings, ApiSettings) else text


def record_failure(out: Path, unit: Unit, text: str) -> None:
    """Write down why a model failed, for `read_errors`."""
    path = _error_path(out, unit)
    path.parent.mkdir(parents=True, exist_ok=True)
    content = json.dumps({"model": unit.model, "error": text}, ensure_ascii=False, indent=1)
    write_whole(path, lambda partial: partial.write_text(content, "utf-8"))
