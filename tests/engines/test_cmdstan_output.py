"""What a real CmdStan wrote (tests/data/cmdstan): its draws read as they stand there, its failures explained.

An executable that plays its files back stands in for the compiled programs.
"""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from maskedadv.engines.cmdstan import read_chains
from maskedadv.engines.cmdstan_chains import sample_chains
from maskedadv.engines.console import cause_in, make_cause_in, progress_line
from maskedadv.engines.processes import run_all
from maskedadv.engines.protocol import STATS
from maskedadv.errors import EngineFailed

WRITTEN = Path(__file__).parents[1] / "data" / "cmdstan"
RUNS = sorted(p.parent for p in WRITTEN.glob("*/*/sample_1.csv"))
SETTINGS = {"num_warmup": 100, "num_samples": 50, "delta": 0.9, "max_depth": 8, "metric": "diag_e"}
posix = pytest.mark.skipif(os.name == "nt", reason="the stand-in is a shell script")


def player(folder: Path, body: str) -> Path:
    """An executable called like a compiled program; $out is the file it is asked for, $id its chain."""
    script = folder / "program-0123"
    find = 'for a in "$@"; do case "$a" in id=*) id="${a#id=}";; esac; done\n'
    find += (
        'out=""; for a in "$@"; do case "$p $a" in "output file="*) out="${a#file=}";; esac; p="$a"; done\n'
    )
    script.write_text(f"#!/bin/sh\n{find}{body}\n")
    script.chmod(0o755)
    return script


def sample(executable: Path, folder: Path, told: list[str] | None = None):
    return sample_chains(
        executable,
        "data.json",
        ["inits_1.json", "inits_2.json"],
        settings=SETTINGS,
        seed=7,
        at_once=2,
        progress=None if told is None else told.append,
        folder=folder,
    )


def by_hand(path: Path) -> tuple[list[str], np.ndarray]:
    rows = [r for r in csv.reader(line for line in path.open() if not line.startswith("#")) if r]
    return rows[0], np.array(rows[1:], dtype=float)


@posix
@pytest.mark.parametrize("run", RUNS, ids=[f"{p.parent.name}-{p.name}" for p in RUNS])
def test_chains_are_read_as_they_were_written(run: Path, tmp_path: Path) -> None:
    told: list[str] = []
    found = sample(
        player(tmp_path, f"cat '{run}/sample_'$id.txt; cp '{run}/sample_'$id.csv \"$out\""), tmp_path, told
    )
    chains = read_chains(found)
    for k in range(2):
        names, values = by_hand(run / f"sample_{k + 1}.csv")
        for name, stat in zip(names[:7], STATS, strict=True):
            np.testing.assert_array_equal(chains.stats[stat][k], values[:, names.index(name)], err_msg=name)
        for variable, drawn in chains.variables.items():
            own = [j for j, n in enumerate(names) if n.split(".")[0] == variable]
            for j in own:
                at = tuple(int(i) - 1 for i in names[j].split(".")[1:])
                np.testing.assert_array_equal(drawn[(k, slice(None), *at)], values[:, j], err_msg=names[j])
    assert "chain 1: 150 of 150 (sampling)" in told
    assert "chain 2: 50 of 150 (warmup)" in told


CAUSES = {
    "init_not_sum_to_zero": "sum should be|sum_to_zero variable does not sum to zero",
    "init_infinite": r"the start is refused: Log probability evaluates to log\(0\)",
    "data_negative": r"successes\[2\] is -1, but must be greater",
    "data_missing": "mismatch in number dimensions",
    "data_broken_json": "Error in JSON parsing at offset 19: Missing a comma",
    "data_file_absent": 'Can\'t open specified file, "nowhere.json"',
    "init_file_absent": 'Can\'t open specified file, "nowhere.json"',
    "disk_full": "the disk of its temporary files is full.*TMPDIR",
    "unknown_argument": "no_such=3 is either mistyped",
    "no_data": "variable does not exist",
    "library_missing": "libtbb.so.2: cannot open shared object file",
}


@posix
@pytest.mark.parametrize("kind", CAUSES)
def test_a_failure_says_why(kind: str, tmp_path: Path) -> None:
    code = 127 if kind == "library_missing" else 1
    executable = player(tmp_path, f"cat '{WRITTEN}/console/{kind}.txt'; exit {code}")
    with pytest.raises(EngineFailed, match=CAUSES[kind]) as told:
        sample(executable, tmp_path)
    assert len(str(told.value)) < 500
    if kind == "library_missing":
        assert f"{executable} does not start" in str(told.value)
        assert "delete that file" in str(told.value)
    else:
        assert "could not sample 'program', chain" in str(told.value)


@posix
def test_a_chain_without_a_file_is_no_chain(tmp_path: Path) -> None:
    executable = player(tmp_path, f"cat '{WRITTEN}/console/output_unwritable.txt'")
    with pytest.raises(EngineFailed, match="wrote no file"):
        sample(executable, tmp_path)


@posix
def test_the_chain_that_failed_is_named_and_the_others_end(tmp_path: Path) -> None:
    body = f"if [ $id = 2 ]; then cat '{WRITTEN}/console/data_negative.txt'; exit 1; fi; sleep 600"
    begun = time.monotonic()
    with pytest.raises(EngineFailed, match=r"chain 2: .*must be greater"):
        sample(player(tmp_path, body), tmp_path)
    assert time.monotonic() - begun < 300


