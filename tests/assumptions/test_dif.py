"""`maskedadv dif` as a whole: differences, other keys, purified gaps, files, command line, refusals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

import maskedadv
from maskedadv.assumptions import Dif, dif, load_dif, save_dif
from maskedadv.assumptions.texts import pair_texts
from maskedadv.cli.main import main
from maskedadv.errors import BadItem, BadSetting, NotAResult, OutputExists, WrongResponse
from maskedadv.scoring.items.items import Item
from tests.simulate import answer_rows, expit

DIFFERENT = {"CA0": -3.0, "CA1": 3.0, "CS0": -3.0, "CS1": -3.0}
FAST: dict[str, Any] = {"variants": "none"}


def table(
    models: int = 40, items: int = 60, seed: int = 0, locales: tuple[str, ...] = ("zh",)
) -> pd.DataFrame:
    """A table whose items `DIFFERENT` are harder or easier in `zh`."""
    rng = np.random.default_rng(seed)
    ability = 0.3 + 0.5 * rng.standard_normal(models)
    parts = []
    for subset in ("CA", "CS"):
        b = 0.8 * rng.standard_normal(items)
        b[:2] = 0.0
        for language in ("en", *locales):
            shift = np.zeros(items)
            if language != "en":
                shift -= 0.7
            if language == "zh":
                shift[0] += DIFFERENT[f"{subset}0"]
                shift[1] += DIFFERENT[f"{subset}1"]
            right = rng.random((models, items)) < expit(ability[:, None] + shift - b)
            parts.append(answer_rows(right, subset, language))
    return pd.concat(parts, ignore_index=True)


@pytest.fixture(scope="module")
def found() -> Dif:
    return dif(table(), min_accuracy=0.0, **FAST)


def test_what_differs_stands_first_and_is_flagged(found: Dif) -> None:
    top = found.items.head(3)
    assert set(top["item"]) < set(DIFFERENT)
    assert top["flagged"].all()
    assert (np.sign(top["effect"]) == [np.sign(DIFFERENT[i]) for i in top["item"]]).all()
    inside = [
        lo < DIFFERENT[i] < hi for i, lo, hi in zip(top["item"], top["lower"], top["upper"], strict=True)
    ]
    assert all(inside)
    assert found.items["flagged"].sum() <= 7
    shares = found.subsets.set_index("subset")
    own = found.items[found.items["flagged"] & (found.items["subset"] == "CS")]
    assert shares.loc["CS", "harder"] == (own["direction"] == "harder").sum() > 0
    assert (shares["share"] == shares["flagged"] / shares["tested"]).all()


def test_q_is_benjamini_and_hochberg(found: Dif) -> None:
    p = found.items["p_robust"].dropna().sort_values().to_numpy()
    n = len(p)
    expected = np.minimum.accumulate((p * n / np.arange(1, n + 1))[::-1])[::-1]
    assert found.items.sort_values("p_robust")["q"].dropna().to_numpy() == pytest.approx(expected, rel=1e-12)


def test_purified_gaps_come_near_the_truth(found: Dif) -> None:
    """CS items that are harder in zh pull the knowledge gap down from its true 0."""
    row = found.gaps.set_index(["variant", "gap"]).loc[("plain", "knowledge_gap")]
    assert row["removed_ca"] + row["removed_cs"] == found.items["removed"].sum()
    assert row["change"] == pytest.approx(row["purified"] - row["all_items"])
    assert row["change"] > 0
    assert abs(row["purified"]) < abs(row["all_items"])
    assert row["change_lower"] < row["change"] < row["change_upper"]
    assert 0 < row["random_sd"] < row["change_sd"]  # these items are no random ones


def test_purified_gaps_are_a_fit_of_the_other_items(found: Dif) -> None:
    responses = table()
    kept = responses[~responses["item"].isin(found.items.loc[found.items["removed"], "item"])]
    own = maskedadv.fit(kept, estimator="marginal", min_accuracy=0.0, **FAST).means()
    whole = maskedadv.fit(responses, estimator="marginal", min_accuracy=0.0, **FAST).means()
    gaps = found.gaps.set_index("gap")
    for name in ("global_gap", "local_gap", "knowledge_gap"):
        for column, frame in (("purified", own), ("all_items", whole)):
            row = frame[frame["gap"] == name].iloc[0]
            assert gaps.loc[name, column] == pytest.approx(row["estimate"], abs=1e-6)
            if column == "purified":
                assert gaps.loc[name, "purified_lower"] == pytest.approx(row["lower"], abs=1e-4)


def test_random_removal_moves_the_gap_as_told() -> None:
    """The sd beside the change against gaps without as many items, drawn at random."""
    responses = table(40, 60, seed=3)
    one = dif(responses, min_accuracy=0.0, **FAST)
    row = one.gaps.set_index("gap").loc["local_gap"]
    gone = int(row["removed_cs"])
    assert gone
    rng = np.random.default_rng(1)
    ids = np.array(sorted({i for i in responses["item"] if i.startswith("CS")}))
    moved = []
    for _ in range(20):
        out = rng.choice(ids, gone, replace=False)
        kept = responses[~responses["item"].isin(out)]
        fit = maskedadv.fit(kept, estimator="marginal", min_accuracy=0.0, **FAST)
        moved.append(fit.means(gap="local_gap")["estimate"].iloc[0] - row["all_items"])
    assert np.std(moved, ddof=1) == pytest.approx(row["random_sd"], rel=4 / np.sqrt(2 * 20))


def test_against_all_finds_the_language_with_more_power() -> None:
    """Several languages settle an item's difficulty; a difference in one is not seen in the others."""
    responses = table(20, 60, seed=5, locales=("zh", "fr", "de", "sw"))
    pivot = dif(responses, min_accuracy=0.0, purify=False, **FAST).items
    every = dif(responses, min_accuracy=0.0, purify=False, against="all", **FAST).items
    assert list(dict.fromkeys(every["locale"])) == ["de", "fr", "sw", "zh", "en"]
    deviates = []
    for frame in (pivot, every):
        own = frame[(frame["locale"] == "zh") & frame["item"].isin(DIFFERENT)]
        deviates.append(np.mean(norm.isf(own["p"] / 2)))
    # two languages give an item's difference the variance 1/V + 1/V, five give it 1/V + 1/(4V)
    assert deviates[1] / deviates[0] == pytest.approx(np.sqrt(2 / 1.25), rel=0.15)
    flagged = set(every.loc[every["flagged"] & (every["locale"] == "zh"), "item"])
    assert len(flagged & set(DIFFERENT)) >= 3
    assert every.loc[every["locale"] != "zh", "flagged"].sum() <= 4


