"""A table that stays in its files: the same rows, results and refusals, however it is spread over files."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import maskedadv
from maskedadv.errors import (
    BadId,
    BadValue,
    DuplicateRows,
    EmptyTable,
    ItemInBothSubsets,
    MissingColumn,
    MissingId,
    NotAResult,
    UnknownSubset,
    UnreadableFile,
)
from maskedadv.fitting import fit_table
from maskedadv.responses import Responses, read_responses
from maskedadv.responses.presence import Presence
from maskedadv.responses.stored import open_stored
from maskedadv.settings import Settings

NAMES = ("org/m=1", "50%_off", "größe/ü", "plain", "org/m 2")


def answers(seed: int = 1) -> pd.DataFrame:
    """Five models with names that folders must escape, three locales, items shared and not, holes."""
    rng = np.random.default_rng(seed)
    rows = []
    for model, level in zip(NAMES, (0.1, 0.5, 0.9, 1.3, 0.3), strict=True):
        for language in ("en", "eu", "sw", "zh-Hant"):
            for subset in ("CA", "CS"):
                for i in range(24):
                    own = "" if i < 16 else f"-{language}"  # the last are asked in one language alone
                    p = 1 / (1 + np.exp(-(level + (i % 7) / 4 - 0.3)))
                    hole = rng.random() < 0.04
                    rows.append(
                        (
                            model,
                            subset,
                            language,
                            f"{subset}/{i}{own}",
                            None if hole else float(rng.random() < p),
                        )
                    )
                    if language == "en" and i >= 16:  # the pivot's answers to items of one locale
                        at = ("eu", "sw", "zh-Hant")[i % 3]
                        rows.append((model, subset, "en", f"{subset}/{i}-{at}", float(rng.random() < p)))
    return pd.DataFrame(rows, columns=["model", "subset", "language", "item", "correct"])


def spread(table: pd.DataFrame, folder: Path, how: str) -> Path:
    """The same rows as one file or several."""
    folder.mkdir(parents=True, exist_ok=True)
    if how == "one file":
        table.to_parquet(folder / "all.parquet", row_group_size=100)
        return folder / "all.parquet"
    if how == "shuffled parts":
        mixed = table.sample(frac=1, random_state=3)
        for k in range(7):
            mixed.iloc[k::7].to_parquet(folder / f"part-{k}.parquet")
    else:
        table.to_parquet(folder, partition_cols=how.split(), index=False)
    return folder


LAYOUTS = ("one file", "shuffled parts", "language", "model", "language model", "subset model")


NUTS = {"method": "nuts", "chains": 1, "warmup": 20, "draws": 10, "variants": "none", "estimator": "marginal"}


def test_posteriors_of_locales_with_odd_names_are_told_apart(tmp_path: Path) -> None:
    names = {"eu": "a/b", "sw": "c/d", "zh-Hant": "e/f"}
    table = answers().replace({"language": names})
    settings = Settings(**NUTS)  # type: ignore[arg-type]
    whole = fit_table(read_responses(table), settings, folder=tmp_path / "one")
    found = fit_table(
        open_stored(spread(table, tmp_path / "t", "language")), settings, folder=tmp_path / "two"
    )
    assert found.cube.identical(whole.cube)
    for locale in names.values():
        assert found.posteriors["plain"][locale].tree().identical(whole.posteriors["plain"][locale].tree())


@pytest.mark.parametrize("how", LAYOUTS)
def test_every_layout_is_the_same_table(tmp_path: Path, how: str) -> None:
    table = answers()
    whole = read_responses(table)
    stored = open_stored(spread(table, tmp_path / "t", how))
    for name in ("models", "languages", "items", "item_subset"):
        assert getattr(stored, name).tolist() == getattr(whole, name).tolist(), name
    assert stored.fingerprint == whole.fingerprint
    assert (len(stored), stored.count("binary")) == (len(whole), whole.count("binary"))
    assert (stored.notes, stored.uneven) == (whole.notes, whole.uneven)
    for locale in ("eu", "zh-Hant"):
        assert_same_rows(stored.of_locales([locale], "en"), expected(whole, locale))


def expected(whole: Responses, locale: str) -> pd.DataFrame:
    """By pandas: the locale's rows, and the pivot's to the items asked in it."""
    frame = whole.to_frame()
    asked = frame.loc[frame["language"] == locale, "item"]
    own = (frame["language"] == locale) | ((frame["language"] == "en") & frame["item"].isin(asked))
    return frame[own]


def assert_same_rows(found: Responses, frame: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(
        found.to_frame().reset_index(drop=True), frame.reset_index(drop=True), check_exact=True
    )


def probabilities() -> pd.DataFrame:
    """The same answers as probabilities, and log-odds that are not theirs."""
    table, rng = answers(), np.random.default_rng(4)
    p = np.clip(0.15 + 0.7 * table["correct"] + rng.normal(0, 0.1, len(table)), 0.0, 1.0)
    logit = np.where(rng.random(len(table)) < 0.5, rng.normal(0, 2, len(table)), np.nan)
    return table.assign(p_correct=p, crm_logit=np.where(p.isna(), np.nan, logit))


@pytest.mark.parametrize("how", ["shuffled parts", "language model"])
@pytest.mark.parametrize(
    "options",
    [{"response": "soft"}, {"response": "crm", "interval": "bootstrap", "replicates": 20}],
    ids=["soft", "crm"],
)
def test_fits_of_probabilities_are_the_same_to_the_last_bit(
    tmp_path: Path, how: str, options: dict[str, object]
) -> None:
    table, settings = probabilities(), Settings(min_accuracy=0, **options)  # type: ignore[arg-type]
    whole = fit_table(read_responses(table), settings)
    found = fit_table(open_stored(spread(table, tmp_path / "t", how)), settings)
    assert np.isfinite(whole.cube["estimate"]).any()
    assert found.cube.identical(whole.cube)
    pd.testing.assert_frame_equal(found.items, whole.items, check_exact=True)


@pytest.mark.parametrize(
    ("how", "options"),
    [
        ("shuffled parts", {"options": 4}),
        ("language model", {"estimator": "marginal", "interval": "information", "missing": "wrong"}),
    ],
)
def test_a_fit_is_the_same_to_the_last_bit(tmp_path: Path, how: str, options: dict[str, object]) -> None:
    table = answers()
    settings = Settings(min_accuracy=0.52, **options)  # type: ignore[arg-type]
    whole = fit_table(read_responses(table), settings)
    assert whole.info.dropped
    assert len(whole.cube["model"]) < len(NAMES)  # one is lost altogether
    found = fit_table(open_stored(spread(table, tmp_path / "t", how)), settings)
    assert found.cube.identical(whole.cube)
    assert found.warnings == whole.warnings
    told, expected = found.info.as_json(), whole.info.as_json()
    # Sums over models run over those that no gap is told of, too: rounding may differ.
    one, other = (pd.DataFrame(values.pop("departures")) for values in (told, expected))
    pd.testing.assert_frame_equal(one, other, rtol=1e-12, atol=0)
    assert told == expected
    pd.testing.assert_frame_equal(found.items, whole.items, check_exact=True)
    for variant in whole.variants:  # as above
        pd.testing.assert_frame_equal(
            found.means(variant=variant), whole.means(variant=variant), rtol=1e-12, atol=1e-15
        )
    assert (found.other is None) == (whole.other is None)
    if whole.other is not None and found.other is not None:
        assert found.other.cube.identical(whole.other.cube)


def test_a_stored_fit_is_saved_and_loaded_a_locale_at_a_time(tmp_path: Path) -> None:
    table = answers()
    settings = Settings(interval="robust")
    whole = fit_table(read_responses(table), settings)
    found = fit_table(open_stored(spread(table, tmp_path / "t", "language model")), settings)
    again = maskedadv.load(found.save(tmp_path / "out"))
    assert len(list((tmp_path / "out" / "uncertainty" / "plain").iterdir())) == 3
    for variant in whole.variants:
        for result in (found, again):
            pd.testing.assert_frame_equal(
                result.means(variant=variant), whole.means(variant=variant), rtol=1e-12, atol=1e-15
            )
        for locale, own in whole.uncertainty[variant].items():
            read = again.uncertainty[variant][locale]
            assert (read.kind, read.key.tolist()) == (own.kind, own.key.tolist())
            assert np.array_equal(read.values, own.values, equal_nan=True)
    assert again.populations().equals(whole.populations())
    path = tmp_path / "out" / "uncertainty" / "plain" / "1.npz"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    damaged = maskedadv.load(tmp_path / "out")
    damaged.means(locale="eu")
    with pytest.raises(NotAResult, match="damaged"):
        damaged.means(locale="sw")


def test_check_says_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table, folder = answers(), tmp_path / "t"
    spread(table, folder, "language model")
    whole = maskedadv.check(table)
    monkeypatch.setattr("maskedadv.responses.opening.IN_MEMORY", 10)
    found = maskedadv.check(folder)
    pd.testing.assert_frame_equal(found.blocks, whole.blocks, check_exact=True)
    pd.testing.assert_frame_equal(found.cells, whole.cells, check_exact=True)
    for name in ("answers", "models", "items", "languages", "dropped", "notes"):
        assert getattr(found, name) == getattr(whole, name), name


def test_what_spark_leaves_is_passed_over_and_foreign_files_are_told(tmp_path: Path) -> None:
    folder = spread(answers(), tmp_path / "t", "language")
    for name in ("_SUCCESS", "_metadata", ".part-0.parquet.crc"):
        (folder / name).write_bytes(b"x")
    (folder / "language=eu" / "._x.parquet").write_bytes(b"x")
    (folder / "README.md").write_text("words")
    empty = answers().iloc[:0].drop(columns="language").astype({"correct": float})
    (folder / "language=en" / "nothing").mkdir()
    empty.to_parquet(folder / "language=en" / "nothing" / "part-9.parquet")
    stored = open_stored(folder)
    assert stored.fingerprint == read_responses(answers()).fingerprint
    assert [n for n in stored.notes if "README.md" in n and "SUCCESS" not in n]


def test_parts_of_different_kinds_fit_together(tmp_path: Path) -> None:
    table = answers()
    kinds = {
        "int": table["correct"].astype("Int8"),
        "text": table["correct"].map({0.0: "0", 1.0: "1"}),
        "bool": table["correct"].map({0.0: False, 1.0: True}).astype("boolean"),
        "dictionary": table["correct"].astype("category"),
    }
    for k, (kind, values) in enumerate(kinds.items()):
        rows = table.assign(correct=values).iloc[k :: len(kinds)]
        if kind == "dictionary":
            rows = rows.astype(dict.fromkeys(("model", "item", "language"), "category"))
        rows.to_parquet(tmp_path / f"{kind}.parquet")
    assert open_stored(tmp_path).fingerprint == read_responses(table).fingerprint


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        (lambda t: t.assign(correct=2), BadValue, r"language=eu.*2 is|value"),
        (lambda t: t.assign(correct="NA"), BadValue, "language=eu"),
        (lambda t: t.assign(subset="CX"), UnknownSubset, "language=eu.*neither CA"),
        (lambda t: t.assign(subset="CA"), ItemInBothSubsets, "language=eu.*both CA and CS"),
        (lambda t: t.assign(item=""), MissingId, "language=eu.*item"),
        (lambda t: t.assign(item=1.5), BadId, "language=eu.*double"),
        (lambda t: pd.concat([t, t.iloc[3:4]]), DuplicateRows, "language=eu.*1 rows repeat"),
        (lambda t: t.assign(language="sw"), UnreadableFile, "language=eu.*disagrees"),
        (lambda t: t.drop(columns="item"), MissingColumn, "item.*language=eu"),
        (lambda t: t.rename(columns={"correct": "p_correct"}), MissingColumn, "language=eu"),
        (lambda t: t.assign(model=None), MissingId, "language=eu.*model"),
    ],
)
def test_a_bad_part_is_named(tmp_path: Path, change, error, words) -> None:  # type: ignore[no-untyped-def]
    folder = spread(answers(), tmp_path / "t", "language")
    (path,) = (folder / "language=eu").iterdir()
    change(pq.read_table(path, partitioning=None).to_pandas()).to_parquet(path, index=False)
    with pytest.raises(error, match=words):
        open_stored(folder)


def test_rows_repeated_in_another_file_are_refused(tmp_path: Path) -> None:
    folder = spread(answers(), tmp_path / "t", "language")
    again = answers().iloc[[40, 4]]
    again.to_parquet(folder / "more.parquet", index=False)
    with pytest.raises(DuplicateRows, match=r"more\.parquet: 2 rows repeat.*row 1: .*row 2: "):
        open_stored(folder)


def test_what_cannot_be_read_is_refused_at_once(tmp_path: Path) -> None:
    folder = spread(answers(), tmp_path / "t", "language")
    (path,) = (folder / "language=sw").iterdir()
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    with pytest.raises(UnreadableFile, match="language=sw"):
        open_stored(folder)
    path.write_bytes(whole)
    os.mkfifo(folder / "pipe.parquet")
    with pytest.raises(UnreadableFile, match="pipe"):
        open_stored(folder)
    with pytest.raises(UnreadableFile, match="does not exist"):
        open_stored(tmp_path / "nothing")


def test_a_file_that_changes_meanwhile_is_refused(tmp_path: Path) -> None:
    folder = spread(answers(), tmp_path / "t", "language")
    stored = open_stored(folder)
    (path,) = (folder / "language=sw").iterdir()
    table = pq.read_table(path, partitioning=None)
    pq.write_table(table.slice(1), path)
    assert len(stored.of_locales(["eu"], "en"))
    with pytest.raises(UnreadableFile, match="changed"):
        stored.of_locales(["sw"], "en")


def test_tables_without_answers_are_refused(tmp_path: Path) -> None:
    table = answers()
    table.iloc[:0].astype({"correct": float}).to_parquet(tmp_path / "a.parquet")
    with pytest.raises(EmptyTable, match="no rows"):
        open_stored(tmp_path)
    table.assign(correct=np.nan).to_parquet(tmp_path / "b.parquet")
    with pytest.raises(EmptyTable, match="every answer is empty"):
        open_stored(tmp_path)


def test_repeated_rows_by_a_set() -> None:
    """`Presence` against Python's sets, in batches of many models and items."""
    rng = np.random.default_rng(5)
    presence, seen = Presence(), set()
    for size in (1, 50, 400, 3, 2000):
        model, item = rng.integers(0, 90, size), rng.integers(0, 130, size)
        again = []
        for k, pair in enumerate(zip(model.tolist(), item.tolist(), strict=True)):
            if pair in seen:
                again.append(k)
            seen.add(pair)
        assert sorted(presence.add(model, item).tolist()) == again
    assert np.flatnonzero(presence.asked(200)).tolist() == sorted({i for _, i in seen})


