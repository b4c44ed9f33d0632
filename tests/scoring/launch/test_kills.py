"""Local runs killed at random moments of their work: nothing that was kept is lost or computed again."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest

from maskedadv.scoring.launch.journal import read_journal
from tests.scoring.conftest import write_item_file
from tests.scoring.launch.test_launch import ENVIRONMENT, assert_same_answers, score

pytest.importorskip("transformers")

# Dies some milliseconds after a batch, be it while it computes, writes, or goes on to the next piece.
_CODE = """
import os, random, signal, sys, threading
from maskedadv.cli.main import main
from maskedadv.scoring.launch.journal import Journal

seed, after = int(sys.argv[1]), int(sys.argv[2])
keep, calls = Journal.keep, []

def counted(self, answers):
    keep(self, answers)
    calls.append(1)
    if len(calls) == after:
        wait = random.Random(seed).random() * 0.02
        threading.Timer(wait, os.kill, (os.getpid(), signal.SIGKILL)).start()

Journal.keep = counted
main(sys.argv[3:])
"""


def kept_rows(out: Path, items: int) -> dict[tuple[str, int], object]:
    """All answers in journals; none may stand there twice."""
    found: dict[tuple[str, int], object] = {}
    for path in out.rglob("*.journal"):
        lines = [x.partition(b" ")[2] for x in path.read_bytes().split(b"\n") if x.endswith(b"]")]
        positions = Counter(row[0] for line in lines for row in json.loads(line))
        assert set(positions.values()) <= {1}
        found |= {(path.name, k): answer for k, answer in read_journal(path, items).items()}
    return found


def check_kills(model: Path, tmp_path: Path, kills: int) -> int:
    rng = random.Random(5)
    items = write_item_file(tmp_path / "set.jsonl", ("en", "zh", "ar"), 20)
    assert score(items, tmp_path / "calm", model, more=("--max-tokens-per-batch", 200)) == 0
    out, killed = tmp_path / "out", 0
    line = ["score", "run", str(items), "-o", str(out), "-m", str(model), "--device", "cpu"]
    line += ["--max-tokens-per-batch", "200"]
    before: dict[tuple[str, int], object] = {}
    for seed in range(kills):
        child = [sys.executable, "-c", _CODE, str(seed), str(rng.randrange(1, 3)), *line]
        code = subprocess.run(child, env=ENVIRONMENT, capture_output=True).returncode
        if code == 0:
            break
        assert code == -signal.SIGKILL
        killed += 1
        after = kept_rows(out, 40)
        whole = {path.name for path in out.rglob("*.parquet")}
        for place, answer in before.items():  # still there as it was, or in its file
            assert place[0].removesuffix(".journal") in whole or repr(after[place]) == repr(answer)
        before = after
    assert score(items, out, model, more=("--max-tokens-per-batch", 200)) == 0
    assert_same_answers(out, tmp_path / "calm")
    assert len(pd.read_parquet(out / "responses.parquet")) == 120
    assert not list(out.rglob("*.journal"))
    return killed


def test_killed_after_a_batch(tiny_model: Path, tmp_path: Path) -> None:
    assert check_kills(tiny_model, tmp_path, 1) == 1


@pytest.mark.slow
def test_killed_fifty_times(tiny_model: Path, tmp_path: Path) -> None:
    """Fresh runs are begun where one came to its end."""
    killed = n = 0
    while killed < 50:
        folder = tmp_path / str(n)
        folder.mkdir()
        killed += check_kills(tiny_model, folder, 50 - killed)
        n += 1
