"""Every other command that writes or prints, small, as the stages of `stages.py` are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd

import maskedadv
from tests.conftest import ROOT
from tests.faults.matrix import Stage
from tests.faults.stages import NAMES, digests, stage
from tests.simulate import table
from tests.validity.conftest import simulate

_CASES = ROOT / "tests" / "data" / "cases" / "import"
_SMALL = ("--models", "4", "--items-ca", "20", "--items-cs", "20")


def _csv(folder: Path) -> Path:
    table(4, (15, 15), locales=("zh", "eu"), seed=3).to_csv(folder / "t.csv", index=False)
    return folder / "t.csv"


def _saved(folder: Path) -> Path:
    return maskedadv.fit(_csv(folder), min_accuracy=0, variants="none").save(folder / "saved")


def _of_table(name: str, *line: str, result: str, printed: str = "") -> Callable[[Path], Stage]:
    def make(folder: Path) -> Stage:
        return Stage(name, line, {"t.csv": _csv(folder)}, digests(result), printed=printed)

    return make


def _of_result(name: str, *line: str, result: str, printed: str = "") -> Callable[[Path], Stage]:
    def make(folder: Path) -> Stage:
        return Stage(name, line, {"saved": _saved(folder)}, digests(result), printed=printed)

    return make


def _of_nothing(name: str, *line: str, result: str, printed: str = "") -> Callable[[Path], Stage]:
    return lambda _: Stage(name, line, {}, digests(result), printed=printed)


def _validity(folder: Path) -> Stage:
    study = simulate(3, 60)
    study.scores.to_csv(folder / "scores.csv", index=False)
    study.models.to_csv(folder / "models.csv", index=False)
    lines = ['scores = "scores.csv"', 'models = "models.csv"']
    for pairing in study.plan.pairings[:2]:
        lines += [
            "[[pairing]]",
            *(f'{k} = "{getattr(pairing, k)}"' for k in ("name", "language", "native", "proxy")),
        ]
        lines += [f"open_ended = {str(pairing.open_ended).lower()}"]
    (folder / "pairings.toml").write_text("\n".join(lines), "utf-8")
    line = ("validity", "run", "pairings.toml", "-o", "study", "--resamples", "100", "--repeats", "4")
    inputs = {name: folder / name for name in ("scores.csv", "models.csv", "pairings.toml")}
    return Stage("validity", line, inputs, digests("study"))


def _compare(folder: Path) -> Stage:
    def scores(work: Path) -> str:
        return pd.read_csv(work / "c" / "scores.csv").drop(columns="seconds").to_csv()

    line = ("compare", "t.csv", "-o", "c", "--candidate", "joint")
    return Stage("compare", line, {"t.csv": _csv(folder)}, scores)


def _helm(_: Path) -> Stage:
    line = (
        "import",
        "helm",
        "run",
        "-o",
        "answers.parquet",
        "--subset",
        "CA",
        "--overwrite",
    )
    return Stage("helm", line, {"run": _CASES / "helm_run" / "run"}, digests("answers.parquet"))


def _accuracies(folder: Path) -> Stage:
    rows = [
        {
            "model": f"m{k}",
            "subset": s,
            "language": lang,
            "n_items": 100,
            "accuracy": 0.3 + 0.01 * k + 0.1 * (lang == "en"),
        }
        for k in range(4)
        for s in ("CA", "CS")
        for lang in ("en", "zh")
    ]
    pd.DataFrame(rows).to_csv(folder / "acc.csv", index=False)
    line = ("from-accuracy", "acc.csv", "-o", "gaps.csv", "--overwrite")
    return Stage("from_accuracy", line, {"acc.csv": folder / "acc.csv"}, digests("gaps.csv"))


def _items(name: str, *line: str, result: str) -> Callable[[Path], Stage]:
    def make(folder: Path) -> Stage:
        from tests.scoring.endpoints.scripted import write_questions

        items = write_questions(folder / "set.jsonl", 60)
        return Stage(name, line, {"set.jsonl": items}, digests(result))

    return make


COMMANDS: dict[str, Callable[[Path], Stage]] = {
    "simulate": _of_nothing("simulate", "simulate", "-o", "made", *_SMALL, result="made"),
    "power": _of_nothing("power", "power", *_SMALL, "--replicates", "4", "-o", "p.csv", result="p.csv"),
    "demo": _of_nothing("demo", "demo", "-o", "demo", result="demo"),
    "check": _of_table("check", "check", "t.csv", "--cells", result="said.txt", printed="said.txt"),
    "check_json": _of_table("check_json", "check", "t.csv", "--json", result="said.txt", printed="said.txt"),
    "gaps": _of_result("gaps", "gaps", "saved", "--format", "csv", result="gaps.csv", printed="gaps.csv"),
    "sensitivity": _of_table(
        "sensitivity",
        "sensitivity",
        "t.csv",
        "-o",
        "s.csv",
        "--figure",
        "s.svg",
        "--overwrite",
        result="s.csv",
    ),
    "compare": _compare,
    "dif": _of_table("dif", "dif", "t.csv", "-o", "d", result="d"),
    "fit_check": _of_table("fit_check", "fit-check", "t.csv", "-o", "f", "--replicates", "20", result="f"),
    "export_stan": _of_table("export_stan", "export-stan", "t.csv", "-o", "stan", result="stan"),
    "import_table": _of_table(
        "import_table", "import", "table", "t.csv", "-o", "a.csv", "--overwrite", result="a.csv"
    ),
    "import_parts": _of_table(
        "import_parts", "import", "table", "t.csv", "-o", "a", "--overwrite", result="a"
    ),
    "fit_joint": _of_table("fit_joint", "fit", "t.csv", "-o", "out", "--scope", "joint", result="out"),
    "simulate_like": _of_result("simulate_like", "simulate", "saved", "-o", "made", result="made"),
    "power_like": _of_result("power_like", "power", "saved", "-o", "p.csv", result="p.csv"),
    "validity": _validity,
    "helm": _helm,
    "from_accuracy": _accuracies,
    "items_convert": _items(
        "items_convert", "items", "convert", "set.jsonl", "-o", "c.jsonl", "--overwrite", result="c.jsonl"
    ),
    "items_page": _items(
        "items_page", "items", "page", "set.jsonl", "-o", "p.html", "--overwrite", result="p.html"
    ),
    "items_sample": _items(
        "items_sample", "items", "sample", "set.jsonl", "-o", "s.parquet", "--overwrite", result="s.parquet"
    ),
}

ALL = (*NAMES, *COMMANDS)


@contextmanager
def made(name: str, folder: Path) -> Iterator[Stage]:
    """A command of this file or of `stages.py`; `folder` is for its inputs."""
    if name in COMMANDS:
        folder.mkdir(parents=True)
        yield COMMANDS[name](folder)
    else:
        with stage(name, folder) as own:
            yield own
