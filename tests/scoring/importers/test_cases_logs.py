"""Logs that were read wrongly or not at all: tests/data/cases/import, each with what is expected."""

from __future__ import annotations

import json
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from maskedadv.cli.main import main
from maskedadv.errors import InputError, LimitedRun, LogTooLarge, MixedRuns, UnreadableFile, WrongFormat
from maskedadv.responses.uneven import uneven_shares
from maskedadv.scoring.importers.helm import read_helm
from maskedadv.scoring.importers.imported import unread_as_wrong, unread_shares
from maskedadv.scoring.importers.inspect import read_inspect
from maskedadv.scoring.importers.lighteval import read_lighteval
from maskedadv.scoring.importers.lm_eval import read_lm_eval
from maskedadv.scoring.importers.mapping import read_mapping
from maskedadv.scoring.importers.table import read_table

CASES = Path(__file__).resolve().parents[2] / "data" / "cases" / "import"


def rules(case, tmp_path=None, *changes):
    path = CASES / case / "tasks.toml"
    if changes:
        text = path.read_text(encoding="utf-8")
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        path = tmp_path / "tasks.toml"
        path.write_text(text, encoding="utf-8")
    return read_mapping(path)


def told(imported):
    return " | ".join(imported.notes)


def test_git_lfs_pointers_are_named():
    folder = CASES / "git_lfs_pointer"
    for read in (
        lambda: read_lm_eval([folder / "org__m"], rules=rules("git_lfs_pointer"), subset="CA"),
        lambda: read_table([folder / "t.csv"], subset="CA"),
    ):
        with pytest.raises(UnreadableFile, match="is a Git LFS pointer, not the file: run git lfs pull"):
            read()


@pytest.mark.parametrize(
    "name", ["a.eval", "details_quiz_2026-01-02T03-04-05.parquet", "t.xlsx", "t.zip", "t.parquet"]
)
def test_pointers_of_every_kind(tmp_path, name):
    (tmp_path / name).write_text("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n")
    readers = {"a.eval": read_inspect, "details_quiz_2026-01-02T03-04-05.parquet": read_lighteval}
    options = {"rules": rules("git_lfs_pointer"), "model": "m"} if name in readers else {}
    with pytest.raises(InputError, match="run git lfs pull"):
        readers.get(name, read_table)([tmp_path / name], subset="CA", **options)


def test_helm_run():
    folder = CASES / "helm_run"
    found = read_helm([folder / "run"], subset="CA")
    table = found.answers
    assert table["item"].tolist() == ["id0", "id1", "id2", "id3"]
    assert table["correct"].tolist() == [0, 1, 0, 1]
    assert set(table["model"]) == {"org/m"}
    assert set(table["language"]) == {"de"}
    with pytest.raises(WrongFormat, match="maskedadv import helm"):
        read_table([folder / "run" / "per_instance_stats.json"], subset="CA")


def helm(folder, model, stats, *, args=None, state=None, **adapter):
    folder.mkdir(parents=True)
    spec = {
        "name": f"mmlu:subject=law,model={model.replace('/', '_')}",
        "adapter_spec": {"model": model, **adapter},
        "scenario_spec": {"args": args or {"subject": "law"}},
    }
    (folder / "run_spec.json").write_text(json.dumps(spec))
    (folder / "per_instance_stats.json").write_text(json.dumps(stats))
    if state:
        (folder / "scenario_state.json").write_text(json.dumps(state))


def stat(instance, trial=0, perturbation=None, **scores):
    made = [{"name": {"name": n, "split": "test"}, "count": 1, "sum": v} for n, v in scores.items()]
    record = {"instance_id": instance, "train_trial_index": trial, "stats": made}
    return record | ({"perturbation": perturbation} if perturbation else {})


