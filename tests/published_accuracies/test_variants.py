"""The knowledge gap from accuracies with floor and link: identities, simulation with coverage, refusals."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit

from maskedadv.cli.main import main
from maskedadv.datasets import bertaqa
from maskedadv.errors import NoOptions
from maskedadv.published_accuracies.gaps import gaps_from_accuracy
from maskedadv.published_accuracies.variants import variants_from_accuracy
from maskedadv.vocabulary import MEAN


def simulated(rng: np.random.Generator, models: int, *, slope: float, chance: float = 0.25) -> pd.DataFrame:
    """Accuracies over 2,000 equally difficult items; gap −1 in both subsets, CS one logit harder."""
    ability = 1.3 + 0.7 * rng.standard_normal(models)
    rows = []
    for subset, a, shift in (("CA", 1.0, 0.0), ("CS", slope, 1.0)):
        for language, gap in (("en", 0.0), ("eu", -1.0)):
            p = chance + (1 - chance) * expit(a * (ability + gap - shift))
            right = rng.binomial(2000, p) / 2000
            rows += [(f"m{j}", subset, language, x, 2000, 4) for j, x in enumerate(right)]
    return pd.DataFrame(rows, columns=["model", "subset", "language", "accuracy", "n_items", "n_options"])


def test_floor_and_link_take_out_what_they_should_and_cover():
    """True knowledge gap 0, a floor and a discrimination of 0.6: plain is far off, both together are not."""
    rng = np.random.default_rng(0)
    found, covered = [], []
    for _ in range(80):
        gaps = variants_from_accuracy(gaps_from_accuracy(simulated(rng, 25, slope=0.6))).gaps
        own = gaps[gaps["model"] != MEAN].dropna(subset="estimate")
        found.append(own.groupby("variant")["estimate"].mean())
        covered.append(((own["lower"] < 0) & (own["upper"] > 0)).groupby(own["variant"]).mean())
    mean, cover = pd.DataFrame(found).mean(), pd.DataFrame(covered).mean()
    assert mean["plain"] > 0.25
    assert abs(mean["floor+linked"]) < 0.03
    assert 0.93 < cover["floor+linked"] < 0.97
    assert cover["plain"] < 0.6


def test_by_hand():
    """Eight models without noise worth speaking of: floor and λ by the formulas."""
    rng = np.random.default_rng(1)
    frame = simulated(rng, 8, slope=0.7).assign(n_items=10**9)
    at = frame.set_index(["model", "subset", "language"])["accuracy"]
    found = variants_from_accuracy(gaps_from_accuracy(frame))
    for base, c in (("plain", 0.0), ("floor", 0.25)):
        theta = frame.assign(theta=logit((at.to_numpy() - c) / (1 - c)))
        theta = theta.pivot_table("theta", "model", ["subset", "language"])
        ratio = theta["CS", "en"].std() / theta["CA", "en"].std()
        link = found.links.set_index("variant").loc["linked" if c == 0 else "floor+linked"]
        assert link["ratio"] == pytest.approx(ratio, rel=1e-6)
        local, one = (theta[s, "eu"] - theta[s, "en"] for s in ("CS", "CA"))
        for variant, wanted in ((base, local - one), (link.name, local / ratio - one)):
            own = found.gaps[(found.gaps["variant"] == variant) & (found.gaps["model"] != MEAN)]
            np.testing.assert_allclose(
                own["estimate"].to_numpy(float), wanted.loc[own["model"]], rtol=1e-6, atol=1e-6
            )


def test_plain_is_what_gaps_from_accuracy_gives():
    found = gaps_from_accuracy(bertaqa())
    own = variants_from_accuracy(found).gaps
    plain = own[(own["variant"] == "plain") & (own["model"] != MEAN)]
    wanted = found.gaps[found.gaps["gap"] == "knowledge_gap"]
    np.testing.assert_allclose(plain["estimate"], wanted["estimate"], atol=1e-12)
    np.testing.assert_allclose(plain["sd"], wanted["sd"], atol=1e-12)


def test_bertaqa_figures_of_the_docs():
    """docs/explanation/artefacts.md prints these."""
    found = variants_from_accuracy(gaps_from_accuracy(bertaqa()))
    mean = found.gaps[found.gaps["model"] == MEAN].set_index("variant")
    np.testing.assert_allclose(mean["estimate"].round(2), [0.41, 0.27, 0.25, 0.24])
    assert set(mean["note"]) == {"24 models"}
    np.testing.assert_allclose(found.links["ratio"].round(2), [0.54, 0.95])


def test_seven_models_have_no_link_and_unknown_options_are_refused():
    frame = bertaqa()
    few = frame[frame["model"].isin(frame["model"].unique()[:7])]
    found = variants_from_accuracy(gaps_from_accuracy(few))
    assert set(found.gaps["variant"]) == {"plain", "floor"}
    assert found.links["note"].str.contains("needs 8 models").all()
    with pytest.raises(NoOptions, match="--options"):
        variants_from_accuracy(gaps_from_accuracy(frame.drop(columns="n_options")))


def test_the_command_shows_all_four(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as left:
        main(["from-accuracy", "bertaqa", "--variants", "--model", "Llama-2-7b"])
    out = capsys.readouterr().out
    assert left.value.code in (0, None)
    assert "over the 24 models that have a gap under every variant" in out
    assert "floor+linked" in out
    assert max(map(len, out.splitlines())) <= 80
    with pytest.raises(SystemExit):
        main(["from-accuracy", "bertaqa", "--variants", "--json"])
    told = json.loads(capsys.readouterr().out)
    assert {r["variant"] for r in told["variants"]} == {"plain", "floor", "linked", "floor+linked"}
    assert len(told["links"]) == 2
