"""What is fuzzed: each target takes bytes, and only a mistake of ours makes it raise.

A named refusal (`MaskedadvError`) is what hostile input deserves. Anything else is a finding: another
exception, or an outcome that no answer can have.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from maskedadv.errors import InputError

DATA = Path(__file__).resolve().parent.parent / "data"
CUT = b"\n%%%\n"
"""Between the files of one input."""


@dataclass(frozen=True)
class Target:
    """A function of bytes, and bytes to begin with.

    Attributes
    ----------
    run : raises on a finding
    seeds : inputs that are read to their end
    kind : how inputs are changed: "json" (documents, lines of them), "text" or "bytes"
    """

    run: Callable[[bytes], None]
    seeds: Callable[[], list[bytes]]
    kind: str


@contextmanager
def files(data: bytes, names: Sequence[str]) -> Iterator[Path]:
    """A folder with the input's files, in the order of `names`; the first is always there."""
    folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
    try:
        parts = data.split(CUT, len(names) - 1)
        for name, content in zip(names, parts, strict=False):
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        yield folder
    finally:
        shutil.rmtree(folder)


def check_answers(answers: Any) -> None:
    """Hold an imported table to what a response table may hold."""
    assert len(answers)
    assert set(answers["subset"]) <= {"CA", "CS"}
    values = [name for name in ("correct", "p_correct") if name in answers]
    assert values
    assert all(answers[name].dropna().between(0, 1).all() for name in values)
    if "correct" in answers:
        assert set(answers["correct"].dropna()) <= {0, 1}
    assert not answers.duplicated(["model", "subset", "language", "item"]).any()
    for name in ("model", "language", "item"):
        assert (answers[name].astype("str") != "").all()


def _importer(read: Callable[[Path], Any], names: Sequence[str]) -> Callable[[bytes], None]:
    def run(data: bytes) -> None:
        with files(data, names) as folder:
            try:
                found = read(folder)
            except InputError:
                return
            check_answers(found.answers)

    return run


def _seeds(*paths: str) -> Callable[[], list[bytes]]:
    """One input of files below the data of tests, each found by a pattern."""
    return lambda: [CUT.join(next(DATA.glob(path)).read_bytes() for path in paths)]


# --- importers -----------------------------------------------------------------------------------

_TASKS = """
[[task]]
pattern = '.*'
language = "en"
subset = "CA"
item = "{doc.id}{doc.sample_id}{doc.specific.sample_id}{id}"
n_options = 4
"""
_TIME = "2026-01-02T03-04-05.678901"


def _rules(folder: Path) -> Any:
    from maskedadv.scoring.importers.mapping import read_mapping

    path = folder / "tasks.map"
    path.write_text(_TASKS, "utf-8")
    return read_mapping(path)


def _lm_eval(folder: Path) -> Any:
    from maskedadv.scoring.importers.lm_eval import read_lm_eval

    return read_lm_eval([folder / "org__m"], rules=_rules(folder))


def _inspect(folder: Path) -> Any:
    from maskedadv.scoring.importers.inspect import read_inspect

    return read_inspect([*folder.glob("l*")], allow_limited=True, epochs="mean")


def _inspect_eval(folder: Path) -> Any:
    from maskedadv.scoring.importers.inspect import read_inspect

    return read_inspect([*folder.glob("*.eval")], rules=_rules(folder))


def _helm(folder: Path) -> Any:
    from maskedadv.scoring.importers.helm import read_helm

    return read_helm([folder / "run"], subset="CA")


def _lighteval(folder: Path) -> Any:
    from maskedadv.scoring.importers.lighteval import read_lighteval

    return read_lighteval([folder / "details"], rules=_rules(folder))


def _table(folder: Path) -> Any:
    from maskedadv.scoring.importers.table import read_table

    return read_table(sorted(folder.glob("t.*")), model="m", language="en", subset="CA")


def _mapped_table(folder: Path) -> Any:
    from maskedadv.scoring.importers.table import read_table
    from maskedadv.scoring.importers.table_mapping import read_table_mapping

    mapping = read_table_mapping(folder / "map.toml")
    return read_table([folder / "t.csv"], mapping=mapping, model="m", language="en", subset="CA")


def _mapped_log(folder: Path) -> Any:
    from maskedadv.scoring.importers.lm_eval import read_lm_eval
    from maskedadv.scoring.importers.mapping import read_mapping

    return read_lm_eval([folder / "org__m"], rules=read_mapping(folder / "map.toml"))


def _guess(data: bytes) -> None:
    """A guessed mapping is TOML that can be read, or there is a refusal."""
    from maskedadv.scoring.importers.table_guess import guess_mapping
    from maskedadv.scoring.importers.table_mapping import read_table_mapping

    with files(data, ["t.csv"]) as folder:
        try:
            text, _ = guess_mapping([folder / "t.csv"])
        except InputError:
            return
        (folder / "map.toml").write_text(text, "utf-8")
        read_table_mapping(folder / "map.toml")