def test_helm_metrics_perturbations_trials_and_options(tmp_path):
    stats = [
        stat("id1", exact_match=0.0, quasi_exact_match=1.0),
        stat("id1", perturbation={"name": "typos"}, exact_match=0.0),
        stat("id1", trial=1, exact_match=1.0),
        stat("id2", quasi_exact_match=1.0),
        stat("id3"),
    ]
    states = [{"instance": {"id": f"id{n}", "references": [{}] * 4}} for n in (1, 2, 3)]
    helm(tmp_path / "a", "org/m", stats, state={"request_states": states}, max_eval_instances=3)
    (tmp_path / "t.toml").write_text(
        '[[task]]\npattern = "mmlu"\nlanguage = "en"\nitem = "{args.subject}/{id}"\n'
    )
    found = read_helm([tmp_path / "a"], rules=read_mapping(tmp_path / "t.toml"), subset="CA")
    table = found.answers
    assert table["item"].tolist() == ["law/id1", "law/id2", "law/id3"]
    assert table["correct"].astype(object).tolist()[:2] == [0, 1]
    assert table["reason"].tolist() == ["", "", "not scored"]
    assert set(table["n_options"]) == {4}
    assert set(found.dropped["reason"]) == {"perturbed instance", "later trial of examples in the prompt"}
    assert "right by quasi_exact_match and wrong by exact_match" in told(found)
    assert "at most 3 instances" in told(found)


def test_inspect_holds_fewer_samples_than_its_header_says():
    case = "inspect_fewer_samples_than_the_header_says"
    found = read_inspect(sorted((CASES / case).glob("*.eval")), rules=rules(case), subset="CA")
    assert len(found.answers) == 3
    assert "the log holds 3 samples, its header says 10" in told(found)


def inspect_log(path, samples, **header):
    head = {"eval": {"task": "quiz", "model": "org/m", "dataset": {"samples": len(samples)}, "config": {}}}
    path.write_text(json.dumps({"status": "success", **head, **header, "samples": samples}))
    return path


def inspect_sample(n, value="C", **changes):
    made = {
        "id": n,
        "epoch": 1,
        "choices": ["x", "y"],
        "target": "A",
        "scores": {"choice": {"value": value, "answer": "A"}},
        "metadata": {"language": "eu", "subset": "CA"},
    }
    return made | changes


def test_inspect_null_scores_errors_and_invalidated_samples(tmp_path):
    found = read_inspect([CASES / "inspect_null_score" / "log.json"])
    assert [None if pd.isna(v) else int(v) for v in found.answers["correct"]] == [1, None, 0]
    assert found.answers["reason"].tolist() == ["", "not scored", ""]
    samples = [
        inspect_sample(0),
        inspect_sample(1, error={"message": "boom"}),
        inspect_sample(2, invalidation={"author": "me", "reason": "wrong prompt"}),
        inspect_sample(3, scores={"choice": {"value": {"k": None}}}),
    ]
    path = inspect_log(tmp_path / "log.json", samples[:3], invalidated=True)
    assert read_inspect([path]).answers["reason"].tolist() == ["", "sample failed", "sample invalidated"]
    with pytest.raises(LimitedRun, match="invalidated"):
        read_inspect([inspect_log(tmp_path / "log.json", samples[:1], invalidated=True)])
    path = inspect_log(tmp_path / "log.json", samples)
    assert read_inspect([path], scorer="choice.k").answers["reason"].tolist()[3] == "not scored"


def test_inspect_compares_its_scores_with_the_reading(tmp_path):
    answers = {"I": "The answer is A.", "C": "ANSWER: A"}
    samples = [
        inspect_sample(n, v, output={"completion": answers[v]}) for n, v in enumerate(["I"] * 6 + ["C"] * 2)
    ]
    path = inspect_log(tmp_path / "log.json", samples)
    found = read_inspect([path])
    assert found.answers["correct"].tolist() == [0] * 6 + [1] * 2  # as logged
    assert "the log reports score 0.25, the answers read here give 1" in told(found)
    assert "6 answers are right by the reading only" in told(found)
    read = read_inspect([path], scorer="read")
    assert read.answers["correct"].tolist() == [1] * 8
    assert set(read.answers["n_options"]) == {2}


def test_a_zip_bomb_of_one_member(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.eval", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps({"eval": {"task": "quiz", "model": "m"}}))
        archive.writestr("samples/1_epoch_1.json", b"[" + b"{}," * 30_000_000 + b"{}]")
        archive.writestr("padding", np.random.default_rng(1).bytes(2**20))
    with pytest.raises(LogTooLarge, match=r"member samples/1_epoch_1.json would unpack to 85 MiB"):
        read_inspect([tmp_path / "a.eval"])


def lighteval_log(folder, texts, metrics, gold):
    rows = [
        {
            "doc": {
                "id": str(n),
                "query": "Q",
                "choices": list("ABCD"),
                "gold_index": g,
                "specific": {"sample_id": f"q{n}"},
            },
            "metric": m,
            "model_response": {"text": [t], "logprobs": []},
        }
        for n, (t, m, g) in enumerate(zip(texts, metrics, gold, strict=True))
    ]
    place = folder / "details" / "org" / "m" / "2026-01-02T03-04-05"
    place.mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist(rows), place / "details_quiz|0_2026-01-02T03-04-05.parquet")
    return folder / "details"