def _items(keys: dict[str, int], other: dict[str, int]) -> list[Item]:
    out = []
    for language, own in (("en", keys), ("zh", other)):
        for item, key in own.items():
            texts = tuple(f"{item} {language} {k}" for k in range(4))
            out.append(Item(item, item[:2], language, f"{item} in {language}?", texts, key))
    return out


def test_other_keys_stand_first_whatever_the_answers_say() -> None:
    keys = {f"{s}{k}": k % 4 for s in ("CA", "CS") for k in range(60)}
    other = {**keys, "CA40": (keys["CA40"] + 1) % 4, "CS50": (keys["CS50"] + 2) % 4}
    found = dif(table(), items=_items(keys, other), min_accuracy=0.0, purify=False, **FAST)
    assert set(found.items["item"].head(2)) == {"CA40", "CS50"}
    assert found.items["key_differs"].sum() == 2
    assert found.items["removed"].head(2).all()
    assert found.texts is not None
    row = found.texts.set_index("item").loc["CA40"]
    assert row["question_other"] == "CA40 in en?"
    assert row["answer_local"] == "B. CA40 zh 1"


def test_shuffled_options_are_no_other_keys() -> None:
    keys = {f"CA{k}": 0 for k in range(20)}
    other = {f"CA{k}": k % 4 for k in range(20)}
    texts, notes = pair_texts(_items(keys, other), ["zh"], "en", keys)
    assert not texts["key_differs"].any()
    assert "shuffled" in notes[0]
    with pytest.raises(BadItem, match="no item of the item file"):
        pair_texts(_items(keys, other), ["zh"], "en", ["x"])


def test_bundled_outcomes(shared: Path) -> None:
    """Seven Chinese history items hold another question: all stand first, five by their answers alone."""
    from maskedadv.scoring.items.sources import read_items

    items = read_items([shared / "data" / "global_mmlu_lite_items.jsonl"]).items
    numbers = {"33", "58", "87", "93", "145", "157", "187"}
    seven = {f"high_school_world_history/test/{k}" for k in numbers}
    responses = maskedadv.datasets.global_mmlu_lite()
    found = dif(responses, items=items, locale="zh", purify=False)
    assert set(found.items["item"].head(7)) == seven
    assert found.items["key_differs"].sum() == 7
    blind = dif(responses, locale="zh", purify=False).items
    place = {i: k for k, i in enumerate(blind["item"]) if i in seven}
    assert sorted(place.values())[0] == 0
    assert sum(k < 20 for k in place.values()) == 5
    everywhere = dif(responses, items=items, purify=False)
    assert set(everywhere.items.loc[everywhere.items["key_differs"], "locale"]) == {"zh"}


def test_saved_and_loaded(found: Dif, tmp_path: Path) -> None:
    folder = save_dif(found, tmp_path / "out")
    again = load_dif(folder)
    pd.testing.assert_frame_equal(again.items, found.items, check_dtype=False, rtol=1e-12, check_exact=False)
    pd.testing.assert_frame_equal(again.gaps, found.gaps, check_dtype=False)
    assert again.notes == found.notes
    assert again.fingerprint == found.fingerprint
    save_dif(found, folder)  # the same may be written again
    other = dif(table(seed=1), min_accuracy=0.0, purify=False, **FAST)
    with pytest.raises(OutputExists):
        save_dif(other, folder)
    save_dif(other, folder, overwrite=True)
    (tmp_path / "empty").mkdir()
    with pytest.raises(NotAResult, match="maskedadv dif"):
        load_dif(tmp_path / "empty")


