"""Models whose paired gap is infinite: counted alike everywhere, and never a headline without a number."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import maskedadv
from maskedadv.result.in_words import read_variants
from maskedadv.summaries import sign_shares
from maskedadv.words.numbers import number
from tests.cli.test_commands import run
from tests.simulate import table


def one_sided(models: list[str]) -> pd.DataFrame:
    """The local language is never right alone on CS, for these models."""
    answers = table(3, (120, 120), (-1.0, -1.0), seed=4)
    wide = answers.pivot_table(index=["model", "subset", "item"], columns="language", values="correct")
    chosen = wide.index.get_level_values("model").isin(models)
    chosen &= wide.index.get_level_values("subset") == "CS"
    wide.loc[chosen, "zh"] = np.minimum(wide.loc[chosen, "zh"], wide.loc[chosen, "en"])
    long = wide.reset_index().melt(["model", "subset", "item"], ["zh", "en"], value_name="correct")
    return long.astype({"correct": int})


def test_page_and_commands_count_finite_gaps() -> None:
    fit = maskedadv.fit(one_sided(["m1"]), estimator="marginal", min_accuracy=0)
    gaps = fit.gaps(variant="paired", gap="knowledge_gap")
    assert np.isinf(gaps["estimate"]).sum() == 1
    shares = sign_shares(fit, "paired").set_index("gap").loc["knowledge_gap"]
    assert shares["known"] == 2
    assert any("paired: " in line and "of 2 gaps" in line for line in read_variants(fit))
    departed = [w for w in fit.warnings if "Hausman" in w]
    assert departed
    assert "over the 2 of 3 models" in departed[0] or "global gap" in departed[0]


def test_a_test_does_not_lead_with_gaps_that_are_all_infinite() -> None:
    answers = one_sided(["m0", "m1", "m2"])
    answers.loc[answers["subset"] == "CA", "subset"] = "CA"
    fit = maskedadv.fit(answers[answers["subset"] == "CS"], estimator="marginal", min_accuracy=0)
    assert np.isinf(fit.gaps(variant="paired", gap="local_gap")["estimate"]).all()
    assert fit.headline == "plain"
    assert fit.with_headline("paired").headline == "paired"
    told = [w for w in fit.warnings if "Hausman" in w]
    assert not told or "their notes give exact bounds" in told[0]


def test_tipping_point_and_grammar_of_one_model(tmp_path: object, capsys: pytest.CaptureFixture[str]) -> None:
    fit = maskedadv.fit(table(3, (150, 150), (-1.5, -0.5), seed=5), estimator="marginal", min_accuracy=0)
    fit.save(f"{tmp_path}/r")
    code, out, _ = run(capsys, "gaps", f"{tmp_path}/r", "--model", "m2")
    assert code == 0
    assert "(mean of 1 model)" in out
    own = fit.gaps(model="m2", variant=fit.headline).set_index("gap")["estimate"]
    ratio = own["local_gap"] / own["global_gap"]
    assert fit.tipping(variant=fit.headline, model="m2")["ratio"].iloc[0] == pytest.approx(ratio)
    assert f"zh {number(ratio)}" in " ".join(out.split("vanishes")[1].split())


@pytest.mark.filterwarnings("error")
def test_an_infinite_gap_leaves_the_linked_means_their_intervals() -> None:
    answers = table(14, (200, 200), (-1.0, -1.0), seed=6)
    never = (answers["model"] == "m3") & (answers["subset"] == "CS") & (answers["language"] == "zh")
    answers.loc[never, "correct"] = 0
    fit = maskedadv.fit(answers, estimator="marginal", min_accuracy=0)
    paired, linked = (
        fit.means(variant=v).set_index("gap").loc["local_gap"] for v in ("paired", "paired+linked")
    )
    link = fit.links().set_index("variant").loc["paired+linked"]
    mean, own = paired["estimate"] / link["ratio"], paired["sd"] / link["ratio"]
    assert linked["estimate"] == pytest.approx(mean)
    # Whatever their correlation, gaps and link bring between the difference and the sum of their sds.
    share = abs(mean) * np.log(link["upper"] / link["ratio"]) / 1.96
    assert abs(own - share) <= linked["sd"] <= own + share