def test_lighteval_compares_its_reading_with_the_logged_metric(tmp_path):
    case = "lighteval_reading_not_compared"
    texts = ["so be it"] * 8 + ["Answer: B", "Answer: C"]
    metrics = [{"em": 1.0, "length": 3.0}] * 8 + [{"em": 1.0, "length": 3.0}, {"em": 0.0, "length": 3.0}]
    details = lighteval_log(tmp_path, texts, metrics, [0] * 8 + [1, 3])
    found = read_lighteval([details], rules=rules(case), subset="CA")
    assert "quiz (org/m): the log reports em 0.9, the answers read here give 0.1" in told(found).replace(
        "|0", ""
    )
    assert '8 answers are right in the log only, so take its score: correct = "em"' in told(found)
    # The case itself: either its answers are read as the log has them, or the note says that they are not.
    found = read_lighteval([CASES / case / "details"], rules=rules(case), subset="CA")
    assert found.answers["correct"].eq(1).all() or "the log reports em 1" in told(found)


def test_one_note_a_model():
    case = "lm_eval_a_note_per_task"
    found = read_lm_eval([CASES / case / "org__m"], rules=rules(case), subset="CA")
    (note,) = [note for note in found.notes if "exact_match" in note]
    assert note == (
        "org/m: in 12 of 12 logs exact_match is 0 on average, the answers read here give 1.00 (see --json "
        "for each)"
    )
    assert len(found.log_notes) == 12


def test_the_language_in_the_folder(tmp_path):
    case = "lm_eval_language_in_folder"
    found = read_lm_eval([CASES / case / "out"], rules=rules(case), subset="CA")
    assert "other runs left out" in told(found)
    assert 'language = "{path.1}"' in told(found)
    for changes in (
        [('language = "ur"', 'language = "{path.1}"')],
        [('language = "ur"', 'language = "{path.-3}"')],
        [('language = "ur"', "language = \"{lang}\"\npath = '(?P<lang>[a-z]{2})/[^/]+/samples_.+'")],
    ):
        found = read_lm_eval([CASES / case / "out"], rules=rules(case, tmp_path, *changes), subset="CA")
        assert sorted(set(found.answers["language"])) == ["en", "ur"]
        assert not found.answers.duplicated(["language", "item"]).any()


def test_a_log_without_results_among_others():
    case = "lm_eval_one_log_without_results"
    found = read_lm_eval([CASES / case / "runs"], rules=rules(case), subset="CA")
    assert found.answers.groupby(["model", "language"], observed=True).size().to_dict() == {
        ("org/m", "de"): 4, ("org/m", "en"): 4, ("org/n", "en"): 4,
    }  # fmt: skip
    assert "nothing names the model of samples_quiz_de_2026-01-01T00-00-00.000000.jsonl; taken for" in told(
        found
    )
    named = read_lm_eval([CASES / case / "runs"], rules=rules(case), subset="CA", model="org/k")
    assert set(named.answers.loc[named.answers["language"] == "de", "model"]) == {"org/k"}
    with pytest.raises(MixedRuns, match="2 models"):
        read_lm_eval(sorted(CASES.glob(f"{case}/runs/*/samples_quiz_en*")), rules=rules(case), model="org/k")


def test_a_log_that_could_be_of_either_model_is_left_out(tmp_path):
    case = "lm_eval_one_log_without_results"
    for source in CASES.glob(f"{case}/runs/*/*"):
        name = (
            source.name
            if source.parent.name == "a"
            else source.name.replace("2026-01-02T03", "2026-01-02T04")
        )
        shutil.copyfile(source, tmp_path / name)
    found = read_lm_eval([tmp_path], rules=rules(case), subset="CA")
    assert set(found.answers["language"]) == {"en"}
    assert "samples_quiz_de_2026-01-01T00-00-00.000000.jsonl, left out; name it with --model" in told(found)