def test_ids_that_look_like_numbers_or_nothing_survive(tmp_path: Path) -> None:
    responses = table(6, 12)
    names = {"CA0": "001", "CA1": "NA", "CA2": "1e5", "CS0": "None", "CS1": "مثال"}
    responses["item"] = responses["item"].replace(names)
    one = dif(responses, min_accuracy=0.0, **FAST)
    again = load_dif(save_dif(one, tmp_path / "out"))
    assert again.items["item"].tolist() == one.items["item"].tolist()


def test_nothing_that_can_be_tested() -> None:
    responses = table(1, 6)
    responses["correct"] = (responses["language"] == "en").astype(int)
    one = dif(responses, min_accuracy=0.0, purify=False, **FAST)
    assert one.items["p"].isna().all()
    assert not one.items["flagged"].any()
    assert any("nothing can be tested" in note for note in one.notes)


def test_gaps_that_cannot_be_had_cost_no_tests() -> None:
    responses = table(2, 8)
    responses["correct"] = 1
    one = dif(responses, min_accuracy=0.0, **FAST)
    assert len(one.items) == 16
    assert not len(one.gaps)
    assert any("no gaps with and without" in note for note in one.notes)


def test_cells_that_do_not_count_are_told() -> None:
    responses = table(6, 20)
    perfect = (responses["model"] == "m01") & (responses["language"] == "en")
    responses.loc[perfect, "correct"] = 1
    one = dif(responses, min_accuracy=0.0, purify=False, **FAST)
    assert one.subsets["cells_left_out"].tolist() == [1, 1]
    assert any(note.startswith("2 cells") for note in one.notes)


def test_refusals() -> None:
    with pytest.raises(BadSetting, match="against"):
        dif(table(2, 6), against="other")
    with pytest.raises(BadSetting, match="alpha"):
        dif(table(2, 6), alpha=2.0)
    with pytest.raises(WrongResponse, match="leave out method"):
        dif(table(2, 6), method="nuts")


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    responses, items, out = tmp_path / "r.csv", tmp_path / "items.jsonl", tmp_path / "out"
    table().to_csv(responses, index=False)
    keys = {f"{s}{k}": k % 4 for s in ("CA", "CS") for k in range(60)}
    other = {**keys, "CA40": (keys["CA40"] + 1) % 4}
    lines = [
        {"item": i.item, "subset": i.subset, "language": i.language, "question": i.question,
         "options": list(i.options), "answer": "ABCD"[i.answer or 0]}
        for i in _items(keys, other)
    ]  # fmt: skip
    items.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    common = ["dif", str(responses), "--min-accuracy", "0", "--variants", "none"]
    with pytest.raises(SystemExit) as left:
        main([*common, "--items", str(items), "-o", str(out), "--top", "5"])
    assert left.value.code == 0
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= 80
    assert text.index("CA40") < text.index("CS0")
    assert "zh: CA40 in zh? [B. CA40 zh 1]" in text
    assert "the gap itself" in " ".join(text.split())
    assert {p.name for p in out.iterdir()} == {
        "dif.json",
        "items.csv",
        "subsets.csv",
        "gaps.csv",
        "texts.csv",
    }
    with pytest.raises(SystemExit) as left:
        main([*common, "--no-purify", "--json"])
    parsed = json.loads(capsys.readouterr().out)
    assert parsed["items"][0]["item"] in DIFFERENT
    with pytest.raises(SystemExit) as left:
        main([*common, "--locale", "xx"])
    assert left.value.code == 2


def test_refusals_come_before_the_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    responses, items, out = tmp_path / "r.csv", tmp_path / "items.jsonl", tmp_path / "out"
    table(4, 8).to_csv(responses, index=False)
    common = ["dif", str(responses), "--min-accuracy", "0", "--no-purify", "-o", str(out)]

    def run(*options: str) -> tuple[int, str]:
        with pytest.raises(SystemExit) as left:
            main([*common, *options])
        return int(left.value.code or 0), capsys.readouterr().err

    assert run()[0] == 0
    line = {"item": "other", "subset": "CA", "language": "en", "question": "?", "options": ["a", "b"]}
    items.write_text(json.dumps({**line, "answer": "A"}) + "\n", "utf-8")

    def work(*_: Any) -> None:
        raise AssertionError("worked before it refused")

    monkeypatch.setattr("maskedadv.assumptions.differential.test_block", work)
    code, said = run("--alpha", "0.1")
    assert code == 2
    assert "--overwrite" in said
    code, said = run("--overwrite", "--items", str(items))
    assert code == 2
    assert "no item of the item file" in said
    with pytest.raises(AssertionError):  # the same run may be written again, so it works
        main(common)
