"""The commands of the kill matrix, small: what they read, and what of their outcome must be the same."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pandas as pd

import maskedadv
from tests.conftest import ROOT
from tests.faults.matrix import Stage
from tests.simulate import table

NAMES = ("import", "fit", "fit_jobs", "fit_overwrite", "nuts", "nuts_jobs", "report", "score", "build")
_LOGS = ROOT / "tests" / "data" / "cases" / "import" / "lm_eval_a_note_per_task"
_NUTS = ("--method", "nuts", "--chains", "1", "--warmup", "20", "--draws", "6", "--engine", "embedded")


def digests(folder: str, skip: str = "") -> Callable[[Path], dict[str, str]]:
    """SHA-256 of all files of an output, but of what lies below `skip`."""

    def of(work: Path) -> dict[str, str]:
        whole = work / folder
        files = [p for p in sorted(whole.rglob("*")) if p.is_file()] if whole.is_dir() else [whole]
        named = {str(p.relative_to(work)): p for p in files if not skip or skip not in p.parts}
        assert named
        return {name: hashlib.sha256(p.read_bytes()).hexdigest() for name, p in named.items()}

    return of


def _rows(name: str) -> Callable[[Path], Any]:
    """A table's rows, as text: all digits."""
    return lambda work: pd.read_parquet(work / name).to_csv(index=False)


def _fit(csv: Path, *more: str, out: str = "out", workers: str = "", name: str = "fit") -> Stage:
    line = ("fit", "t.csv", "-o", out, "--min-accuracy", "0", *more)
    return Stage(name, line, {"t.csv": csv}, digests(out), workers)


@contextmanager
def stage(name: str, folder: Path) -> Iterator[Stage]:
    """A stage by its name; `folder` is for its inputs. Servers run until the end of the block."""
    folder.mkdir(parents=True, exist_ok=True)
    csv = folder / "t.csv"
    locales = ("zh", "eu") if "jobs" in name else ("zh",)
    table(3, (12, 12), locales=locales, seed=3).to_csv(csv, index=False)
    with ExitStack() as stack:
        match name:
            case "import":
                line = ("import", "lm-eval", "logs", "--map", "logs/tasks.toml", "--subset", "CA")
                line = (*line, "-o", "answers.parquet", "--overwrite")
                yield Stage(name, line, {"logs": _LOGS}, _rows("answers.parquet"))
            case "fit":
                yield _fit(csv)
            case "fit_jobs":
                yield _fit(csv, "--jobs", "2", workers="maskedadv.launchers.worker", name=name)
            case "fit_overwrite":
                old = maskedadv.fit(csv, min_accuracy=0, level=0.5).save(folder / "old")
                (old / "mine.txt").write_text("a user's own")
                made = _fit(csv, "--overwrite", name=name)
                yield Stage(name, made.arguments, {**made.inputs, "out": old}, made.result)
            case "nuts":
                yield _fit(csv, *_NUTS, "--variants", "none", name=name)
            case "nuts_jobs":
                more = (*_NUTS, "--variants", "none", "--jobs", "2")
                yield _fit(csv, *more, workers="maskedadv.launchers.worker", name=name)
            case "report":
                saved = maskedadv.fit(csv, min_accuracy=0, variants="none").save(folder / "saved")
                yield Stage(name, ("report", "saved", "-o", "page"), {"saved": saved}, digests("page"))
            case "score":
                yield stack.enter_context(_score(folder))
            case "build":
                yield stack.enter_context(_build(folder))
            case _:
                raise ValueError(name)


@contextmanager
def _score(folder: Path) -> Iterator[Stage]:
    """Sixty questions to an endpoint that answers at once."""
    from tests.scoring.endpoints.scripted import chat, serve, write_questions

    items = write_questions(folder / "set.jsonl", 60)

    def respond(_path: str, body: dict[str, Any]) -> tuple[int, Any, dict[str, str]]:
        number = int(body["messages"][0]["content"].split("number ")[1].split("?")[0])
        return 200, chat(f"Answer: {'ABCD'[number % 3]}"), {}

    with serve(respond) as server:
        line = ("score", "run", "set.jsonl", "-o", "out", "-m", "m", "--api", server.url)
        yield Stage("score", line, {"set.jsonl": items}, _rows("out/responses.parquet"))


@contextmanager
def _build(folder: Path) -> Iterator[Stage]:
    """Forty questions through labels, a sample and translations."""
    from tests.scoring.endpoints.scripted import Response
    from tests.scoring.item_sets.scripted_models import Models, say
    from tests.scoring.item_sets.test_build import write_build

    class Good(Models):
        """Answers well, however often it is asked."""

        def answer(self, body: dict[str, Any], step: str, name: str, number: int) -> Response:  # noqa: ARG002
            labels = step == "annotate"
            return say(
                "good", self.annotation(body["model"], name) if labels else self.translation(step, name), 0
            )

    with Good(script=False).serve() as server:
        file = write_build(folder, server.url, review="")
        inputs = {name: folder / name for name in (file.name, "questions.csv")}
        line = ("items", "build", file.name, "-o", "set")
        yield Stage("build", line, inputs, digests("set", skip="_said"))
