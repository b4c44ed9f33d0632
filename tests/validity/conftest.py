"""A study with known truth: 29 models of 17 families, seven pairings built to be of a certain class."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

from maskedadv.validity.pairings import Pairing, PairingFile

FAMILY_SIZES = (5, 4, 3, 3, 2, *[1] * 12)
# name, language, class it is built to have, share of CS items
PAIRINGS = (
    ("Skolprov", "sv", "robust", 0.15),
    ("SwedishFacts", "sv", "null", 0.95),
    ("Exam-ET", "et", "robust", 0.45),
    ("INCLUDE-ET", "et", "marginal", 0.4),
    ("INCLUDE-LT", "lt", "robust", 0.5),
    ("NRK-Quiz", "nb", "robust", 0.6),
    ("DanishCT", "da", "marginal", 0.95),
)


@dataclass(frozen=True)
class Simulated:
    """Tables of a simulated study and the class every pairing was built to have."""

    scores: pd.DataFrame
    models: pd.DataFrame
    plan: PairingFile
    truth: dict[str, str]


def simulate(seed: int, n_items: int = 400) -> Simulated:
    """Answers to items whose chance of being right is a logistic of size, proficiency and knowledge.

    Knowledge in a language moves the proxy. It moves a *robust* native benchmark in every model, a
    *marginal* one in one family only (which spreads most), a *null* one not at all.
    """
    rng = np.random.default_rng(seed)
    families = [f"family {f:02d}" for f, size in enumerate(FAMILY_SIZES) for _ in range(size)]
    n = len(families)
    names = [f"model {j:02d}" for j in range(n)]
    size = rng.normal(0, 0.5, n)
    models = pd.DataFrame({"model": names, "family": families, "parameters": np.exp(23 + 2 * size)})
    first = np.array(families) == "family 00"
    rows = [answers(rng, "mmlu", "en", names, size + rng.normal(0, 0.2, n), 4 * n_items, 0.3)]
    pairings, known = [], {}
    for language in dict.fromkeys(language for _, language, _, _ in PAIRINGS):
        proficiency = size + rng.normal(0, 0.4, n)
        models[f"proficiency_{language}"] = 1 / (1 + np.exp(-proficiency))
        knowledge = rng.normal(0, 0.5, n)
        knowledge[first] = rng.permutation(np.linspace(-1.8, 1.8, first.sum()))
        known[language] = (proficiency, knowledge)
        ability = 0.5 * size + 0.5 * proficiency + knowledge
        rows.append(answers(rng, "mmlu", language, names, ability, 4 * n_items, 0.3))
    for name, language, built, cs_share in PAIRINGS:
        proficiency, knowledge = known[language]
        carried = {"robust": knowledge, "marginal": np.where(first, knowledge, 0), "null": 0 * knowledge}[
            built
        ]
        ability = 0.4 * size + 0.6 * proficiency + 0.9 * carried + rng.normal(0, 0.12, n)
        rows.append(answers(rng, name.lower(), language, names, ability, n_items, cs_share))
        open_ended = name == "SwedishFacts"
        pairings.append(
            Pairing(name, language, name.lower(), "mmlu", extra_controls=("mmlu@en",), open_ended=open_ended)
        )
    truth = {name: built for name, _, built, _ in PAIRINGS}
    return Simulated(pd.concat(rows, ignore_index=True), models, PairingFile(tuple(pairings)), truth)


def answers(
    rng: np.random.Generator,
    benchmark: str,
    language: str,
    names: list[str],
    ability: np.ndarray,
    n_items: int,
    cs_share: float,
) -> pd.DataFrame:
    """Answers of every model to every item; the last `cs_share` of the items are culture-specific."""
    difficulty = rng.normal(0, 0.8, n_items)
    right = rng.random((len(names), n_items)) < 1 / (1 + np.exp(difficulty - ability[:, None]))
    subset = np.where(np.arange(n_items) < round(n_items * (1 - cs_share)), "CA", "CS")
    return pd.DataFrame(
        {
            "model": np.repeat(names, n_items),
            "benchmark": benchmark,
            "language": language,
            "item": np.tile([f"{i:04d}" for i in range(n_items)], len(names)),
            "subset": np.tile(subset, len(names)),
            "correct": right.reshape(-1).astype(int),
        }
    )


def aggregate(scores: pd.DataFrame) -> pd.DataFrame:
    """The same scores as accuracies of CA, CS and ALL, with numbers of items."""
    keys = ["model", "benchmark", "language", "subset"]
    rows = pd.concat([scores, scores.assign(subset="ALL")])
    return rows.groupby(keys)["correct"].agg(accuracy="mean", n_items="size").reset_index()


@pytest.fixture(scope="session")
def simulator() -> Callable[..., Simulated]:
    """The simulator itself."""
    return simulate


@pytest.fixture(scope="session")
def aggregator() -> Callable[[pd.DataFrame], pd.DataFrame]:
    """From answers to accuracies."""
    return aggregate


@pytest.fixture(scope="session")
def simulated() -> Simulated:
    """One simulated study."""
    return simulate(seed=1)


@pytest.fixture(scope="session")
def aggregated(simulated: Simulated) -> pd.DataFrame:
    """Its score table as accuracies."""
    return aggregate(simulated.scores)