# --- items and answers ---------------------------------------------------------------------------


def _items(data: bytes) -> None:
    from maskedadv.scoring.items.items import check_items
    from maskedadv.scoring.items.sources import read_items

    with files(data, ["set.jsonl"]) as folder:
        try:
            items = read_items([folder / "set.jsonl"], language="en", subset="CA").items
        except InputError:
            return
    check_items(items)


# --- item sets -----------------------------------------------------------------------------------


def _build(data: bytes) -> None:
    from maskedadv.scoring.item_sets.build_file import read_build

    with files(data, ["build.toml"]) as folder:
        try:
            plan = read_build(folder / "build.toml")
        except InputError:
            return
    assert plan.sources
    assert isinstance(plan.seed, int)


def _review(data: bytes) -> None:
    """What Label Studio exported, to decisions."""
    from maskedadv.scoring.item_sets.review import decide, export
    from maskedadv.scoring.item_sets.review.people import read_people
    from maskedadv.scoring.item_sets.tables import write_step

    with files(data, ["export.json"]) as folder:
        try:
            people = export(folder / "export.json")
            write_step(folder / "people.parquet", people)
            decisions = decide(read_people([folder / "people.parquet"]), least=1)
        except InputError:
            return
    assert decisions.num_rows <= people.num_rows


def _review_folder(data: bytes) -> None:
    """What `items review start` leaves for later commands."""
    from maskedadv.scoring.item_sets.review.folder import read_review, read_tasks

    with files(data, ["review.json", "tasks.json"]) as folder:
        try:
            review = read_review(folder)
            tasks = read_tasks(folder)
        except InputError:
            return
    assert all(isinstance(name, str) for name in review.projects)
    for task in tasks:
        assert task.sheet
        assert isinstance(task.english_sheet, str)


def _review_seeds() -> list[bytes]:
    meta = {"item": "i/1", "language": "ar", "question": "2?", "options": ["4", "5"]}
    english = {"english_question": "2?", "english_options": ["4", "5"]}
    span = {"start": 0, "end": 1, "text": "2", "labels": ["Trigger"]}
    result = [
        {"from_name": "required_knowledge", "type": "choices", "value": {"choices": ["cultural"]}},
        {"from_name": "cs_ca", "type": "choices", "value": {"choices": ["CS"]}},
        {"from_name": "translation", "type": "choices", "value": {"choices": ["bad"]}},
        {"from_name": "mended", "type": "textarea", "value": {"text": ["2?\nA. 4\nB. 6"]}},
        {"from_name": "trigger_spans", "type": "labels", "value": span},
    ]
    people = [{"completed_by": {"email": "a@b"}, "result": result, "updated_at": "2026"}]
    people.append({"completed_by": 2, "result": result[:2], "was_cancelled": False, "updated_at": "2026"})
    return [json.dumps([{"meta": {**meta, **english}, "annotations": people}]).encode()]


def _review_folder_seeds() -> list[bytes]:
    from dataclasses import asdict

    from maskedadv.scoring.item_sets.review.folder import Review
    from maskedadv.scoring.item_sets.review.tasks import make_tasks
    from maskedadv.scoring.items.items import Item

    items = [Item("q", "CS", k, "2 + 2?", ("4", "5"), 0) for k in ("ar", "en")]
    review = asdict(Review("f", "label-studio", url="http://x", projects=("1",)))
    return [json.dumps(review).encode() + CUT + json.dumps([asdict(t) for t in make_tasks(items)]).encode()]


_BUILD = b"""
[set]
name = "forty"
seed = 3
[[source]]
name = "forty"
items = "questions.csv"
licence = "CC0-1.0"
subject = "topic"
[annotate]
definition = "full"
[[annotate.model]]
name = "a"
model = "a"
api = "http://127.0.0.1:1"
timeout = 30
retries = 2
[sample]
cap = 7
subset = "all"
by_subject = false
[translate]
flagged = "out"
[translate.model]
model = "t"
api = "http://127.0.0.1:1"
[review]
decisions = "decisions.parquet"
"""


LANGUAGES = ("en", "zh", "ar", "bn", "de", "sw", "th", "xx")


def _reading(data: bytes) -> None:
    """Two bytes choose language and number of options; options and answer are lines."""
    from maskedadv.scoring.reading.read import read_answer

    if len(data) < 2:
        return
    language, n = LANGUAGES[data[0] % len(LANGUAGES)], 2 + data[1] % 9
    *options, text = data[2:].decode("utf-8", "surrogateescape" if data[1] & 128 else "replace").split("\x1f")
    for finish in (None, "length"):
        found = read_answer(text, n, language, option_texts=options[:n], finish_reason=finish)
        assert found.option is None or 0 <= found.option < n
        assert found.read_by
    assert found == read_answer(text, n, language, option_texts=options[:n], finish_reason="length")