def test_the_fingerprint_tells_single_values_apart() -> None:
    table = answers()
    same = read_responses(table).fingerprint
    assert read_responses(table.sample(frac=1, random_state=1)).fingerprint == same
    two = table.copy()
    at = two.index[two["correct"].notna()][:2]
    two.loc[at[0], "correct"] = 1 - two.loc[at[0], "correct"]
    assert read_responses(two).fingerprint != same
    gone = table.copy()
    gone.loc[at[1], "correct"] = np.nan
    assert read_responses(gone).fingerprint != same
    named = table.replace({"model": {NAMES[0]: NAMES[0] + "x"}})
    assert read_responses(named).fingerprint != same
    one, other = (table["model"] == NAMES[0]), (table["model"] == NAMES[1])
    swapped = table.assign(model=table["model"].mask(one, NAMES[1]).mask(other, NAMES[0]))
    assert read_responses(swapped).fingerprint != same


def test_single_files_and_arrow_types_of_ids(tmp_path: Path) -> None:
    table = pa.Table.from_pandas(answers(), preserve_index=False)
    for kind in (pa.large_string(), pa.string_view(), pa.dictionary(pa.int16(), pa.large_string())):
        own = table
        for name in ("model", "item"):
            at = own.column_names.index(name)
            plain = own[name].cast(pa.large_string()) if pa.types.is_dictionary(kind) else own[name]
            column = plain.dictionary_encode() if pa.types.is_dictionary(kind) else plain.cast(kind)
            own = own.set_column(at, name, column)
        pq.write_table(own, tmp_path / "a.parquet")
        assert open_stored(tmp_path / "a.parquet").fingerprint == read_responses(answers()).fingerprint


def test_bits_take_no_more_than_a_few_times_the_table() -> None:
    presence, items = Presence(), np.arange(1000)
    for model in range(2000):  # one model a file, as tables are laid
        assert not len(presence.add(np.full(1000, model), items))
    assert presence.size < 4 * 2000 * 1000 / 8
