"""Work off units: a model is loaded once for all its pieces; what fails is recorded, and the rest goes on."""

from __future__ import annotations

import importlib
import json
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from maskedadv.errors import BadSetting, MaskedadvError, OutputExists, PackageMissing, UnitsFailed, WorkerDied
from maskedadv.files.atomic import write_whole
from maskedadv.files.damage import json_object_or_none
from maskedadv.launchers.kinds import Launcher, Local
from maskedadv.launchers.launching import launch
from maskedadv.launchers.unit import Unit as Launched
from maskedadv.launchers.unit import WorkerSpoilt
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
    how: Launcher = Local(),  # noqa: B008 (it cannot be changed)
    gpus: int = 0,
) -> list[str]:
    """Score all units that are not done, in their order.

    Parameters
    ----------
    identities
        From `identify_units`; units without one count as failed.
    slots
        From `devices.assign`: processes of this machine at a time, each with GPUs of its own.
    again
        Whether pieces with answers that failed for passing reasons (a server, memory) are done anew.
    how
        Where units are scored if there are no slots; default: in this process.
    gpus
        With Slurm or Ray: of a model that is not asked on the CPU or at an endpoint.

    Returns
    -------
    Names of the models that failed. Why is in the folder `_errors`.
    """
    failed = [unit.model for unit in units if unit.model not in identities]
    ready = [unit for unit in units if unit.model in identities]
    if slots:
        ready = [
            _on(unit, slots[0].device) for unit in ready
        ]  # the same for all: one GPU, or one model on all
        seen = tuple({"CUDA_VISIBLE_DEVICES": slot.visible} for slot in slots)
        how = Local(environments=seen, fresh=True, ledger=how.ledger)
    parts = [
        Launched(
            unit.model,
            partial(_score, unit, identities[unit.model], out.absolute(), again),
            gpus=0 if _on_cpu(unit) else gpus,
        )
        for unit in ready
    ]
    done = 0

    def count(*_: object) -> None:
        nonlocal done
        done += 1
        if not isinstance(how, Local):
            report(f"{done} of {len(parts)} jobs done.")

    def lose(k: int, error: BaseException) -> None:
        if isinstance(error, WorkerDied) and not is_spoilt(str(error)):  # else it has recorded why
            record_failure(out, ready[k], str(error))
        failed.append(ready[k].model)
        count()

    launch(parts, how, keep=count, failed=lose, tell=report)
    return failed


def _score(
    unit: Unit, identity: Mapping[str, Any], out: Path, again: bool, report: Callable[[str], None]
) -> None:
    """Score what is missing of one unit, wherever this runs; a failure is recorded and raised.

    Raises
    ------
    UnitsFailed
    WorkerSpoilt
        The process has lost its GPU.
    """
    try:
        score_unit(unit, identity, out, report, again=again)
    except Exception as error:
        _fail(out, unit, error, report)
        reason = _hide(unit, f"{type(error).__name__}: {error}")
        if is_spoilt(reason):
            raise WorkerSpoilt(reason) from None
        raise UnitsFailed(reason) from None
    _error_path(out, unit).unlink(missing_ok=True)


def _on(unit: Unit, device: str) -> Unit:
    """The unit on what a process calls its GPUs; an endpoint needs none."""
    if not isinstance(unit.settings, HfSettings):
        return unit
    return replace(unit, settings=replace(unit.settings, device=device))


def _on_cpu(unit: Unit) -> bool:
    return isinstance(unit.settings, ApiSettings) or unit.settings.device == "cpu"


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
        record = json_object_or_none(path) or {}
        found[str(record.get("model", path.stem))] = str(record.get("error", f"{path} is damaged"))
    return found


def _error_path(out: Path, unit: Unit) -> Path:
    return out / ERRORS / f"{quote(unit.model, safe='')[-120:]}.json"


def _fail(out: Path, unit: Unit, error: Exception, report: Callable[[str], None]) -> None:
    kind = "" if isinstance(error, MaskedadvError) else f"{type(error).__name__}: "
    report(_hide(unit, f"{unit.model} failed: {kind}{error}"))
    try:
        record_failure(out, unit, _hide(unit, "".join(traceback.format_exception(error))))
    except (OSError, OutputExists) as second:  # what keeps answers from being written keeps this from it, too
        report(f"This cannot be recorded in {out / ERRORS} ({second}).")


def _hide(unit: Unit, text: str) -> str:
    return hide_of(unit.settings, text) if isinstance(unit.settings, ApiSettings) else text


def record_failure(out: Path, unit: Unit, text: str) -> None:
    """Write down why a model failed, for `read_errors`."""
    path = _error_path(out, unit)
    path.parent.mkdir(parents=True, exist_ok=True)
    content = json.dumps({"model": unit.model, "error": text}, ensure_ascii=False, indent=1)
    write_whole(path, lambda partial: partial.write_text(content, "utf-8"))
