"""lighteval's details files, flat and nested: real ones, and what can be wrong with them."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from maskedadv.errors import (
    AggregateOnly,
    AmbiguousKey,
    BadMapping,
    BrokenLog,
    LimitedRun,
    NothingToImport,
    UnknownModel,
    UnreadableFile,
    WrongFormat,
)
from maskedadv.responses import read_responses
from maskedadv.scoring.importers.lighteval import read_lighteval
from maskedadv.scoring.importers.mapping import read_mapping

LOGS = Path(__file__).resolve().parents[2] / "data" / "logs"
LABELS = {f"toy/test/{i}": ["CA", "CS", "CA"][i % 3] for i in range(6)}
MAP = """
[[task]]
pattern = 'toy_(?P<code>..)'
language = "{code}"
subset = "{doc.specific.label}"
item = "{doc.specific.sample_id}"
"""


@pytest.fixture
def rules(tmp_path):
    path = tmp_path / "map.toml"
    path.write_text(MAP, encoding="utf-8")
    return read_mapping(path)


@pytest.fixture(params=["0.10.0", "0.13.0"])
def logs(request, tmp_path):
    """The logs of one version under the names that lighteval gave them."""
    source = LOGS / f"lighteval_{request.param}"
    for file in (f for f in source.rglob("*") if f.is_file()):
        target = tmp_path / "logs" / str(file.relative_to(source)).replace("@", "|")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, target)
    return tmp_path / "logs"


def metrics(path):
    rows = pq.read_table(path).to_pylist()
    return pd.DataFrame([row.get("metrics") or row["metric"] for row in rows])


def test_outcomes_are_those_that_lighteval_reports(logs, rules):
    (results,) = logs.rglob("results_*.json")
    reported = json.loads(results.read_text(encoding="utf-8"))["results"]
    for path in logs.rglob("details_*.parquet"):
        found = read_lighteval([path], rules=rules, labels=LABELS)
        task = found.answers["task"].iloc[0]
        assert set(found.answers["model"]) == {"org/tiny"}
        assert found.answers["correct"].mean() == pytest.approx(reported[task]["acc"], abs=1e-12)
        # Its normalised multiple-choice probability is our p_correct, question by question.
        own = metrics(path)
        assert found.answers["p_correct"].tolist() == pytest.approx(
            own["normalized_mc_prob"].tolist(), rel=1e-6
        )
        assert found.answers["correct"].tolist() == own["acc"].tolist()
        assert not found.notes


def test_layouts_agree_with_each_other(tmp_path, rules):
    def one(version):
        (path,) = (LOGS / f"lighteval_{version}").rglob("details_*toy_en*.parquet")
        copy = tmp_path / path.name.replace("@", "|")
        shutil.copy(path, copy)
        return read_lighteval([copy], rules=rules, model="m").answers.set_index("item")

    old, new = one("0.10.0"), one("0.13.0")
    assert old["correct"].to_dict() == new["correct"].to_dict()
    assert old["crm_logit"].to_dict() == pytest.approx(new["crm_logit"].to_dict(), abs=1e-4)
    assert sorted(old["n_options"]) == [3, 3, 4, 4]


def test_output_is_a_valid_response_table(tmp_path, rules):
    shutil.copytree(LOGS / "lighteval_0.13.0", tmp_path / "logs")
    for path in (tmp_path / "logs").rglob("*@*"):
        path.rename(path.with_name(path.name.replace("@", "|")))
    found = read_lighteval([tmp_path / "logs"], rules=rules)
    found.answers.to_parquet(tmp_path / "out.parquet")
    assert len(read_responses(tmp_path / "out.parquet").correct) == 8
    assert found.dropped["count"].tolist() == [2, 2]


def test_tasks_need_a_mapping_since_lighteval_keeps_no_ids(logs):
    with pytest.raises(NothingToImport, match="not mapped"):
        read_lighteval([logs])


# --- details made here --------------------------------------------------------------------------


def nested(n=0, **changes):
    row = {
        "doc": {"query": f"q{n}", "choices": [" a", " b"], "gold_index": 0, "id": str(n),
                "specific": {"sample_id": f"s{n}", "label": "CA"}},
        "model_response": {"logprobs": [-1.0, -2.0], "text": [], "input_tokens": [1] * 50},
        "metric": {"acc": 1},
    }  # fmt: skip
    for key, value in changes.items():
        row[key] = row[key] | value
    return row


def write(folder, rows, *, task="toy_eu|0", time="2026-01-02T03-04-05.5", limit=None, meta=True):
    details = folder / "details" / "org" / "m" / time
    details.mkdir(parents=True, exist_ok=True)
    path = details / f"details_{task}_{time}.parquet"
    pq.write_table(pa.Table.from_pylist(rows), path)
    if meta:
        results = folder / "results" / "org" / "m"
        results.mkdir(parents=True, exist_ok=True)
        data = {
            "config_general": {"model_name": "org/m", "max_samples": limit},
            "results": {task: {"acc": 1.0}},
        }
        (results / f"results_{time}.json").write_text(json.dumps(data), encoding="utf-8")
    return path


def test_limited_runs_are_refused_unless_allowed(tmp_path, rules):
    path = write(tmp_path, [nested(n) for n in range(3)], limit=3)
    with pytest.raises(LimitedRun, match="limited to 3"):
        read_lighteval([path], rules=rules)
    assert len(read_lighteval([path], rules=rules, allow_limited=True).answers) == 3
    write(tmp_path, [nested(n) for n in range(3)], limit=4)  # a limit beyond the data set is none
    assert len(read_lighteval([path], rules=rules).answers) == 3


def test_model_from_the_folder_where_results_are_missing(tmp_path, rules):
    path = write(tmp_path, [nested()], meta=False)
    found = read_lighteval([path], rules=rules)
    assert found.answers["model"].tolist() == ["org/m"]
    assert any("limited cannot be told" in note for note in found.notes)
    lonely = tmp_path / path.name
    shutil.copy(path, lonely)
    with pytest.raises(UnknownModel, match="--model"):
        read_lighteval([lonely], rules=rules)


def test_not_a_number_and_several_right_options(tmp_path, rules):
    rows = [
        nested(0, model_response={"logprobs": [math.nan, -1.0]}),
        nested(1, doc=nested(1)["doc"] | {"choices": ["a", "b", "c"], "gold_index": 1}, metric={"acc": 0},
               model_response={"logprobs": [-1.0, -2.0, -3.0]}),
    ]  # fmt: skip
    found = read_lighteval([write(tmp_path, rows)], rules=rules).answers
    assert found["correct"].isna().tolist() == [True, False]
    three = nested(2)["doc"] | {"choices": ["a", "b", "c"], "gold_index": [0, 2]}
    many = [nested(2, doc=three, metric={"acc": 1}, model_response={"logprobs": [-2.0, -1.5, -1.0]})]
    found = read_lighteval([write(tmp_path / "many", many)], rules=rules).answers
    weights = [math.exp(-2), math.exp(-1.5), math.exp(-1)]
    assert found["p_correct"].iloc[0] == pytest.approx((weights[0] + weights[2]) / sum(weights))


def test_scores_without_the_question_are_left_out(tmp_path, rules):
    rows = [nested(0, model_response={"logprobs": [-1.0, -2.0, -9.0, -8.0]})]
    found = read_lighteval([write(tmp_path, rows)], rules=rules).answers
    assert found["crm_logit"].iloc[0] == pytest.approx(1.0)


def test_written_answers_are_extracted(tmp_path, rules):
    texts = ["Erantzuna: A", "Erantzuna: B", "ez dakit"]
    rows = [
        nested(n, model_response={"logprobs": [], "text": [t]}, metric={"acc": 0})
        for n, t in enumerate(texts)
    ]
    found = read_lighteval([write(tmp_path, rows)], rules=rules).answers
    assert found["correct"].astype(object).where(found["correct"].notna(), None).tolist() == [1, 0, None]


def test_flat_rows_that_hold_text_only(tmp_path, rules):
    """Up to 0.5 every cell was text."""
    row = {
        "choices": "[' a', ' b']",
        "gold_index": "[1]",
        "predictions": "[(-2.0, False), (-1.0, True)]",
        "metrics": "{'acc': 1}",
        "specifics": "{'sample_id': 'banana, nan/1', 'label': 'CS'}",
        "example": "q",
        "full_prompt": "q",
    }
    bad = row | {"predictions": "[(nan, False), (-1.0, True)]", "example": "r"}
    bad["specifics"] = "{'sample_id': 'x', 'label': 'CS'}"
    found = read_lighteval([write(tmp_path, [row, bad], task="lighteval|toy_eu|0|0")], rules=rules).answers
    assert found["item"].tolist()[0] == "banana, nan/1"
    assert found["correct"].isna().tolist() == [False, True]
    assert found["crm_logit"].tolist()[0] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("gold", "correct", "reason"),
    [("1", 1, ""), ("0", 0, ""), ("['1']", 1, ""), ("B", None, "no right option")],
)
def test_positions_written_as_text(tmp_path, rules, gold, correct, reason):
    row = {
        "choices": "[' a', ' b']",
        "gold_index": gold,
        "predictions": "[(-2.0, False), (-1.0, True)]",
        "metrics": "{}",
        "specifics": "{'sample_id': 'x', 'label': 'CS'}",
        "example": "q",
        "full_prompt": "q",
    }
    other = row | {"gold_index": "[0]", "example": "r", "specifics": "{'sample_id': 'y', 'label': 'CS'}"}
    found = read_lighteval([write(tmp_path, [row, other], task="lighteval|toy_eu|0|0")], rules=rules).answers
    first = found["correct"].iloc[0]
    assert (None if first is pd.NA else first) == correct
    assert (found["reason"].iloc[0] if "reason" in found else "") == reason


def test_scores_that_contradict_the_log_are_refused(tmp_path, rules):
    with pytest.raises(AmbiguousKey, match=r"1 answers .*rows 2"):
        read_lighteval([write(tmp_path, [nested(0), nested(1, metric={"acc": 0})])], rules=rules)


def test_what_is_no_details_file(tmp_path, rules):
    broken = tmp_path / "details_toy_eu|0_2026-01-02T03-04-05.parquet"
    broken.write_bytes(b"PAR1 not really")
    with pytest.raises(BrokenLog, match="Parquet"):
        read_lighteval([broken], rules=rules, model="m")
    pq.write_table(pa.table({"a": [1]}), broken)
    with pytest.raises(WrongFormat, match="its columns are a"):
        read_lighteval([broken], rules=rules, model="m")
    with pytest.raises(WrongFormat):
        read_lighteval([tmp_path / "map.toml"], rules=rules)
    with pytest.raises(UnreadableFile):
        read_lighteval([tmp_path / "nowhere"], rules=rules)
    write(tmp_path / "only", [nested()])
    shutil.rmtree(tmp_path / "only" / "details")
    with pytest.raises(AggregateOnly, match="--save-details"):
        read_lighteval([tmp_path / "only"], rules=rules)
    uneven = write(tmp_path / "uneven", [nested(0, model_response={"logprobs": [-1.0, -2.0, -3.0]})])
    with pytest.raises(BrokenLog, match="2 options, 3 log-probabilities"):
        read_lighteval([uneven], rules=rules)


def test_a_field_the_log_does_not_have(tmp_path):
    path = tmp_path / "map.toml"
    path.write_text(MAP.replace("sample_id", "number"), encoding="utf-8")
    with pytest.raises(BadMapping, match="no item id"):
        read_lighteval([write(tmp_path, [nested()])], rules=read_mapping(path))
