"""What readers of the pages have before them: tables, results, logs, items, models, each made when asked for.

Small, and simulated or made up. What a page shows of a file that the reader writes is not here.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pandas as pd

import maskedadv
from tests.conftest import ROOT
from tests.simulate import artefact_table, table

Get = Callable[[str], Path]
"""From a name to the thing of this name."""
Maker = Callable[[Path, Get], None]

TUTORIAL = ROOT / "docs" / "tutorials"
LOGS = ROOT / "tests" / "data" / "logs"


def answers() -> pd.DataFrame:
    """Six models, four options each, Chinese and English."""
    return artefact_table(6, 30, chance=0.25, seed=1).assign(n_options=4)


def few_answers() -> pd.DataFrame:
    """Three models, no options known: what is sampled in a second."""
    return table(3, (12, 12), seed=3)


def facts() -> pd.DataFrame:
    """Facts about the models of `answers`."""
    models = pd.DataFrame({"model": sorted(set(answers()["model"]))})
    models["family"] = [f"family {k % 3}" for k in range(len(models))]
    models["adapted_for"] = ["zh" if k < 2 else "" for k in range(len(models))]
    return models


def _scored(path: Path, _: Get) -> None:
    rows = answers()
    p_correct = rows["correct"].map({0: 0.2, 1: 0.7}) + rows.index % 7 / 70
    rows.assign(p_correct=p_correct).to_csv(path, index=False)


def _accuracies(path: Path, _: Get) -> None:
    by = answers().groupby(["model", "subset", "language"])["correct"]
    by.agg(accuracy="mean", n_items="size").reset_index().to_csv(path, index=False)


def _item_texts(path: Path, _: Get) -> None:
    """The items of `answers`, with texts in both languages."""
    rows = [
        {
            **{"item": item, "subset": subset, "language": language, "question": f"{item} ({language})?"},
            "options": [f"{letter} of {item}" for letter in "wxyz"],
            "answer": "A",
        }
        for item, subset in answers()[["item", "subset"]].drop_duplicates().itertuples(index=False)
        for language in ("en", "zh")
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


def _stan_csv(path: Path, get: Get) -> None:
    """Two chains as CmdStan writes them, one into `path`, one beside it; the embedded engine drew them."""
    from tests.documentation.shell import run_command
    from tests.engines import fake_cmdstan

    made = path.parent / "for CmdStan"
    made.mkdir()
    source = str(get("answers.csv"))
    run_command(["export-stan", source, "-o", str(made / "stan"), "--locale", "zh", "--chains", "2"])
    (program,) = (made / "stan" / "zh").glob("*.stan")
    fake_cmdstan.build(str(fake_cmdstan.install(made)), str(program), str(made / "sampler"))
    for chain in ("1", "2"):
        words = [f"id={chain}", "random", "seed=7", "data", f"file={program.with_name('data.json')}"]
        words += [f"init={program.with_name(f'inits_{chain}.json')}"]
        words += ["output", f"file={path.with_name(f'zh_{chain}.csv')}", "method=sample", "num_samples=20"]
        words += ["num_warmup=20", "adapt", "delta=0.9", "max_depth=4", "metric=diag_e"]
        subprocess.run([made / "sampler", *words], check=True, capture_output=True)


def _lighteval(path: Path, _: Get) -> None:
    source = LOGS / "lighteval_0.13.0" / "details"
    for file in (f for f in source.rglob("*") if f.is_file()):
        target = path / str(file.relative_to(source)).replace("@", "|")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, target)


def _tasks(path: Path, _: Get) -> None:
    from tests.scoring.importers.test_lighteval import MAP

    path.write_text(MAP, "utf-8")


def _folder_of_tables(path: Path, _: Get) -> None:
    path.mkdir()
    for k, model in enumerate(("first", "second")):
        rows = pd.DataFrame({"id": [f"q{n}" for n in range(8)], "correct": [(n + k) % 2 for n in range(8)]})
        rows.assign(model=model).to_csv(path / f"{model}.csv", index=False)


def _scores(path: Path, _: Get) -> None:
    """Accuracies of a study of validity; its facts about models lie beside it under the name facts.csv."""
    from tests.validity.conftest import aggregate, simulate

    made = simulate(seed=1, n_items=100)
    aggregate(made.scores).to_csv(path, index=False)
    one = made.models.rename(columns={"proficiency_sv": "proficiency"})
    one.to_csv(path.with_name("facts.csv"), index=False)


def _humans(path: Path, _: Get) -> None:
    from tests.annotation.test_cli import folder

    made = path.parent / "annotated"
    made.mkdir()
    folder.__wrapped__(made)  # type: ignore[attr-defined]
    for name, file in (("humans", "humans"), ("llm", "model"), ("map", "subjects")):
        shutil.copy(made / f"{name}.csv", path.with_name(f"{file}.csv"))


def _frame(make: Callable[[], pd.DataFrame]) -> Maker:
    def write(path: Path, _: Get) -> None:
        if path.suffix == ".csv":
            make().to_csv(path, index=False)
        else:
            make().to_parquet(path, index=False)

    return write


def _copied(source: Path) -> Maker:
    def copy(path: Path, _: Get) -> None:
        (shutil.copytree if source.is_dir() else shutil.copy)(source, path)

    return copy


def _beside(other: str) -> Maker:
    """What the maker of another thing writes, too."""

    def check(path: Path, get: Get) -> None:
        get(other)
        assert path.exists()

    return check


def _partitioned(path: Path, _: Get) -> None:
    path.mkdir()
    answers().to_parquet(path / "part-0.parquet", index=False)


def _results(path: Path, _: Get) -> None:
    maskedadv.fit(answers(), estimator="marginal", min_accuracy=0).save(path)


def _command(*words: str) -> Maker:
    """What a command writes that is given the answers."""

    def write(path: Path, get: Get) -> None:
        from tests.documentation.shell import run_command

        run_command([words[0], str(get("responses.csv")), *words[1:], "-o", str(path)])

    return write


QUICKLY = {"chains": 2, "warmup": 20, "draws": 20, "max_treedepth": 4, "seed": 1}
"""As short as NUTS may be."""


def _posterior(path: Path, _: Get) -> None:
    maskedadv.fit(few_answers(), method="nuts", **QUICKLY).save(path)


MAKERS: dict[str, Maker] = {
    "responses.csv": _frame(answers),
    "responses.parquet": _frame(answers),
    "big.csv": _frame(answers),
    "answers": _partitioned,
    "answers.csv": _frame(few_answers),
    "few.csv": _frame(few_answers),
    "models.csv": _frame(facts),
    "scored.csv": _scored,
    "accuracies.csv": _accuracies,
    "items.jsonl": _item_texts,
    "results": _results,
    "of-few": lambda path, _: maskedadv.fit(few_answers(), estimator="marginal").save(path),
    "posterior": _posterior,
    "dif-out": _command("dif"),
    "fit-out": _command("fit-check"),
    "zh_1.csv": _stan_csv,
    "zh_2.csv": _beside("zh_1.csv"),
    "logs": _copied(TUTORIAL / "lm-eval" / "logs"),
    "details": _lighteval,
    "tasks.toml": _tasks,
    "evals": _copied(LOGS / "inspect_0.3.285" / "json"),
    "runs": _copied(ROOT / "tests" / "data" / "cases" / "import" / "helm_run" / "run"),
    "scores": _folder_of_tables,
    "scores.csv": _scores,
    "facts.csv": _beside("scores.csv"),
    "humans.csv": _humans,
    "model.csv": _beside("humans.csv"),
    "subjects.csv": _beside("humans.csv"),
    "maskedadv": lambda path, _: path.symlink_to(ROOT),
}


class Things:
    """Everything that was asked for, once a session; `of_scoring` has makers of its own."""

    def __init__(self, place: Path, makers: dict[str, Maker]) -> None:
        self.place = place
        self.makers = makers

    def get(self, name: str) -> Path:
        """The thing of this name, made at the first time."""
        path = self.place / name
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            self.makers[name](path, self.get)
        return path

    def put(self, name: str, folder: Path) -> None:
        """A copy in a reader's folder; `one = other` puts the thing `other` there under the name `one`."""
        target, _, source = name.partition(" = ")
        found, to = self.get(source or target), folder / target
        to.parent.mkdir(parents=True, exist_ok=True)
        if found.is_symlink():
            to.symlink_to(found.resolve())
        else:
            (shutil.copytree if found.is_dir() else shutil.copy)(found, to)
