"""The whole way, from items and models to a table: resumed, killed, raced, failing in part."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

from maskedadv.cli.main import main
from tests.scoring.conftest import write_item_file

pytest.importorskip("transformers")
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}


def run(*arguments: object) -> int:
    """The exit code of a command in this process."""
    try:
        main([str(a) for a in arguments])
    except SystemExit as stop:
        return int(stop.code or 0)
    return 0


def score(items: Path, out: Path, *models: object, more: tuple[object, ...] = ()) -> int:
    named = [x for model in models for x in ("-m", model)]
    return run("score", "run", items, "-o", out, "--device", "cpu", *named, *more)


def answer_files(out: Path) -> dict[Path, tuple[int, bytes]]:
    found = (out / "_answers").rglob("*.parquet")
    return {p.relative_to(out): (p.stat().st_mtime_ns, p.read_bytes()) for p in found}


def assert_same_answers(one: Path, two: Path) -> None:
    """The tables of two runs: the same but for rounding, as what is taken up is in other batches."""
    first, second = (pd.read_parquet(folder / "responses.parquet") for folder in (one, two))
    pd.testing.assert_frame_equal(first, second, check_exact=False, rtol=1e-5, atol=1e-5)


def test_a_run_and_the_same_run_again(
    tiny_model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    items, out = write_item_file(tmp_path / "set.jsonl"), tmp_path / "out"
    assert run("score", "plan", items, "-o", out, "-m", tiny_model) == 0
    assert "0 of 2" in capsys.readouterr().out
    assert not out.exists()
    assert score(items, out, tiny_model) == 0
    printed = capsys.readouterr()
    assert "Written to" in printed.out
    assert max(map(len, printed.out.split("\n\n")[0].splitlines())) <= 80
    first = answer_files(out)
    table = (out / "responses.parquet").read_bytes()
    assert len(first) == 2
    assert score(items, out, tiny_model) == 0
    assert answer_files(out) == first
    assert (out / "responses.parquet").read_bytes() == table
    assert run("score", "plan", items, "-o", out, "-m", tiny_model) == 0
    assert "2 of 2" in capsys.readouterr().out
    frame = pd.read_parquet(out / "responses.parquet")
    assert len(frame) == 24
    assert frame["correct"].notna().all()
    assert (frame["reason"] == "").all()


def test_progress_calls_models_by_the_names_given_to_them(
    tiny_model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    items = write_item_file(tmp_path / "set.jsonl")
    assert score(items, tmp_path / "out", f"one={tiny_model}", f"two={tiny_model}") == 0
    done = [line.split("  ")[0] for line in capsys.readouterr().err.splitlines() if "24 of 24 items" in line]
    assert sorted(done) == ["one", "two"]


def test_answers_do_not_depend_on_the_batch_or_the_order_of_items(tiny_model: Path, tmp_path: Path) -> None:
    items = write_item_file(tmp_path / "set.jsonl")
    lines = items.read_text().splitlines()
    random.Random(1).shuffle(lines)
    (tmp_path / "mixed").mkdir()
    mixed = tmp_path / "mixed" / "set.jsonl"
    mixed.write_text("\n".join(lines))
    assert score(items, tmp_path / "a", tiny_model) == 0
    assert score(mixed, tmp_path / "b", tiny_model) == 0
    assert score(items, tmp_path / "c", tiny_model, more=("--max-tokens-per-batch", 1)) == 0
    a, b, c = ((tmp_path / x / "responses.parquet") for x in "abc")
    assert a.read_bytes() == b.read_bytes()
    one, alone = pd.read_parquet(a), pd.read_parquet(c)
    assert (one["correct"] == alone["correct"]).all()
    assert (one["crm_logit"] - alone["crm_logit"]).abs().max() < 1e-4


def test_another_revision_of_a_model_never_gives_the_firsts_answers(tiny_model: Path, tmp_path: Path) -> None:
    import torch
    import transformers

    items, out = write_item_file(tmp_path / "set.jsonl"), tmp_path / "out"
    folder = tmp_path / "model"
    shutil.copytree(tiny_model, folder)
    assert score(items, out, f"m={folder}") == 0
    before = pd.read_parquet(out / "responses.parquet")
    model = transformers.AutoModelForCausalLM.from_pretrained(folder)
    with torch.no_grad():
        model.model.norm.weight.mul_(1.5)  # same names, same sizes, other content
    model.save_pretrained(folder)
    assert score(items, out, f"m={folder}") == 0
    after = pd.read_parquet(out / "responses.parquet")
    assert (before["crm_logit"] - after["crm_logit"]).abs().max() > 1e-3
    assert len(answer_files(out)) == 4
    # two models in one folder keep their answers apart
    assert score(items, out, f"m={folder}", f"n={tiny_model}") == 0
    both = pd.read_parquet(out / "responses.parquet")
    old = both[both["model"] == "n"].reset_index(drop=True)
    pd.testing.assert_series_equal(old["crm_logit"], before["crm_logit"])


def test_settings_that_decide_answers_have_their_own_files(tiny_model: Path, tmp_path: Path) -> None:
    items, out = write_item_file(tmp_path / "set.jsonl", languages=("en",)), tmp_path / "out"
    prompts = tmp_path / "mine.toml"
    prompts.write_text('version = "2"\n[en]\nanswer = "Reply"\n')
    for more in ((), ("--dtype", "bfloat16"), ("--letter-forms", "both"), ("--prompts", prompts)):
        assert score(items, out, tiny_model, more=more) == 0
    assert len(answer_files(out)) == 4
    assert score(items, out, tiny_model, more=("--max-tokens-per-batch", 64)) == 0
    assert len(answer_files(out)) == 4


def test_a_model_that_fails_is_recorded_and_the_others_go_on(
    tiny_model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    items, out = write_item_file(tmp_path / "set.jsonl"), tmp_path / "out"
    broken = tmp_path / "broken"
    shutil.copytree(tiny_model, broken)
    (broken / "model.safetensors").write_bytes(b"no weights")
    assert score(items, out, broken, tiny_model) == 1
    assert "1 of 2 models failed" in capsys.readouterr().err
    record = json.loads((out / "_errors" / "broken.json").read_text())
    assert record["model"] == "broken"
    assert "Traceback" in record["error"]
    assert set(pd.read_parquet(out / "responses.parquet")["model"]) == {"tiny"}
    shutil.copy(tiny_model / "model.safetensors", broken)
    assert score(items, out, broken, tiny_model) == 0
    assert not list((out / "_errors").iterdir())
    assert set(pd.read_parquet(out / "responses.parquet")["model"]) == {"tiny", "broken"}


def test_too_long_is_counted(tiny_model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [json.loads(line) for line in write_item_file(tmp_path / "set.jsonl").read_text().splitlines()]
    rows[3]["question"] = "long " * 600
    (tmp_path / "set.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert score(tmp_path / "set.jsonl", tmp_path / "out", tiny_model) == 0
    assert "1 too_long" in capsys.readouterr().out
    frame = pd.read_parquet(tmp_path / "out" / "responses.parquet")
    (bad,) = frame[frame["reason"] != ""].to_dict("records")
    assert (bad["item"], bad["reason"], pd.isna(bad["correct"])) == (rows[3]["item"], "too_long", True)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"options": ["a", "a"]}, "two equal options"),
        ({"language": "xx"}, "no prompt for the language 'xx'"),
        ({"answer": None}, "no right option"),
        ({"question": "a\u202eb"}, "hidden characters"),
    ],
)
def test_bad_items_are_refused_before_a_model_is_loaded(
    tmp_path: Path, change: dict[str, object], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [json.loads(line) for line in write_item_file(tmp_path / "set.jsonl").read_text().splitlines()]
    rows[0] |= change
    (tmp_path / "set.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert score(tmp_path / "set.jsonl", tmp_path / "out", "no/model") == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "more", [("--dtype", "int8"), ("--device", "cuda:99"), ("--max-tokens-per-batch", "0")]
)
def test_bad_settings_are_refused(
    tiny_model: Path, tmp_path: Path, more: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    items = write_item_file(tmp_path / "set.jsonl")
    assert run("score", "run", items, "-o", tmp_path / "out", "-m", tiny_model, *more) == 2
    assert more[0] in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


# --- kills and races ------------------------------------------------------------------------------


def start(items: Path, out: Path, *models: Path) -> subprocess.Popen[bytes]:
    command = [
        sys.executable,
        "-m",
        "maskedadv",
        "score",
        "run",
        str(items),
        "-o",
        str(out),
        "--device",
        "cpu",
    ]
    command += [x for model in models for x in ("-m", str(model))]
    return subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def kill_and_finish(items: Path, out: Path, model: Path, delays: list[float]) -> int:
    """Start again and again, killed after each delay; then once undisturbed. How many were killed at work."""
    killed = 0
    for delay in delays:
        process = start(items, out, model)
        time.sleep(delay)
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            killed += 1
        process.wait()
    assert start(items, out, model).wait() == 0
    return killed


def test_killed_while_writing(tiny_model: Path, tmp_path: Path) -> None:
    """Killed at the worst moment, with a half-written file on disk, and with a truncated answer file."""
    items = write_item_file(tmp_path / "set.jsonl")
    assert score(items, tmp_path / "calm", tiny_model) == 0
    code = (
        "import sys, os, signal, pyarrow.parquet as pq\n"
        "from maskedadv.cli.main import main\n"
        "write, written = pq.write_table, []\n"
        "def half(table, path, **options):\n"
        "    write(table, path, **options)\n"
        "    written.append(path)\n"
        "    if len(written) == 2:\n"
        "        data = open(path, 'rb').read(); open(path, 'wb').write(data[:len(data) // 2])\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "pq.write_table = half\n"
        "main(sys.argv[1:])\n"
    )
    out = tmp_path / "out"
    arguments = ["score", "run", str(items), "-o", str(out), "-m", str(tiny_model), "--device", "cpu"]
    killed = subprocess.run([sys.executable, "-c", code, *arguments], env=ENVIRONMENT, capture_output=True)
    assert killed.returncode == -signal.SIGKILL
    assert not (out / "responses.parquet").exists()
    (done,) = (out / "_answers").rglob("[!.]*.parquet")
    done.write_bytes(done.read_bytes()[:-30])
    assert score(items, out, tiny_model) == 0
    assert_same_answers(out, tmp_path / "calm")


def test_two_processes_on_one_folder(tiny_model: Path, tmp_path: Path) -> None:
    items = write_item_file(tmp_path / "set.jsonl")
    assert score(items, tmp_path / "calm", tiny_model) == 0
    racing = [start(items, tmp_path / "out", tiny_model) for _ in range(2)]
    assert [process.wait() for process in racing] == [0, 0]
    assert_same_answers(tmp_path / "out", tmp_path / "calm")
    assert len(answer_files(tmp_path / "out")) == 2


@pytest.mark.slow
def test_killed_at_random_times(tiny_model: Path, tmp_path: Path) -> None:
    items = write_item_file(tmp_path / "set.jsonl", languages=("en", "zh", "fr", "ja", "ar"), count=60)
    begun = time.monotonic()
    assert start(items, tmp_path / "calm", tiny_model).wait() == 0
    whole = time.monotonic() - begun
    rng = random.Random(7)
    killed = 0
    for trial in range(3):
        out = tmp_path / f"out{trial}"
        killed += kill_and_finish(items, out, tiny_model, [rng.uniform(0.4, 1.0) * whole for _ in range(2)])
        assert_same_answers(out, tmp_path / "calm")
        assert len(answer_files(out)) == 5
    assert killed >= 2
