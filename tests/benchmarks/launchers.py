"""Units by every launcher on this machine: what one costs beside its work, and two Ray nodes beside one."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from functools import partial
from typing import Any

from maskedadv.launchers.kinds import Launcher, Local, Ray
from maskedadv.launchers.launching import launch
from maskedadv.launchers.unit import Unit
from maskedadv.power import by_simulation
from maskedadv.simulation import Plan
from tests.launchers import ray_cluster, work

UNITS = 12
EMPTY = 100


def run() -> list[str]:
    """Markdown lines."""
    plan = Plan(models=12, items_ca=200, items_cs=200)
    busy = [
        Unit(f"studies {k}", partial(by_simulation._some, plan, ("plain",), range(20 * k, 20 * k + 20)))
        for k in range(UNITS)
    ]
    here, reference = _timed(busy, Local())
    rows = [("this process", here, 0.0, 0.0)]
    rows.append(("1 process", *_both(busy, Local(environments=({},)), reference)))
    rows.append(("2 processes", *_both(busy, Local(2), reference)))
    nodes = {}
    for count in (1, 2):
        with ray_cluster.running(count) as cluster:
            nodes[count] = _both(busy, Ray(cluster.address), reference)
            rows.append((f"Ray, {count} node{'s' * (count > 1)} of one processor", *nodes[count]))
    faster = nodes[1][0] / nodes[2][0]
    return [
        f"{UNITS} units of twenty simulated studies (12 models, 200 + 200 items), then {EMPTY} units that do "
        "nothing; the same numbers from every launcher. Starting or connecting is what a launch takes that "
        "does nothing; it is counted apart.",
        "",
        "| where | seconds | starting | overhead a unit, ms |",
        "| --- | ---: | ---: | ---: |",
        *(f"| {name} | {s:.1f} | {begin:.1f} | {1000 * each:.0f} |" for name, s, begin, each in rows),
        "",
        f"Two Ray nodes beside one: {faster:.2f} times as fast, on {os.cpu_count()} processors that the "
        "launcher's own processes share with the units.",
    ]


def _both(units: Sequence[Unit], how: Launcher, reference: dict[int, Any]) -> tuple[float, float, float]:
    """Seconds of the units, of starting, and of a unit that does nothing."""
    begin = min(_timed([Unit(str(k), work.who) for k in range(2)], how)[0] for _ in range(2))
    empty = _timed([Unit(str(k), work.who) for k in range(EMPTY)], how)[0]
    whole, found = _timed(units, how)
    if any((found[k] != reference[k]).any() for k in reference):
        raise RuntimeError(f"{how} gives other numbers")
    return whole - begin, begin, max(empty - begin, 0.0) / EMPTY


def _timed(units: Sequence[Unit], how: Launcher) -> tuple[float, dict[int, Any]]:
    found: dict[int, Any] = {}

    def failed(_: int, error: BaseException) -> None:
        raise error

    start = time.perf_counter()
    launch(units, how, keep=found.__setitem__, failed=failed, tell=lambda _: None)
    return time.perf_counter() - start, found