def test_other_generation_settings_are_other_systems(tmp_path):
    case = "lm_eval_settings_as_systems"
    found = read_lm_eval([CASES / case / "runs"], rules=rules(case), subset="CA")
    assert "they differ in gen_kwargs (max_tokens_thinking 500, 1000)" in told(found)
    assert sorted(set(found.answers["model"])) == [
        "/data/models--org--m (max_tokens_thinking=1000)",
        "/data/models--org--m (max_tokens_thinking=500)",
    ]
    change = ('language = "{l}"', 'language = "{l}"\nmodel = "{folder}"')
    found = read_lm_eval([CASES / case / "runs"], rules=rules(case, tmp_path, change), subset="CA")
    assert sorted(set(found.answers["model"])) == ["b1000", "b500"]
    assert "gen_kwargs" not in told(found)
    change = ('language = "{l}"', 'language = "{l}"\nmodel = "{folder}"\nmodels = { b500 = "m-500" }')
    found = read_lm_eval([CASES / case / "runs"], rules=rules(case, tmp_path, change), subset="CA")
    assert sorted(set(found.answers["model"])) == ["b1000", "m-500"]
    one = read_lm_eval([CASES / case / "runs"], rules=rules(case), subset="CA", run="2026-01-01")
    assert sorted(set(one.answers["model"])) == ["/data/models--org--m (max_tokens_thinking=500)"]


def test_unread_shares_that_differ_by_language(tmp_path, capsys):
    case = "unread_share_differs_by_language"
    found = read_lm_eval([CASES / case / "org__m"], rules=rules(case))
    shares = found.unread()
    assert dict(zip(shares["language"], shares["unread"], strict=True)) == {"de": 9, "en": 2}
    assert "org/m: 10% of the answers in en and 45% in de could not be read; gaps may be biased" in told(
        found
    )
    wrong = unread_as_wrong(found)
    assert wrong.answers["correct"].notna().all()
    assert wrong.answers["correct"].sum() == found.answers["correct"].sum()
    arguments = ["import", "lm-eval", CASES / case / "org__m", "-o", tmp_path / "r.csv", "--unread", "wrong"]
    with pytest.raises(SystemExit) as stop:
        main([str(a) for a in [*arguments, "--map", CASES / case / "tasks.toml"]])
    assert stop.value.code == 0
    assert "11 answers that could not be read count as wrong" in " ".join(capsys.readouterr().err.split())
    assert pd.read_csv(tmp_path / "r.csv")["correct"].notna().all()


def test_the_warning_of_uneven_shares_holds_its_level():
    """Equal shares: at most 5% of tables of ten models give a warning; shares of 14% and 32% always do."""
    dice = np.random.default_rng(11)
    repeats = 400

    def warned(high):
        rows = [
            (f"m{n}", k, 300, dice.binomial(300, share))
            for n in range(10)
            for k, share in (("en", 0.14), ("ja", high))
        ]
        return bool(uneven_shares(pd.DataFrame(rows, columns=["model", "language", "answers", "missing"])))

    false = np.mean([warned(0.14) for _ in range(repeats)])
    assert false < 0.05 + 3 * np.sqrt(0.05 * 0.95 / repeats)
    assert all(warned(0.32) for _ in range(50))


def test_a_target_that_no_literal_can_be(tmp_path):
    sample = {
        "doc_id": 0, "doc": {"id": "q0"}, "target": "[{[]}]", "doc_hash": "h",
        "arguments": [["Q", " a"], ["Q", " b"]], "filtered_resps": [["-1", "T"], ["-2", "F"]],
    }  # fmt: skip
    path = tmp_path / "org__m" / "samples_quiz_2026-01-02T03-04-05.678901.jsonl"
    path.parent.mkdir()
    path.write_text(json.dumps(sample) + "\n")
    found = read_lm_eval([path], rules=rules("git_lfs_pointer"), subset="CA")
    assert found.answers["reason"].tolist() == ["no right option"]


@pytest.mark.parametrize("command", ["lm-eval", "lighteval", "inspect", "helm", "table"])
@pytest.mark.parametrize("name", ["x" * 300, "loop", "none"])
def test_paths_that_lead_nowhere(tmp_path, capsys, command, name):
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(SystemExit) as stop:
        main(["import", command, str(tmp_path / name), "-o", str(tmp_path / "r.csv")])
    assert stop.value.code == 2
    assert capsys.readouterr().err.startswith("Error: ")


def test_a_model_whose_answers_are_all_read_has_no_row_of_unread_shares():
    rows = {"model": ["m"] * 2, "language": ["en", "de"], "reason": ["", "not scored"]}
    assert unread_shares(pd.DataFrame(rows)).empty
