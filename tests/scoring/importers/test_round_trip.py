"""Logs made on the spot by the real programs, where they are installed, import to what they report.

A program may be installed beside this project, or in an environment of its own that LM_EVAL_PYTHON,
LIGHTEVAL_PYTHON or INSPECT_PYTHON names.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from maskedadv.scoring.importers import inspect_files
from maskedadv.scoring.importers.inspect import read_inspect
from maskedadv.scoring.importers.lighteval import read_lighteval
from maskedadv.scoring.importers.lm_eval import read_lm_eval
from maskedadv.scoring.importers.mapping import read_mapping

HERE = Path(__file__).resolve().parent
LABELS = {f"toy/test/{i}": ["CA", "CS", "CA"][i % 3] for i in range(6)}


def run(program, variable, script, folder):
    python = os.environ.get(variable) or (sys.executable if importlib.util.find_spec(program) else "")
    if not python:
        pytest.skip(f"{program} is not installed, and {variable} names no Python that has it")
    done = subprocess.run(
        [python, str(HERE / script), str(folder)], capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]


def rules(folder, text):
    path = folder / "map.toml"
    path.write_text(text, encoding="utf-8")
    return read_mapping(path)


@pytest.mark.slow  # runs the harness itself, most of a minute; logs of several versions are bundled
def test_lm_eval(tmp_path):
    run("lm_eval", "LM_EVAL_PYTHON", "run_lm_eval.py", tmp_path / "out")
    reported = {}
    for path in (tmp_path / "out" / "logs").rglob("results*.json"):
        reported |= json.loads(path.read_text(encoding="utf-8"))["results"]
    toys = "[[task]]\npattern = 'toy_.*'\nlanguage = 'en'\nsubset = 'CA'\nitem = '{doc.id}{doc.sample_id}'\n"
    assert len(reported) == 6
    for task, scores in reported.items():
        found = read_lm_eval(
            [tmp_path / "out" / "logs"], rules=rules(tmp_path, toys), tasks=[task], labels=LABELS
        )
        correct = found.answers["correct"]
        assert len(correct) == 6
        if task == "toy_gen":  # the harness' filter scores an answer without a letter as wrong
            assert correct.fillna(0).mean() == pytest.approx(scores["exact_match,letter"], abs=1e-12)
        else:
            assert correct.mean() == pytest.approx(scores["acc,none"], abs=1e-12)


def test_lighteval(tmp_path):
    run("lighteval", "LIGHTEVAL_PYTHON", "run_lighteval.py", tmp_path / "out")
    (results,) = (tmp_path / "out").rglob("results_*.json")
    reported = json.loads(results.read_text(encoding="utf-8"))["results"]
    ids = "[[task]]\npattern = 'toy_(?P<code>..)'\nlanguage = '{code}'\nsubset = '{doc.specific.label}'\n"
    toys = ids + "item = '{doc.specific.sample_id}'\n"
    for language in ("en", "eu"):
        found = read_lighteval(
            [tmp_path / "out"], rules=rules(tmp_path, toys), tasks=[f"toy_{language}"], labels=LABELS
        )
        (scores,) = [s for name, s in reported.items() if f"toy_{language}" in name]
        assert len(found.answers) == 6
        assert found.answers["correct"].mean() == pytest.approx(scores["acc"], abs=1e-12)
        assert found.answers["p_correct"].mean() == pytest.approx(scores["normalized_mc_prob"], rel=1e-6)


def test_inspect(tmp_path):
    run("inspect_ai", "INSPECT_PYTHON", "run_inspect.py", tmp_path)
    for case, epochs in (("eval", "first"), ("json", "first"), ("epochs", "mean")):
        for path in sorted((tmp_path / case).iterdir()):
            found = read_inspect([path], labels=LABELS, epochs=epochs)
            header = inspect_files.read_header(path)
            reported = header["results"]["scores"][0]["metrics"]["accuracy"]["value"]
            column = "correct" if epochs == "first" else "p_correct"
            assert len(found.answers) == 6
            assert found.answers[column].mean() == pytest.approx(reported, abs=1e-12)
