"""Every specification is the fit that it names; the words say what changed and no more."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import maskedadv
from maskedadv.cli.main import main
from maskedadv.datasets import global_mmlu_lite
from maskedadv.errors import BadSetting, MissingColumn
from maskedadv.gaps.joint import ALL_LOCALES
from maskedadv.sensitivity import Sensitivity, vary
from maskedadv.sensitivity.reading import by_kind, by_locale, in_words, judged
from maskedadv.sensitivity.specifications import guess_subjects
from maskedadv.settings import Settings
from maskedadv.simulation import simulate
from maskedadv.summaries import variant_means

MODELS = pd.DataFrame({"model": [f"model-{k}" for k in range(1, 6)], "family": ["a", "a", "b", "b", "b"]})
FIRST = Settings(estimator="marginal", min_accuracy=0.0)


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    made = simulate(
        models=5, items_ca=60, items_cs=60, options=4, locale=("zh", "fr"), missing=0.05, ability=0.8, seed=11
    ).responses
    made["subject"] = np.where(made["item"].str[-1].isin(list("01234")), "low", "high")
    return made


@pytest.fixture(scope="module")
def found(table: pd.DataFrame) -> Sensitivity:
    return vary(table, settings=FIRST, models=MODELS)


def rows_of(found: Sensitivity, kind: str, name: str) -> pd.DataFrame:
    own = found.table[(found.table["kind"] == kind) & (found.table["name"].str.startswith(name))]
    assert len(own), (kind, name, sorted(set(found.table["name"])))
    return own.set_index(["variant", "locale", "gap"]).sort_index()


def means_of(data: pd.DataFrame, **settings: object) -> pd.DataFrame:
    options = {"estimator": "marginal", "min_accuracy": 0.0} | settings
    return variant_means(maskedadv.fit(data, **options)).set_index(["variant", "locale", "gap"]).sort_index()


def same(own: pd.DataFrame, expected: pd.DataFrame) -> None:
    columns = ["estimate", "sd", "lower", "upper", "p_positive"]
    np.testing.assert_allclose(own[columns], expected.loc[own.index, columns], atol=1e-6)


def test_every_specification_is_the_fit_that_it_names(table, found):
    same(rows_of(found, "first", "as asked for"), means_of(table))
    same(rows_of(found, "model", "without model-2"), means_of(table[table["model"] != "model-2"]))
    same(rows_of(found, "family", "without b"), means_of(table[table["model"].isin(["model-1", "model-2"])]))
    same(rows_of(found, "subject", "without low"), means_of(table[table["subject"] == "high"]))
    same(rows_of(found, "estimator", "joint"), means_of(table, estimator="joint"))
    same(rows_of(found, "estimator", "one CA"), means_of(table, scope="joint"))


def test_all_of_them_are_there(found):
    counts = found.table.groupby("kind")["name"].nunique()
    assert counts["model"] == 5
    assert counts["family"] == 2
    assert counts["subject"] == 2
    assert counts["estimator"] == 4  # joint, one CA difficulty, 2PL, 2PL with floor
    assert set(rows_of(found, "first", "as").index.get_level_values(0)) >= {
        "plain", "floor", "paired", "paired+floor",
    }  # fmt: skip


def test_missing_answers_count_as_wrong(table, found):
    every = []
    for language, own in table.groupby("language"):
        whole = own.pivot_table("correct", "model", "item").fillna(0.0).reset_index()
        every.append(whole.melt("model", value_name="correct").assign(language=language))
    whole = pd.concat(every)
    whole = whole.assign(subset=whole["item"].str[:2], n_options=4, correct=whole["correct"].astype(int))
    same(rows_of(found, "missing answers", "counted as wrong"), means_of(whole))


def test_accuracy_filters_that_leave_out_the_same_models_are_one(table, found):
    own = found.table[found.table["kind"] == "accuracy filter"]
    for name in set(own["name"]):
        level = float(name.split()[1]) if name.startswith("above") else 0.0
        same(rows_of(found, "accuracy filter", name), means_of(table, min_accuracy=level))
    kept = {tuple(g["estimate"].round(9)) for _, g in own.groupby("name")}
    assert len(kept) == own["name"].nunique()


def test_discriminations_have_their_rows(found):
    for name, variant in (("discriminations (2PL)", "plain"), ("discriminations and floor", "floor")):
        own = rows_of(found, "estimator", name)
        assert set(own.index.get_level_values(0)) == {variant}
        assert np.isfinite(own.loc[(variant, "zh"), ["estimate", "sd"]]).all(axis=None)


def made_by_hand(estimates: list[tuple[str, str, str, float, float]]) -> Sensitivity:
    rows = [
        {
            "kind": kind, "name": name, "variant": variant, "locale": "zh", "gap": "knowledge_gap",
            "estimate": e, "sd": sd, "lower": e - 2 * sd, "upper": e + 2 * sd, "p_positive": 0.5,
            "n_models": 3, "note": "",
        }
        for kind, name, variant, e, sd in estimates
    ]  # fmt: skip
    return Sensitivity(pd.DataFrame(rows), "plain", (), FIRST)


def test_words_say_what_the_clearness_hangs_on():
    found = made_by_hand(
        [
            ("first", "as asked for", "plain", 0.5, 0.1),
            ("first", "as asked for", "paired", 0.1, 0.1),
            ("model", "without x", "plain", 0.4, 0.1),
            ("model", "without x", "paired", 0.3, 0.1),
            ("subject", "without law", "plain", -0.1, 0.2),
        ]
    )
    table = judged(found).set_index(["kind", "name", "variant"])
    assert table.loc[("variant", "as asked for", "paired"), "clearness_changes"]
    assert not table.loc[("model", "without x", "plain"), "clearness_changes"]
    assert table.loc[("model", "without x", "paired"), "clearness_changes"]  # clear, where paired was not
    assert table.loc[("subject", "without law", "plain"), "sign_changes"]
    kinds = by_kind(found).set_index("kind")
    assert kinds["clearness_changes"].to_dict() == {"variant": 1, "model": 1, "subject": 1}
    assert np.isclose(kinds.loc["subject", "shift"], -0.6)
    text = " ".join(in_words(found))
    assert "0.50 [0.30, 0.70], clearly above zero" in text
    assert "hangs on the variant: paired (not clear of zero)" in text
    assert "hangs on the subject: without law, plain (not clear of zero)" in text
    assert "Its sign changes in 1 estimate (subject)." in text
    assert by_locale(found)["hangs_on"].tolist() == ["variant, model, subject"]


def test_words_claim_nothing_where_nothing_changes():
    found = made_by_hand(
        [("first", "as asked for", "plain", 0.5, 0.1), ("model", "without x", "plain", 0.4, 0.1)]
    )
    text = " ".join(in_words(found))
    assert "No choice changes that it is clearly above zero." in text
    assert "Its sign changes nowhere." in text


def test_an_interrupted_run_is_completed_and_the_same(table, tmp_path):
    small, kept = table[table["language"] != "fr"], tmp_path / "kept"
    bare = Settings(estimator="marginal", min_accuracy=0.0, guessing="none", link="none")
    whole, told = vary(small, settings=bare), []

    def stop(line: str) -> None:
        told.append(line)
        if len(told) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        vary(small, settings=bare, journal=kept, tell=stop)
    assert kept.exists()
    again = vary(small, settings=bare, journal=kept, tell=told.append, jobs=2)
    assert told[3].startswith("4 of ")
    assert not kept.exists()
    pd.testing.assert_frame_equal(again.table, whole.table)


def test_subjects_from_ids_and_what_is_refused(table):
    ids = np.array(["law/1", "law/2", "law/3", "art/1", "art/2", "art/3"], dtype=object)
    assert guess_subjects(ids)["art/2"] == "art"
    assert guess_subjects(np.array(["a/1", "b/2", "c"], dtype=object)) == {}
    assert guess_subjects(np.array(["a/1", "b/2", "c/3"], dtype=object)) == {}  # ids, not subjects
    with pytest.raises(MissingColumn, match="no column 'topic'"):
        vary(table, subject="topic")
    with pytest.raises(BadSetting, match="method 'optimize' only"):
        vary(table, settings=Settings(method="nuts"))


def test_the_command_tells_it_and_draws_it(table, tmp_path, capsys):
    table.to_csv(tmp_path / "t.csv", index=False)
    MODELS.to_csv(tmp_path / "m.csv", index=False)
    arguments = [
        "sensitivity",
        str(tmp_path / "t.csv"),
        "--min-accuracy",
        "0",
        "--locale",
        "zh",
        "--guessing",
    ]
    arguments += ["none", "--models", str(tmp_path / "m.csv"), "--other", f"again={tmp_path / 't.csv'}"]
    out, figure = tmp_path / "s.csv", tmp_path / "s.svg"
    with pytest.raises(SystemExit) as done:
        main([*arguments, "-o", str(out), "--figure", str(figure)])
    assert done.value.code == 0
    told = capsys.readouterr().out
    assert "Mean knowledge gap in zh, as asked for" in told
    assert max(map(len, told.splitlines())) <= 80
    assert "without a family" in figure.read_text()
    own = pd.read_csv(out)
    twice = own[own["kind"].isin(["table"])].set_index(["variant", "gap"])["estimate"]
    first = own[own["kind"] == "first"].set_index(["variant", "gap"])["estimate"]
    np.testing.assert_allclose(twice, first.loc[twice.index])  # the same table: the same numbers
    with pytest.raises(SystemExit) as refused:
        main([*arguments, "-o", str(out)])
    assert refused.value.code == 2
    with pytest.raises(SystemExit) as refused:
        main([*arguments[:2], "--other", "nothing"])
    assert refused.value.code == 2


def test_a_locale_without_one_subset_has_no_knowledge_gap(table, tmp_path, capsys):
    table[(table["subset"] == "CA") | (table["language"] != "zh")].to_csv(tmp_path / "ca.csv", index=False)
    arguments = ["sensitivity", str(tmp_path / "ca.csv"), "--min-accuracy", "0", "--guessing", "none"]
    with pytest.raises(SystemExit) as done:
        main([*arguments, "--locale", "zh", "-o", str(tmp_path / "out.csv")])
    assert done.value.code == 1
    assert "no knowledge gap is known" in capsys.readouterr().err
    assert not list(tmp_path.glob("*out*"))


@pytest.mark.slow
def test_no_clear_gap_of_the_bundled_outcomes_hangs_on_a_choice():
    found = vary(global_mmlu_lite(), jobs=2)
    rows = judged(found)
    assert not rows.loc[rows["locale"] == ALL_LOCALES, "clearness_changes"].any()
    swahili = by_locale(found).set_index("locale").loc["sw"]
    assert swahili["above"] > 0
    assert json.dumps(in_words(found))


def test_a_gap_without_its_items_is_refused_before_the_work(tmp_path, capsys, monkeypatch):
    path = tmp_path / "r.csv"
    made = simulate(models=3, items_ca=10, items_cs=10).responses
    made[made["subset"] == "CA"].to_csv(path, index=False)
    monkeypatch.setattr("maskedadv.sensitivity.vary", lambda *_, **__: pytest.fail("worked"))
    with pytest.raises(SystemExit) as left:
        main(["sensitivity", str(path)])
    assert left.value.code == 1
    assert "needs CS items" in capsys.readouterr().err
