"""Two blocks at a time: the order of results, who computes what, errors, and an interrupt."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pandas as pd
import pytest

import maskedadv
from maskedadv.maximum_likelihood import estimators
from maskedadv.maximum_likelihood.side_by_side import side_by_side


class _Engine:
    """Notes the thread that its functions run in."""

    name, version = "none", "0"

    def __init__(self) -> None:
        self.ran: list[threading.Thread] = []

    def require(self) -> None: ...

    def optimize(self, program: str, *_: object, **__: object) -> str:
        self.ran.append(threading.current_thread())
        if program == "bad":
            raise ValueError("no such program")
        return program

    log_density = sample = optimize


def test_results_come_in_order_and_the_engine_runs_in_the_calling_thread() -> None:
    engine, told = _Engine(), []
    first_may_end = threading.Event()

    def work(place, asked, tell):
        if place == 0:
            assert first_may_end.wait(60)  # the second block is done before it
        else:
            first_may_end.set()
        tell(f"at {place}")
        return asked.optimize(f"program {place}", None, None, seed=1), threading.current_thread()

    found = list(side_by_side(work, range(6), engine, told.append))
    assert [program for program, _ in found] == [f"program {k}" for k in range(6)]
    assert set(engine.ran) == {threading.current_thread()}
    assert threading.current_thread() not in {thread for _, thread in found}
    assert sorted(told) == [f"at {k}" for k in range(6)]


def test_an_error_comes_at_its_place_from_wherever_it_is() -> None:
    def work(place, asked, tell):  # noqa: ARG001
        if place == 2:
            asked.optimize("bad", None, None, seed=1)
        return place

    seen = []
    with pytest.raises(ValueError, match="no such program"):
        seen.extend(side_by_side(work, range(4), _Engine(), print))
    found = side_by_side(work, range(4), _Engine(), print)
    assert [next(found), next(found)] == [0, 1]
    with pytest.raises(ValueError, match="no such program"):
        next(found)


def _table() -> pd.DataFrame:
    rng = np.random.default_rng(4)
    rows = [
        (f"m{m}", subset, language, f"{subset}{i}", int(rng.random() < 0.6))
        for m in range(6)
        for subset in ("CA", "CS")
        for language in ("en", "de", "fr")
        for i in range(40)
    ]
    return pd.DataFrame(rows, columns=["model", "subset", "language", "item", "correct"])


@pytest.mark.parametrize("estimator", ["joint", "marginal"])
def test_numbers_are_the_same_to_the_last_bit_with_one_thread_and_two(
    estimator: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fitted(cores: int) -> maskedadv.Fit:
        monkeypatch.setattr(estimators, "cores", lambda: cores)
        return maskedadv.fit(_table(), estimator=estimator, min_accuracy=0)

    one, two = fitted(1), fitted(2)
    assert one.cube.identical(two.cube)
    assert one.items.equals(two.items)
    for locale, own in one.uncertainty["plain"].items():
        assert np.array_equal(own.values, two.uncertainty["plain"][locale].values)


_HANGS = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # tests started in the background ignore it
import threading, time
from maskedadv.maximum_likelihood.side_by_side import side_by_side
from tests.maximum_likelihood.test_side_by_side import _Engine
def work(place, asked, tell):
    tell("working")
    time.sleep(600)
def told(line):
    print(line, flush=True)
list(side_by_side(work, range(2), _Engine(), told))
"""


def test_an_interrupt_does_not_wait_for_the_threads() -> None:
    run = subprocess.Popen(
        [sys.executable, "-c", _HANGS], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert run.stdout is not None
    assert run.stdout.readline() == "working\n"
    time.sleep(0.2)
    os.kill(run.pid, signal.SIGINT)
    _, error = run.communicate(timeout=120)
    assert "KeyboardInterrupt" in error
    assert run.returncode != 0
