"""Commands killed, and ended politely, at any moment: see `matrix.py` for what must hold after that."""

from __future__ import annotations

import random
import signal
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.faults import matrix, stages

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks processes, and looks into /proc")
ENDED = {signal.SIGTERM: 143, signal.SIGHUP: 129, signal.SIGINT: 130}
DEAR = {"nuts", "nuts_jobs", "report", "fit_jobs"}
"""Stages that take seconds: several kills, one after the other, share the run that completes them."""
ASK = {"score", "build"}


@pytest.fixture(scope="module")
def run() -> Iterator[matrix.Runner]:
    with matrix.runner() as started:
        yield started


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("matrix")


def need(name: str) -> None:
    if name in ASK:
        pytest.importorskip("httpx2")


CHANGES = ("change", "change alone")
"""Kills before some change of a file, of the process's group or of the process alone: always in time."""
KINDS = (*CHANGES, "time", "time alone", "worker")


def kill(
    run: matrix.Runner,
    stage: matrix.Stage,
    folder: Path,
    calm: matrix.Calm,
    rng: random.Random,
    kinds: Sequence[str],
) -> str:
    """Kill the stage at some moment of its work; which kind of kill it was, '' where it came too late."""
    kind = rng.choice([kind for kind in kinds if kind != "worker" or stage.workers])
    alone = kind.endswith("alone")
    if kind == "worker":
        done = run.run_and_send(stage, folder, 0, matrix.kill_worker(run, stage, rng))
        assert matrix.TRACEBACK not in done.said
        return kind if done.code != 0 else ""
    if kind.startswith("change"):
        done = run.run(stage, folder, at=rng.randint(1, calm.changes), alone=alone)
    else:
        to = matrix.kill_alone if alone else matrix.kill_group
        done = run.run_and_send(stage, folder, rng.random() * 0.8 * calm.seconds, to)
    assert done.code in (0, -signal.SIGKILL), done.said
    return kind if done.code else ""


def check_kills(
    name: str, run: matrix.Runner, place: Path, seeds: range, together: int, kinds: Sequence[str]
) -> list[str]:
    """Kill a stage once a seed; after `together` kills it has to complete. The kinds of kills."""
    done = []
    with stages.stage(name, place / f"{name}-in") as stage:
        calm = matrix.calm_run(run, stage, place / f"{name}-calm")
        folder = place / "none"
        for k, seed in enumerate(seeds):
            if k % together == 0:
                folder = matrix.fresh(stage, place / f"{name}-{seed}")
            done.append(kill(run, stage, folder, calm, random.Random(f"{name} {seed}"), kinds))
            matrix.check_nothing_runs(run)
            if k % together == together - 1 or seed == seeds[-1]:
                matrix.finish(run, stage, folder, calm)
    return done


@pytest.mark.parametrize("name", [n for n in stages.NAMES if "jobs" not in n])
def test_killed_three_times(name: str, run: matrix.Runner, place: Path) -> None:
    need(name)
    assert any(check_kills(name, run, place, range(3), 3 if name in DEAR else 1, CHANGES))


@pytest.mark.slow
@pytest.mark.parametrize("name", stages.NAMES)
def test_killed_fifty_times(name: str, run: matrix.Runner, place: Path) -> None:
    """By hand, or in `make test-slow`; the counts are in docs/reference/faults.md."""
    need(name)
    kills: list[str] = []
    begin = 100
    while len(kills) < 50:
        seeds, together = range(begin, begin + 10), 5 if name in DEAR else 1
        more = check_kills(name, run, place / str(begin), seeds, together, KINDS)
        kills += [kind for kind in more if kind]
        begin += 10
    print(f"{name}: {len(kills)} kills of {begin - 100} tries: {dict(Counter(kills))}")


def check_signals(
    name: str, run: matrix.Runner, place: Path, seeds: range, kinds: Sequence[str] = ("change",)
) -> int:
    """End a stage politely, before some change of a file or at some time; how often that came in time."""
    ended = 0
    with stages.stage(name, place / f"{name}-in") as stage:
        calm = matrix.calm_run(run, stage, place / f"{name}-calm")
        for seed in seeds:
            rng = random.Random(f"{name} {seed}")
            which = [*ENDED][seed % len(ENDED)]
            folder = matrix.fresh(stage, place / f"{name}-{seed}")
            if rng.choice(kinds) == "change":
                done = run.run(stage, folder, at=rng.randint(1, calm.changes), signal=which, alone=True)
            else:
                after = rng.random() * 0.8 * calm.seconds
                done = run.run_and_send(stage, folder, after, matrix.send(which))
            assert done.code in (0, ENDED[which]), (which, done)
            assert matrix.TRACEBACK not in done.said
            ended += done.code != 0
            assert [p.name for p in (folder / "tmp").iterdir()] == []
            hidden = [n for n in matrix.names(folder / "work") if "/." in f"/{n}" and n not in calm.names]
            assert hidden == [] or name in ASK  # threads that ask are not waited for
            matrix.finish(run, stage, folder, calm)
    return ended


@pytest.mark.parametrize("name", ["import", "fit"])
def test_ended_politely(name: str, run: matrix.Runner, place: Path) -> None:
    need(name)
    assert check_signals(name, run, place / "polite", range(3))


@pytest.mark.slow
@pytest.mark.parametrize("name", stages.NAMES)
def test_ended_politely_at_length(name: str, run: matrix.Runner, place: Path) -> None:
    """Seven of each signal; by hand, or in `make test-slow`."""
    need(name)
    seeds = range(100, 121)
    ended = check_signals(name, run, place / "polite long", seeds, ("change", "time"))
    print(f"{name}: {ended} ended of {len(seeds)}")
    assert ended >= 3
