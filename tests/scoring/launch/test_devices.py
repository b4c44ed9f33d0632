"""Every combination of --device and --gpus, on simulated machines with none, one, two and four GPUs."""

from __future__ import annotations

import itertools
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from maskedadv.errors import BadSetting, UnitsFailed, UnusableModel, WorkerDied
from maskedadv.launchers.kinds import Local
from maskedadv.launchers.unit import Unit as Launched
from maskedadv.launchers.unit import WorkerSpoilt
from maskedadv.scoring.launch import launch
from maskedadv.scoring.launch.devices import Slot, assign, is_spoilt
from maskedadv.scoring.launch.plan import Unit
from maskedadv.scoring.models.settings import HfSettings
from tests.scoring.conftest import write_item_file
from tests.scoring.launch.test_launch import run

torch = pytest.importorskip("torch")

ONE, TWO = Slot("0", "cuda"), Slot("1", "cuda")
REFUSED = None
# What a machine with two GPUs does: {(--device, --gpus): processes}.
WITH_TWO: dict[tuple[str, int], list[Slot] | None] = {
    ("auto", 0): [ONE, TWO],
    ("auto", 1): [ONE],
    ("auto", 2): [ONE, TWO],
    ("auto", 3): REFUSED,
    ("cuda", 0): [ONE, TWO],
    ("cuda", 1): [ONE],
    ("cuda", 2): [ONE, TWO],
    ("cuda", 3): REFUSED,
    ("cuda:0", 0): [ONE],
    ("cuda:0", 1): [ONE],
    ("cuda:0", 2): REFUSED,
    ("cuda:1", 0): [TWO],
    ("cuda:1", 1): [TWO],
    ("cuda:1", 2): REFUSED,
    ("cuda:2", 0): REFUSED,
    ("cuda:2", 1): REFUSED,
    ("split", 0): [Slot("0,1", "split")],
    ("split", 1): [Slot("0", "split")],
    ("split", 2): [Slot("0,1", "split")],
    ("split", 3): REFUSED,
    ("cpu", 0): [],
    ("cpu", 1): REFUSED,
    ("cpu", 2): REFUSED,
}