def _reading_seeds() -> list[bytes]:
    texts = [
        "The answer is B.",
        "<think>maybe A</think>**B**",
        "\\boxed{C}",
        "A and C are wrong, so B",
        "答案是B",
        "الإجابة هي ب",
        "উত্তর: খ",
        "Paris\x1fRome\x1fParis",
        "1\x1f2\x1f3\x1f2",
    ]
    return [bytes([k % len(LANGUAGES), 2]) + text.encode() for k, text in enumerate(texts)]


_CSV = b'model,subset,language,item,correct\nm,CA,en,001,1\nm,CA,eu,001,0\nm,CS,en,"1,5",\nm,CS,eu,"1,5",1\n'
_KEYED = b"id,answer,pred\nq1,A,A\nq2,B,C\nq3,C,\nq4,D,FAILED\nq6,b,B\nq7,C,C \n"
_MAPPING = (
    b'[columns]\nitem = "id"\n[answers]\nkey = "answer"\ngiven = "pred"\nmissing = ["FAILED"]\n'
    b'[fixed]\nmodel = "gpt-x"\nlanguage = "ko"\nsubset = "CS"\n'
)
_ITEMS = (
    b'{"item":"q1","subset":"CA","language":"en","question":"2+2?","options":["3","4"],"answer":1}\n'
    b'{"item":"q1","subset":"CA","language":"zh","question":"2+2?","options":["3","4"],"answer":"B"}\n'
)
_RECORDS = (
    b'[{"model":"m","subset":"CA","language":"en","item":"a","correct":1},'
    b'{"model":"m","subset":"CA","language":"en","item":"b","p_correct":0.5}]'
)
_SAMPLES = "logs/lm_eval_0.4.13/hf/*/samples_global_mmlu_en*"
_WRITTEN = "cases/import/lm_eval_language_in_folder/out/en/org__m/samples*"
_RESULTS = "cases/import/lm_eval_language_in_folder/out/en/org__m/results*"
_LOG, _META = f"org__m/samples_quiz_{_TIME}.jsonl", f"org__m/results_{_TIME}.json"
_RUN = "cases/import/helm_run/run"
_NULL_SCORE = "cases/import/inspect_null_score/log.json"
_PARQUET = "cases/import/lighteval_reading_not_compared/details/org/m/*/*.parquet"


def _lm_eval_seeds() -> list[bytes]:
    few = [b"\n".join(next(DATA.glob(_SAMPLES)).read_bytes().splitlines()[:2])]
    return [*_seeds(_WRITTEN, _RESULTS)(), *few]


def _task_map_seeds() -> list[bytes]:
    return [_TASKS.encode() + CUT + b"".join(_seeds(_WRITTEN)())]


TARGETS: dict[str, Target] = {
    "lm_eval": Target(_importer(_lm_eval, [_LOG, _META]), _lm_eval_seeds, "json"),
    "inspect": Target(
        _importer(_inspect, ["l.json"]), _seeds("cases/import/inspect_null_score/log.json"), "json"
    ),
    "inspect_eval": Target(
        _importer(_inspect_eval, [f"{_TIME}_quiz_abc.eval"]),
        _seeds("cases/import/inspect_fewer_samples_than_the_header_says/*.eval"),
        "bytes",
    ),
    "helm": Target(
        _importer(_helm, ["run/per_instance_stats.json", "run/run_spec.json"]),
        _seeds(f"{_RUN}/per_instance_stats.json", f"{_RUN}/run_spec.json"),
        "json",
    ),
    "lighteval": Target(
        _importer(_lighteval, [f"details/org/m/{_TIME}/details_quiz|0_{_TIME}.parquet"]),
        _seeds(_PARQUET),
        "bytes",
    ),
    "table": Target(_importer(_table, ["t.csv"]), lambda: [_CSV, _CSV.replace(b",", b";")], "text"),
    "table_json": Target(_importer(_table, ["t.json"]), lambda: [_RECORDS], "json"),
    "table_map": Target(
        _importer(_mapped_table, ["map.toml", "t.csv"]), lambda: [_MAPPING + CUT + _KEYED], "text"
    ),
    "task_map": Target(_importer(_mapped_log, ["map.toml", _LOG]), _task_map_seeds, "text"),
    "guess": Target(_guess, lambda: [_CSV, _KEYED], "text"),
    "items": Target(_items, lambda: [_ITEMS], "json"),
    "build": Target(_build, lambda: [_BUILD], "text"),
    "review": Target(_review, _review_seeds, "json"),
    "review_folder": Target(_review_folder, _review_folder_seeds, "json"),
    "reading": Target(_reading, _reading_seeds, "text"),
}