@posix
def test_a_program_that_is_killed_or_no_program(tmp_path: Path) -> None:
    with pytest.raises(EngineFailed, match="ended by SIGKILL"):
        sample(player(tmp_path, "kill -9 $$"), tmp_path)
    nothing = tmp_path / "other-0"
    nothing.write_bytes(b"\x7fELF nonsense")
    nothing.chmod(0o755)
    with pytest.raises(EngineFailed, match="does not start"):
        sample(nothing, tmp_path)


def test_make_says_what_is_wrong() -> None:
    read = {p.stem: p.read_text() for p in (WRITTEN / "console").glob("compile_*.txt")}
    assert "no-such-compiler: No such file or directory" in make_cause_in(read["compile_no_compiler"], 2)
    assert "Expected top-level variable declaration" in make_cause_in(read["compile_stanc"], 2)


def test_every_console_has_a_cause() -> None:
    for path in (WRITTEN / "console").glob("*.txt"):
        assert cause_in(path.read_text(), 1).strip()
    assert cause_in("", 3) == "exit code 3"
    assert progress_line(2, "Iteration: 100 / 150 [ 66%]  (Warmup)") == "chain 2: 100 of 150 (warmup)"
    assert progress_line(2, " Elapsed Time: 0.009 seconds (Warm-up)") is None


NOW = {
    "rasch_joint": "ml_joint",
    "rasch_marginal": "ml_marginal",
    "floor_marginal": "ml_guessing",
    "facet_binary": "posterior_joint",
    "facet_crm": "posterior_continuous",
    "facet_binary_marginal": "posterior_marginal",
}
"""What the programs are called today. facet_floor took its data in another form."""


def todays_data(folder: Path) -> dict[str, object]:
    """What CmdStan was given, and what programs have asked for since: nothing of it enters the density."""
    data = json.loads((folder / "data.json").read_text())
    cells, models = data.get("C", 1), data.get("J", 1)
    more = {"rough_ability": np.zeros(cells), "ability_error": np.ones(cells)}  # a change of scale by 1
    more |= {"rough_log_sigma": 0.0, "log_sigma_error": 1.0}
    empty = np.zeros(0, dtype=int)
    more |= {"K": 0, "first": empty, "second": empty}  # contrasts
    more |= {"N_gaps": 3, "gap_cells": np.zeros((3, 4)), "known": np.ones((3, models))}
    given = {name: np.array(value) for name, value in data.items()}
    if "successes" in given:  # totals are enough
        for side in ("cell", "item"):
            more[f"{side}_total"] = np.bincount(given[side] - 1, given["successes"])
    return more | given


@pytest.mark.parametrize("table", ["complete", "holes"])
@pytest.mark.parametrize("name", NOW)
def test_densities_of_a_real_cmdstan_are_ours(name: str, table: str) -> None:
    """Same data, same point: same density, up to a constant, and same gradient."""
    from maskedadv.engines.embedded import Embedded

    folder = WRITTEN / table / name
    at = {k: np.array(v) for k, v in json.loads((folder / "inits_1.json").read_text()).items()}
    names, values = by_hand(folder / "log_prob.csv")
    density, gradient = Embedded().log_density(NOW[name], todays_data(folder), at)
    assert names[0].startswith("lp")
    np.testing.assert_allclose(gradient, values[0, 1:], rtol=1e-6, atol=1e-6)
    assert density == pytest.approx(values[0, 0], abs=1e-6)


@posix
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL])
def test_no_chain_outlives_the_run(tmp_path: Path, number: signal.Signals) -> None:
    if number == signal.SIGKILL and sys.platform != "linux":
        pytest.skip("only Linux ends children with their parent")
    executable = player(tmp_path, f"echo $$ > '{tmp_path}/pid_'$id; sleep 600 & wait")
    code = (
        "import signal, sys\nfrom pathlib import Path\n"
        "for n in (signal.SIGTERM, signal.SIGHUP): signal.signal(n, lambda *_: sys.exit(1))\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from maskedadv.engines.processes import run_all\n"
        f"run_all([[{str(executable)!r}, 'id=1'], [{str(executable)!r}, 'id=2']], "
        f"[Path({str(tmp_path)!r}, 'a'), Path({str(tmp_path)!r}, 'b')], at_once=2)"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL)
    files = [tmp_path / "pid_1", tmp_path / "pid_2"]
    wait_for(lambda: all(f.exists() and f.read_text().strip() for f in files))
    chains = [int(f.read_text()) for f in files]
    process.send_signal(number)
    process.wait(timeout=300)
    wait_for(lambda: not any(alive(pid) for pid in chains))


def wait_for(what) -> None:
    for _ in range(6000):
        if what():
            return
        time.sleep(0.05)
    raise AssertionError("it did not happen in five minutes")


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


@posix
def test_only_so_many_at_a_time(tmp_path: Path) -> None:
    script = player(tmp_path, f"mkdir '{tmp_path}/alone' || exit 3; sleep 0.1; rmdir '{tmp_path}/alone'")
    consoles = [tmp_path / f"c{k}" for k in range(4)]
    assert run_all([[str(script)]] * 4, consoles, at_once=1) == [0] * 4