@pytest.mark.parametrize(("device", "gpus"), WITH_TWO)
def test_who_sees_which_gpu(device: str, gpus: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    expected = WITH_TWO[device, gpus]
    if expected is None:
        with pytest.raises(BadSetting, match=r"--gpus|--device"):
            assign(device, gpus, 2)
    else:
        assert assign(device, gpus, 2) == expected


@pytest.mark.parametrize("there", [0, 1, 4])
def test_no_gpu_is_given_twice_and_none_that_is_not_there(
    there: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", ",".join(["3", "GPU-8f", "1", "0"][:there]))
    devices = ("auto", "cpu", "cuda", "split", *(f"cuda:{k}" for k in range(5)))
    for device, gpus in itertools.product(devices, range(6)):
        try:
            slots = assign(device, gpus, there)
        except BadSetting:
            continue
        given = [name for slot in slots for name in slot.visible.split(",")]
        assert len(set(given)) == len(given)
        assert set(given) <= set(["3", "GPU-8f", "1", "0"][:there])
        assert not gpus or len(given) == gpus
        assert all(slot.device in {"cuda", "split"} for slot in slots)
        if device.startswith("cuda:"):
            assert given == [["3", "GPU-8f", "1", "0"][int(device[5:])]]
    with pytest.raises(BadSetting):
        assign("cuda:x", 0, 4)
    with pytest.raises(BadSetting):
        assign("auto", -1, 4)


@pytest.fixture
def two_gpus(monkeypatch: pytest.MonkeyPatch) -> list[tuple[set[Slot], str]]:
    """A machine that seems to have two GPUs: what would be processes on them run here, on the CPU."""
    started: list[tuple[set[Slot], str]] = []
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    real = launch.launch

    def start(parts: list[Launched], how: Local, **more: Any) -> None:
        here = []
        for part in parts:
            unit, *rest = part.work.args  # type: ignore[attr-defined]
            if how.environments:
                assert how.fresh
                device = unit.settings.device
                seen = {Slot(own["CUDA_VISIBLE_DEVICES"], device) for own in how.environments}
                started.append((seen, unit.model))
                unit = replace(unit, settings=replace(unit.settings, device="cpu"))
            here.append(replace(part, work=partial(launch._score, unit, *rest)))
        real(here, Local(), **more)

    monkeypatch.setattr(launch, "launch", start)
    return started


@pytest.mark.parametrize(("device", "gpus"), WITH_TWO)
def test_a_machine_with_two_gpus_runs_every_combination(
    device: str,
    gpus: int,
    two_gpus: list[tuple[set[Slot], str]],
    tiny_model: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    import pandas as pd

    items = write_item_file(tmp_path / "set.jsonl", languages=("en",), count=2)
    models = [x for name in "ab" for x in ("-m", f"{name}={tiny_model}")]
    more = ("--device", device, "--gpus", gpus, "--dtype", "float32")
    code = run("score", "run", items, "-o", tmp_path / "out", *models, *more)
    expected = WITH_TWO[device, gpus]
    if expected is None:
        assert code == 2
        assert "Error: --" in capsys.readouterr().err
        assert not (tmp_path / "out").exists()
        return
    assert code == 0
    frame = pd.read_parquet(tmp_path / "out" / "responses.parquet")
    assert frame.groupby("model").size().to_dict() == {"a": 4, "b": 4}
    assert sorted(model for _, model in two_gpus) == (["a", "b"] if expected else [])
    assert all(slots == set(expected) for slots, _ in two_gpus)


def test_a_process_that_lost_its_gpu_does_nothing_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The launcher then takes another; any other failure leaves it as it is."""
    unit = Unit("m", HfSettings("m"), ())

    def score(error: Exception) -> None:
        def raises(*_: Any, **__: Any) -> None:
            raise error

        monkeypatch.setattr(launch, "score_unit", raises)
        launch._score(unit, {}, tmp_path, False, print)

    with pytest.raises(WorkerSpoilt, match="CUDA error"):
        score(RuntimeError("CUDA error: device-side assert"))
    assert "device-side assert" in launch.read_errors(tmp_path)["m"]
    with pytest.raises(UnitsFailed, match="UnusableModel: no"):
        score(UnusableModel("no"))
    assert "UnusableModel" in launch.read_errors(tmp_path)["m"]


def test_what_failed_wherever_it_ran_is_named_and_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    units = [Unit(name, HfSettings("m"), ()) for name in ("lost", "wrong", "killed", "good")]
    launch.record_failure(tmp_path, units[0], "RuntimeError: CUDA error: device-side assert")

    def fake(parts: list[Launched], _: Local, *, keep: Any, failed: Any, **__: Any) -> None:
        assert [part.name for part in parts] == ["lost", "wrong", "killed", "good"]
        failed(0, WorkerDied("RuntimeError: CUDA error: device-side assert; so it went 3 times."))
        failed(1, UnitsFailed("UnusableModel: no"))
        failed(2, WorkerDied("its process was ended by SIGKILL; so it went 3 times."))
        keep(3, None)

    monkeypatch.setattr(launch, "launch", fake)
    known: dict[str, dict[str, Any]] = {unit.model: {} for unit in units}
    assert launch.run_units(units, known, tmp_path, print, [ONE]) == ["lost", "wrong", "killed"]
    assert "SIGKILL" in launch.read_errors(tmp_path)["killed"]
    assert "so it went" not in launch.read_errors(tmp_path)["lost"]  # the trace is worth more


def test_what_spoils_a_process() -> None:
    assert is_spoilt("torch.AcceleratorError: CUDA error: an illegal memory access was encountered")
    assert is_spoilt("RuntimeError: cuDNN error: CUDNN_STATUS_EXECUTION_FAILED")
    assert not is_spoilt("UnusableModel: m cannot be loaded")


def test_a_process_of_its_own_gives_the_same_table(tiny_model: Path, tmp_path: Path) -> None:
    """Real processes, on a machine without a GPU: what they see is set, and what they leave is taken up."""
    import pandas as pd

    from maskedadv.scoring.items.sources import read_items
    from maskedadv.scoring.launch.plan import collect, make_pieces
    from maskedadv.scoring.prompts.prompts import load_prompts

    items = read_items([write_item_file(tmp_path / "set.jsonl", count=2)]).items
    pieces = make_pieces({"s": items}, load_prompts())
    units = [Unit(name, HfSettings(str(tiny_model), device="cpu"), pieces) for name in "ab"]
    known = launch.identify_units(units, tmp_path, print)
    slots = [Slot("0", "cpu"), Slot("1", "cpu")]
    assert launch.run_units(units, known, tmp_path / "apart", print, slots) == []
    assert launch.run_units(units, known, tmp_path / "here", print) == []
    apart, here = (collect(tmp_path / name, units, known).to_pandas() for name in ("apart", "here"))
    # Another number of threads adds up in another order.
    pd.testing.assert_frame_equal(apart, here, rtol=0, atol=1e-5)
