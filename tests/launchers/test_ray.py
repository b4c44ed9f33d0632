"""A real Ray cluster of two nodes on this machine: the same numbers as without, also with one node killed."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import maskedadv
from maskedadv.errors import BadSetting, NotConverged, PackageMissing, WorkerDied
from maskedadv.launchers import Ray, read_status
from maskedadv.launchers.unit import Unit
from tests.launchers import ray_cluster, work
from tests.launchers.ray_cluster import Cluster
from tests.launchers.test_processes import run
from tests.simulate import table

LOCALES = ("zh", "sw")
QUICK = {"chains": 2, "warmup": 60, "draws": 12, "variants": "none", "min_accuracy": 0, "engine": "embedded"}

needs_ray = pytest.mark.skipif(sys.platform != "linux", reason="the cluster is found in /proc")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    pytest.importorskip("ray")
    with ray_cluster.running() as found:
        yield found
    assert not ray_cluster.using(found.folder)


def test_without_ray_and_without_a_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(PackageMissing, match=r"pip install 'maskedadv\[cluster\]'"):
        run([Unit("a", work.who)], Ray())


@needs_ray
def test_units_on_a_cluster(cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Values, errors, a worker that dies twice and one that dies always."""
    monkeypatch.setattr("maskedadv.launchers.ray_tasks._PAUSE", 0.1)  # no machine goes away here
    units = [Unit(str(x), partial(work.square, 0.1 * x)) for x in range(4)]
    units += [Unit("fails", partial(work.fail, "ours"))]
    units += [Unit(f"dies {n}", partial(work.die_until, tmp_path / str(n), n)) for n in (2, 99)]
    said: list[str] = []
    found = run(units, Ray(cluster.address), said)
    assert [found[x] for x in range(4)] == [0.1 * x * (0.1 * x) for x in range(4)]
    assert isinstance(found[4], NotConverged)
    assert found[5] == 3
    assert isinstance(found[6], WorkerDied)
    assert len([line for line in said if "done again" in line]) == 4
    assert said[0] == "Ray cluster of 2 machines, 2 processors."


@needs_ray
def test_a_posterior_is_the_same_with_one_of_two_nodes_killed_in_the_middle(
    cluster: Cluster, tmp_path: Path
) -> None:
    answers = tmp_path / "answers.csv"
    table(2, (12, 12), locales=LOCALES, seed=3).to_csv(answers, index=False)
    calm = maskedadv.fit(answers, method="nuts", **QUICK)  # type: ignore[arg-type]
    out = tmp_path / "out"
    line = [sys.executable, "-m", "maskedadv", "fit", str(answers), "-o", str(out), "--method", "nuts"]
    line += [f"--{name.replace('_', '-')}={value}" for name, value in QUICK.items()]
    process = subprocess.Popen(
        [*line, "--ray", cluster.address],
        env=ray_cluster.environment(),
        stderr=subprocess.PIPE,
        text=True,
        stdout=subprocess.DEVNULL,
    )
    while not cluster.is_at_work(1):
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.02)
    assert read_status(out).state == "running"
    cluster.kill(1)
    said = process.communicate()[1]
    assert process.returncode == 0, said
    assert "it is done again" in said
    assert "(raylet)" not in said  # Ray's own words, which say the same in four lines
    np.testing.assert_array_equal(maskedadv.load(out).draws("knowledge_gap"), calm.draws("knowledge_gap"))
    assert not out.with_name("out.units").exists()


@needs_ray
def test_no_cluster_is_said() -> None:
    pytest.importorskip("ray")
    with pytest.raises(BadSetting, match=r"no Ray cluster answers at 127.0.0.1:1 .*ray start --head"):
        run([Unit("a", work.who)], Ray("127.0.0.1:1"))
