"""Logs of lm-evaluation-harness, version by version: real ones, and hand-written layouts of the oldest."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from maskedadv.errors import (
    AggregateOnly,
    AmbiguousKey,
    BadMapping,
    LimitedRun,
    MixedRuns,
    NothingToImport,
    UnknownModel,
    UnknownSubset,
)
from maskedadv.responses import read_responses
from maskedadv.scoring.importers.lm_eval import KNOWN_TASKS, doc_hash, read_lm_eval
from maskedadv.scoring.importers.mapping import find_rule, item_of, language_of, read_mapping, subset_of

LOGS = Path(__file__).resolve().parents[2] / "data" / "logs"
VERSIONS = ["0.4.2", "0.4.3", "0.4.4", "0.4.7", "0.4.13"]
LABELS = {f"toy/test/{i}": ["CA", "CS", "CA"][i % 3] for i in range(6)}
MAP = """
[[task]]
pattern = 'toy_(digits|variable|mutual)'
language = "en"
subset = "CA"
item = "{doc.id}"

[[task]]
pattern = 'toy_gen'
language = "eu"
subset = "CS"
item = "{doc.sample_id}"
"""


@pytest.fixture
def rules(tmp_path):
    path = tmp_path / "map.toml"
    path.write_text(MAP, encoding="utf-8")
    return read_mapping(path)


def raw_records(version, name):
    (path,) = (LOGS / f"lm_eval_{version}").rglob(f"*{name}*.jsonl")
    text = path.read_text(encoding="utf-8")
    return json.loads(text) if text.startswith("[") else [json.loads(line) for line in text.splitlines()]


def reported(version):
    found = {}
    for path in (LOGS / f"lm_eval_{version}").rglob("results*.json"):
        found |= json.loads(path.read_text(encoding="utf-8"))["results"]
    return found


@pytest.mark.parametrize("version", VERSIONS)
def test_accuracy_of_every_task_is_what_the_log_reports(version, rules):
    expected = reported(version)
    tasks = [p.stem for p in (LOGS / f"lm_eval_{version}").rglob("*.jsonl")]
    checked = 0
    for task in ["global_mmlu_en_toy", "global_mmlu_eu_toy", "toy_digits", "toy_variable", "toy_mutual"]:
        if (version, task) == ("0.4.7", "toy_mutual") or not any(task in name for name in tasks):
            continue
        found = read_lm_eval([LOGS / f"lm_eval_{version}"], rules=rules, tasks=[task], labels=LABELS)
        assert found.answers["correct"].mean() == pytest.approx(expected[task]["acc,none"], abs=1e-12)
        assert len(found.answers) == 6
        checked += 1
    assert checked >= 2


@pytest.mark.parametrize("version", VERSIONS)
def test_every_answer_is_the_logged_one(version):
    found = read_lm_eval([LOGS / f"lm_eval_{version}"], tasks=["global_mmlu_en_toy"], labels=LABELS)
    answers = found.answers.set_index("item")
    assert set(answers["model"]) == {"org/tiny"}
    assert set(answers["language"]) == {"en"}
    for record in raw_records(version, "global_mmlu_en"):
        row = answers.loc[record["doc"]["sample_id"]]
        lps = np.array([float(pair[0]) for pair in record["filtered_resps"]])
        right = "ABCD".index(record["doc"]["answer"])
        assert row["correct"] == record["acc"]
        assert row["subset"] == LABELS[record["doc"]["sample_id"]]
        assert row["n_options"] == 4
        p = np.exp(lps - lps.max())[right] / np.exp(lps - lps.max()).sum()
        assert row["p_correct"] == pytest.approx(p, rel=1e-12)
        assert row["crm_logit"] == pytest.approx(math.log(p / (1 - p)), abs=1e-6)


@pytest.mark.parametrize("version", [v for v in VERSIONS if v != "0.4.4"])
def test_written_answers_are_extracted_and_the_second_filter_is_not_counted_twice(version, rules):
    found = read_lm_eval([LOGS / f"lm_eval_{version}" / "canned"], rules=rules)
    answers = found.answers.set_index("item")["correct"]
    # The canned model answers A, D and nothing in turn; keys are A D C B A D.
    assert answers.astype(object).tolist()[:2] == [1, 1]
    assert answers.isna().tolist() == [False, False, True, False, False, True]
    # The filter "letter" finds the same letters; it scores an answer without one as wrong.
    assert answers.fillna(0).mean() == pytest.approx(reported(version)["toy_gen"]["exact_match,letter"])
    assert found.dropped["count"].sum() == 6
    assert found.not_observed()["count"].tolist() == [2]


def test_labels_in_the_rows_decide_and_unlabelled_answers_are_counted():
    found = read_lm_eval([LOGS / "lm_eval_0.4.13"], tasks=["global_mmlu_*"])
    assert found.answers.groupby(["language", "subset"], observed=True).size().tolist() == [2, 2, 2, 2]
    assert found.dropped["reason"].tolist() == ["not annotated CA or CS"] * 2
    assert found.dropped["count"].tolist() == [2, 2]


def test_output_is_a_valid_response_table(tmp_path):
    found = read_lm_eval([LOGS / "lm_eval_0.4.13"], tasks=["global_mmlu_*"])
    for name in ("a.parquet", "a.csv"):
        path = tmp_path / name
        found.answers.to_parquet(path) if name.endswith("parquet") else found.answers.to_csv(
            path, index=False
        )
        assert len(read_responses(path).correct) == 8


def test_the_harness_before_0_4_9_logged_wrong_accuracies_for_mutual_information(tmp_path, rules):
    # Keys are positions, which only the logged scores could tell from positions counted from 1.
    with pytest.raises(AmbiguousKey, match="position from 0 or a position from 1"):
        read_lm_eval([LOGS / "lm_eval_0.4.7"], rules=rules, tasks=["toy_mutual"])
    path = tmp_path / "map2.toml"
    path.write_text(MAP.replace('item = "{doc.id}"', 'item = "{doc.id}"\nanswer = "0"'), encoding="utf-8")
    with_key = read_mapping(path)
    told = read_lm_eval([LOGS / "lm_eval_0.4.7"], rules=with_key, tasks=["toy_mutual"])
    right = read_lm_eval([LOGS / "lm_eval_0.4.13"], rules=rules, tasks=["toy_mutual"])
    assert told.answers["correct"].tolist() == right.answers["correct"].tolist()
    assert any("wrong scores" in note for note in told.notes)


def test_doc_hash_is_the_harness_own():
    for version in ("0.4.3", "0.4.13"):
        for record in raw_records(version, "global_mmlu_en"):
            assert doc_hash(record["doc"]) == record["doc_hash"]


def test_doc_hash_of_real_questions(shared):
    path = next((shared / "data" / "lm_eval_logs").glob("*_sw_*"))
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [doc_hash(r["doc"]) for r in records] == [r["doc_hash"] for r in records]


def test_real_swahili_log(shared):
    folder = shared / "data" / "lm_eval_logs"
    with pytest.raises(UnknownModel, match="--model"):
        read_lm_eval([folder])
    found = read_lm_eval([folder], model="qwen")
    assert len(found.answers) == 12
    assert found.answers["subset"].value_counts().to_dict() == {"CA": 7, "CS": 5}
    assert set(found.answers["language"]) == {"sw"}
    # Read by hand: which letter each answer states, against its key.
    assert found.answers["correct"].astype(object).where(found.answers["correct"].notna(), None).tolist() == (
        [1, 1, 0, None, None, 0, 1, 1, 1, 0, 0, 1]
    )
    assert any("truthfulqa" in note for note in found.notes)


# --- hand-written logs --------------------------------------------------------------------------


def record(n=0, *, target="B", lps=(-1.0, -2.0, -3.0, -4.0), texts=" A, B, C, D", acc=0.0, doc=None, **extra):
    """One sample as 0.4.7 and later write it."""
    texts = texts.split(",") if isinstance(texts, str) else texts
    arguments = {f"gen_args_{k}": {"arg_0": "Q", "arg_1": text} for k, text in enumerate(texts)}
    responses = [[str(lp), "False"] for lp in lps]
    doc = doc or {"sample_id": f"s/{n}", "cultural_sensitivity_label": "CA", "question": f"q{n}"}
    base = {
        "doc_id": n,
        "doc": doc,
        "target": target,
        "arguments": arguments,
        "resps": [[r] for r in responses],
    }
    return base | {"filtered_resps": responses, "filter": "none", "acc": acc} | extra


def rule(pattern, more=""):
    ids = "language = 'eu'\nsubset = 'CA'\nitem = '{doc_id}'\n"
    return f"[[task]]\npattern = '{pattern}'\n{ids}{more}"


def results(task, *, model="org/m", original=2, effective=2, **extra):
    return {
        "results": {task: {"acc,none": 0.0}},
        "configs": {task: {"task": task}},
        "n-samples": {task: {"original": original, "effective": effective}},
        "n-shot": {task: 0},
        "config": {"model_args": f"pretrained={model}", "model_sha": "abc"},
        "model_name": model,
        "lm_eval_version": "0.4.13",
    } | extra


def write_run(
    folder, records, *, task="global_mmlu_eu_x", time="2026-01-02T03-04-05.678901", meta=True, **kwargs
):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"samples_{task}_{time}.jsonl"
    path.write_text("".join(json.dumps(r) + "\n" for r in records), encoding="utf-8")
    if meta:
        results_file = folder / f"results_{time}.json"
        results_file.write_text(json.dumps(results(task, **kwargs)), encoding="utf-8")
    return path


def test_arguments_are_sorted_by_number_not_as_text(tmp_path):
    k = 12
    lps = [-float(i + 1) for i in range(k)]
    sample = record(target="L", lps=lps, texts=[f" {c}" for c in "ABCDEFGHIJKL"], acc=0.0)
    sample["arguments"] = dict(
        sorted(sample["arguments"].items())
    )  # gen_args_0, gen_args_1, gen_args_10, ...
    found = read_lm_eval([write_run(tmp_path / "org__m", [sample])])
    p = np.exp(lps) / np.exp(lps).sum()
    assert found.answers["p_correct"].iloc[0] == pytest.approx(p[11])


def test_oldest_layout_numbers_in_one_array_of_lines(tmp_path):
    folder = tmp_path / "old"
    folder.mkdir()
    samples = [
        {
            "doc_id": n,
            "doc": {"sample_id": f"s/{n}", "cultural_sensitivity_label": "CS"},
            "target": 1,
            "arguments": [["Q", " A"], ["Q", " B"]],
            "resps": [[[lp, False]], [[-1.0, True]]],
            "filtered_resps": [[lp, False], [-1.0, True]],
            "acc": acc,
        }
        for n, (lp, acc) in enumerate([(-2.0, 1.0), (-0.5, 0.0), (math.nan, 0.0)])
    ]
    path = folder / "pretrained__org__my_model,dtype__float16_global_mmlu_eu_x.jsonl"
    path.write_text(json.dumps(samples, indent=2), encoding="utf-8")
    meta = {
        "results": {},
        "configs": {"global_mmlu_eu_x": {}, "mmlu_eu_x": {}},
        "config": {"model_args": "pretrained=org/my_model,dtype=float16", "limit": None},
        "date": 1_700_000_000.0,
    }
    (folder / "results.json").write_text(json.dumps(meta), encoding="utf-8")
    found = read_lm_eval([folder])
    assert found.answers["model"].tolist() == ["org/my_model"] * 3
    assert found.answers["correct"].astype(object).tolist()[:2] == [1, 0]
    assert found.answers["correct"].isna().tolist() == [False, False, True]
    assert found.not_observed()["reason"].tolist() == ["log-probability not finite"]
    assert found.answers["p_correct"].iloc[0] == pytest.approx(1 / (1 + math.exp(-1.0)))


def test_oldest_layout_without_results_needs_the_model(tmp_path):
    path = tmp_path / "pretrained__org__m,dtype__float16_global_mmlu_eu_x.jsonl"
    path.write_text(json.dumps([record(0, acc=0.0)]), encoding="utf-8")
    with pytest.raises(UnknownModel):
        read_lm_eval([path])
    assert read_lm_eval([path], model="org/m").answers["task"].tolist() == ["global_mmlu_eu_x"]


@pytest.mark.parametrize(
    ("target", "texts", "lps", "acc", "right"),
    [
        ("B", " A, B, C", (-3, -1, -2), 1.0, 1),
        ("ox", " tar, ox, zu", (-3, -1, -2), 1.0, 1),
        ("2", " 5, 7, 2", (-3, -1, -2), 0.0, 1),  # the text "2" or the third option: not chosen either way
        ("[0, 2]", " A, B, C", (-3, -2, -1), 1.0, 1),
        ("['A', 'C']", " A, B, C", (-3, -2, -1), 1.0, 1),
        (2, " A, B, C", (-3, -2, -1), 1.0, 1),
    ],
)
def test_keys_in_all_their_forms(tmp_path, target, texts, lps, acc, right):
    sample = record(target=target, lps=lps, texts=texts, acc=acc)
    found = read_lm_eval([write_run(tmp_path / "org__m", [sample])])
    assert len(found.answers) == right
    assert found.answers["correct"].iloc[0] == acc


def test_digit_keys_take_the_reading_that_reproduces_acc(tmp_path):
    texts = " 3, 1, 0, 2"
    # Chosen: the option "1", second. As text "1" that is right; as a position from 0 too; from 1 it is not.
    # Chosen: the option "3", first: as text "0" wrong, as position 0 right.
    by_text = [
        record(0, target="1", texts=texts, lps=(-2, -1, -3, -4), acc=1.0),
        record(1, target="0", texts=texts, lps=(-1, -2, -3, -4), acc=0.0),
    ]
    by_place = [by_text[0], by_text[1] | {"acc": 1.0}]
    for name, samples, expected in (("text", by_text, [1, 0]), ("place", by_place, [1, 1])):
        found = read_lm_eval([write_run(tmp_path / name / "org__m", samples)])
        assert found.answers["correct"].tolist() == expected


def test_digit_keys_counted_from_1(tmp_path):
    samples = [
        record(0, target="2", lps=(-2, -1, -3, -4), acc=1.0),
        record(1, target="4", lps=(-2, -3, -3, -1), acc=1.0),
    ]
    assert read_lm_eval([write_run(tmp_path / "org__m", samples)]).answers["correct"].tolist() == [1, 1]


def test_digit_keys_that_the_scores_do_not_settle_are_refused(tmp_path):
    folder = tmp_path / "org__m"
    without = record(0, target="1", lps=(-2, -3, -1, -4))
    del without["acc"]
    with pytest.raises(AmbiguousKey, match="'1' can be a position from 0 or a position from 1"):
        read_lm_eval([write_run(folder, [without])])
    contradicting = [
        record(0, target="1", lps=(-2, -1, -3, -4), acc=1.0),  # position from 0
        record(1, target="1", lps=(-1, -2, -3, -4), acc=1.0),  # position from 1
    ]
    with pytest.raises(AmbiguousKey):
        read_lm_eval([write_run(folder, contradicting)])


def test_a_key_that_contradicts_acc_anywhere_in_the_file_is_refused(tmp_path):
    samples = [record(n, acc=0.0) for n in range(5)]
    samples[3]["acc"] = 1.0
    with pytest.raises(AmbiguousKey, match=r"1 answers .* \(record 4\)"):
        read_lm_eval([write_run(tmp_path / "org__m", samples)])


def test_a_mapping_says_how_keys_are_meant(tmp_path):
    sample = record(0, target="1", lps=(-1, -2, -3, -4))
    del sample["acc"]
    path = tmp_path / "map.toml"
    path.write_text(rule("global_mmlu_eu_x", "answer = '1'"), encoding="utf-8")
    found = read_lm_eval([write_run(tmp_path / "org__m", [sample])], rules=read_mapping(path))
    assert found.answers["correct"].tolist() == [1]
    assert found.answers["item"].tolist() == ["0"]


def test_two_filters_without_none_take_the_first(tmp_path):
    samples = [record(n, filter="strict") for n in range(2)] + [
        record(n, filter="flexible") for n in range(2)
    ]
    path = write_run(tmp_path / "org__m", samples)
    (path.parent / "results_2026-01-02T03-04-05.678901.json").unlink()
    found = read_lm_eval([path])
    assert len(found.answers) == 2
    assert found.dropped["count"].tolist() == [2]


def test_data_parallel_logs_are_put_in_the_order_of_the_questions(tmp_path):
    samples = [record(n) for n in (0, 2, 4, 1, 3)]
    found = read_lm_eval([write_run(tmp_path / "org__m", samples, original=5, effective=5)])
    assert found.answers["item"].tolist() == [f"s/{n}" for n in range(5)]


def test_doc_ids_that_restart_do_no_harm_where_items_have_ids(tmp_path):
    samples = [record(n) for n in range(3)]
    again = [record(n + 10) | {"doc_id": n} for n in range(3)]  # a second shard: same places, other questions
    found = read_lm_eval([write_run(tmp_path / "org__m", samples + again)])
    assert sorted(found.answers["item"]) == sorted(f"s/{n}" for n in (0, 1, 2, 10, 11, 12))


def test_newest_run_counts_and_older_ones_are_named(tmp_path):
    folder = tmp_path / "org__m"
    write_run(
        folder,
        [record(0, lps=(-2, -1, -3, -4), acc=1.0)],
        time="2026-01-02T00-00-00",
        effective=1,
        original=1,
    )
    write_run(folder, [record(0)], time="2026-03-02T00-00-00.5", effective=1, original=1)
    found = read_lm_eval([folder])
    assert found.answers["correct"].tolist() == [0]
    assert any("samples_global_mmlu_eu_x_2026-01-02T00-00-00.jsonl" in note for note in found.notes)
    assert read_lm_eval([folder], run="2026-01").answers["correct"].tolist() == [1]
    with pytest.raises(NothingToImport):
        read_lm_eval([folder], run="2025")


def test_runs_that_time_does_not_tell_apart_are_refused(tmp_path):
    for name in ("a", "b"):
        write_run(tmp_path / name / "org__m", [record(0)])
    with pytest.raises(MixedRuns, match="logged more than once"):
        read_lm_eval([tmp_path])
    log = next((tmp_path / "a").rglob("samples*"))
    assert len(read_lm_eval([log, log, tmp_path / "a"]).answers) == 1  # the same file, named thrice


def test_two_runs_in_one_file_are_refused(tmp_path):
    samples = [record(0), record(0, lps=(-4, -3, -2, -1))]
    with pytest.raises(MixedRuns, match="more than one run"):
        read_lm_eval([write_run(tmp_path / "org__m", samples)])


def test_two_tasks_with_the_same_items_are_refused(tmp_path):
    folder = tmp_path / "org__m"
    write_run(folder, [record(0)], task="global_mmlu_eu_x")
    write_run(folder, [record(0)], task="global_mmlu_full_eu_x", time="2026-01-03T00-00-00")
    with pytest.raises(MixedRuns, match=r"s/0.*global_mmlu_eu_x, global_mmlu_full_eu_x.*--task"):
        read_lm_eval([folder])
    assert len(read_lm_eval([folder], tasks=["global_mmlu_full*"]).answers) == 1


def test_folders_with_many_models_and_their_revisions(tmp_path):
    for name in ("a", "b"):
        write_run(tmp_path / f"org__{name}", [record(0), record(1)], model=f"org/{name}")
    assert sorted(set(read_lm_eval([tmp_path]).answers["model"])) == ["org/a", "org/b"]
    with pytest.raises(MixedRuns, match="of 2 models"):
        read_lm_eval([tmp_path], model="x")
    write_run(
        tmp_path / "org__a", [record(0), record(1)], task="global_mmlu_en_x", time="2026-02-02T00-00-00",
        model="org/a", config={"model_sha": "def"},
    )  # fmt: skip
    with pytest.raises(MixedRuns, match="2 revisions"):
        read_lm_eval([tmp_path / "org__a"])


def test_settings_that_differ_between_languages_are_noted(tmp_path):
    folder = tmp_path / "org__m"
    write_run(folder, [record(0)], task="global_mmlu_eu_x")
    write_run(
        folder,
        [record(0)],
        task="global_mmlu_en_x",
        time="2026-02-02T00-00-00",
        **{"n-shot": {"global_mmlu_en_x": 5}},
    )
    assert any("number of examples" in note and "0, 5" in note for note in read_lm_eval([folder]).notes)


def test_limited_runs(tmp_path):
    folder = tmp_path / "org__m"
    path = write_run(folder, [record(0), record(1)], original=400, effective=2)
    with pytest.raises(LimitedRun, match="2 of 400"):
        read_lm_eval([path])
    found = read_lm_eval([path], allow_limited=True)
    assert len(found.answers) == 2
    assert any("limited run: 2 of 400" in note for note in found.notes)


def test_fewer_questions_than_the_results_say(tmp_path):
    path = write_run(tmp_path / "org__m", [record(0)], original=400, effective=400)
    assert any("1 questions, its results file says 400" in note for note in read_lm_eval([path]).notes)


def test_folder_names_stand_in_for_missing_results(tmp_path):
    path = write_run(tmp_path / "org__some_model", [record(0)], meta=False)
    found = read_lm_eval([path])
    assert found.answers["model"].tolist() == ["org/some_model"]
    assert any("whether the run was limited" in note for note in found.notes)


def test_results_without_samples_are_aggregates(tmp_path):
    write_run(tmp_path, [record(0)]).unlink()
    with pytest.raises(AggregateOnly, match="--log_samples"):
        read_lm_eval([tmp_path])
    with pytest.raises(AggregateOnly):
        read_lm_eval([next(tmp_path.glob("results*"))])


def test_bfloat16_is_marked_and_ties_are_counted(tmp_path):
    rounded = [record(n, lps=(-1.25, -1.25, -3.5, -4.0)) for n in range(3)]
    found = read_lm_eval([write_run(tmp_path / "a" / "org__m", rounded, original=3, effective=3)])
    assert set(found.answers["precision"]) == {"bf16"}
    assert any("3 of 3 answers are ties" in note for note in found.notes)
    fine = [record(n, lps=(-1.2500001, -1.25, -3.5, -4.0), acc=1.0) for n in range(3)]
    finer = read_lm_eval([write_run(tmp_path / "b" / "org__m", fine, original=3, effective=3)])
    assert "precision" not in finer.answers
    nothing = [record(n, lps=(math.nan,) * 4, acc=0.0) for n in range(3)]
    broken = read_lm_eval([write_run(tmp_path / "c" / "org__m", nothing, original=3, effective=3)])
    assert "precision" not in broken.answers
    assert broken.not_observed()["count"].tolist() == [3]


def test_sets_without_labels_need_them(tmp_path):
    doc = {"Question": "q", "A": "1", "B": "2"}
    samples = [record(n, doc=doc | {"n": n}) for n in range(2)]
    path = write_run(tmp_path / "org__m", samples, task="cmmlu_anatomy")
    with pytest.raises(NothingToImport, match=r"2 not annotated CA or CS.*--subset"):
        read_lm_eval([path])
    assert set(read_lm_eval([path], subset="CS").answers["subset"]) == {"CS"}
    labels = {doc_hash(samples[0]["doc"]): "CA"}
    found = read_lm_eval([path], labels=labels)
    assert found.answers["subset"].tolist() == ["CA"]
    assert found.dropped["count"].tolist() == [1]


def test_an_unknown_label_is_refused(tmp_path):
    doc = {"sample_id": "s", "cultural_sensitivity_label": "maybe"}
    with pytest.raises(UnknownSubset, match=r"record 1: the label 'maybe'.*subsets"):
        read_lm_eval([write_run(tmp_path / "org__m", [record(0, doc=doc)])])


def test_a_metric_can_stand_for_the_answer(tmp_path):
    map_file = tmp_path / "map.toml"
    text = rule("quiz", "correct = 'exact_match'\nfilter = 'strict'\n")
    map_file.write_text(text, encoding="utf-8")
    samples = [
        record(n, filter=f, exact_match=float(f == "strict"))
        | {"arguments": {"gen_args_0": {"arg_0": "Q", "arg_1": {}}}}
        for n in range(2)
        for f in ("strict", "flexible")
    ]
    path = write_run(tmp_path / "org__m", samples, task="quiz")
    found = read_lm_eval([path], rules=read_mapping(map_file))
    assert found.answers["correct"].tolist() == [1, 1]
    map_file.write_text(text.replace("exact_match", "bleu"), encoding="utf-8")
    with pytest.raises(BadMapping, match="'bleu' is missing"):
        read_lm_eval([path], rules=read_mapping(map_file))
    map_file.write_text(text.replace("strict", "lenient"), encoding="utf-8")
    with pytest.raises(BadMapping, match="'lenient'"):
        read_lm_eval([path], rules=read_mapping(map_file))


@pytest.mark.parametrize(
    ("task", "language", "item", "subset"),
    [
        ("global_mmlu_full_sw_anatomy", "sw", "s", "CS"),
        ("global_mmlu_full_pt", "pt", "s", "CS"),
        ("global_mmlu_zh_medical", "zh", "s", "CS"),
        ("include_base_44_basque_stem", "eu", "h", "CA"),
        ("include_base_44_north_macedonian_social_science", "mk", "h", "CA"),
        ("include_base_44_french_few_shot_en_marine_license", "fr", "h", "CA"),
        ("cmmlu_anatomy", "zh", "h", None),
        ("kmmlu_direct_hard_law", "ko", "h", None),
        ("arabicmmlu_driving_test", "ar", "h", None),
        ("m_mmlu_eu", "eu", "i", None),
        ("belebele_zho_Hans", "zh", "u#3", None),
        ("belebele_npi_Latn", "ne-Latn", "u#3", None),
    ],
)
def test_known_tasks(task, language, item, subset):
    doc = {"sample_id": "s", "cultural_sensitivity_label": "CS", "regional_feature": "agnostic"}
    fields = {"doc": doc | {"id": "i", "link": "u", "question_number": 3}, "doc_hash": "h"}
    known, names = find_rule(task, read_mapping(KNOWN_TASKS))
    assert language_of(known, names, fields, "") == language
    assert item_of(known, names, fields, "") == item
    assert subset_of(known, names, fields, "") == subset


def test_options_of_two_to_five(tmp_path):
    samples = [
        record(k, target="A", lps=range(-1, -k - 1, -1), texts=[f" {c}" for c in "ABCDE"[:k]], acc=1.0,
               doc={"Question": f"q{k}"})
        for k in (2, 3, 4, 5)
    ]  # fmt: skip
    path = write_run(tmp_path / "org__m", samples, task="arabicmmlu_x", original=4, effective=4)
    assert read_lm_eval([path], subset="CS").answers["n_options"].tolist() == [2, 3, 4, 5]
