"""The numbers of README.md: where each stands, and what makes it.

A number is found by the words around it (# stands for it), so that README.md is the only place of its
sentences. What is computed in seconds is computed; what takes minutes is read from the page that tells its
study.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import NamedTuple

import pandas as pd

import maskedadv
from maskedadv.result.fit_result import Fit
from maskedadv.vocabulary import GAPS
from maskedadv.words.numbers import TERMINAL, interval_text
from maskedadv.words.terminal import records
from tests.conftest import ROOT

README = ROOT / "README.md"
NUMBER = r"[+−]?\d(?:[\d.,]*\d)?"
NO_MEASUREMENT = (
    r"arXiv \d{4}\.\d{5}",
    r"Python 3\.11",
    r"95%\s+intervals",
    r"where the truth is 0",
    r"\(80 models × 13 locales\)",
    r"from 40 answers an item on \(20 models\)",
    r"[124]PL|n10/n01|lme4|BSD-3|Apache-2\.0|crosslingual\S*",
)
"""Digits that nothing measured: names, versions, settings of a simulation."""


class Claim(NamedTuple):
    """Words of README.md, with # for each number, and what the numbers are."""

    words: str
    numbers: Callable[[Fit], list[str]]

    @property
    def pattern(self) -> str:
        """The words, wherever lines are broken."""
        return r"\s+".join(re.escape(part).replace(r"\#", f"({NUMBER})") for part in self.words.split())


def signed(value: float, digits: int = 2) -> str:
    """As pages write numbers: with the sign of minus."""
    return f"{value:.{digits}f}".replace("-", "−")


def mean_gap(fit: Fit, gap: str, variant: str) -> float:
    """The mean gap of Swahili, in logits."""
    means = fit.means(variant=variant).set_index(["locale", "gap"])
    return float(means.loc[("sw", gap), "estimate"])


def against_r(_: Fit) -> list[str]:
    """Largest difference from glmer's estimates (logit) and of standard errors (per cent), rounded up."""
    answers = maskedadv.datasets.global_mmlu_lite()
    fit = maskedadv.fit(
        answers,
        locale=["bn", "de", "fr", "zh"],
        estimator="marginal",
        interval="information",
        variants="none",
    )
    gaps = fit.gaps()
    gaps["subset"] = gaps["gap"].map({"global_gap": "CA", "local_gap": "CS"})
    oracle = pd.read_csv(ROOT / "tests" / "data" / "r_contrasts.csv", keep_default_na=False)
    both = oracle.merge(gaps, on=["locale", "subset", "model"], validate="one_to_one")
    estimate = (both["estimate"] - both["mml"]).abs().max()
    error = 100 * (both["sd"] / both["mml_se"] - 1).abs().max()
    return [f"{math.ceil(estimate * 1e4) / 1e4:g}", f"{math.ceil(error * 1e2) / 1e2:g}"]


def cells(page: str, begins: str, having: str = "") -> list[str]:
    """The cells of a table's row: the line of the page that begins so and has that in it."""
    lines = (ROOT / "docs" / page).read_text("utf-8").splitlines()
    (line, *_) = [line for line in lines if line.startswith(f"| {begins}") and having in line]
    return [cell.strip() for cell in line.strip("|").split("|")]


def artefacts(_: Fit) -> list[str]:
    """Bias of the plain knowledge gap under each artefact."""
    return [
        f"{float(cells('explanation/artefacts.md', '0.25 | 30')[2]):+.2f}",
        f"{float(cells('explanation/artefacts.md', '0.7 | 40 | 1.0')[4]):+.2f}",
        cells("explanation/studies.md", "knowledge gap; gap −2 in both")[2],
    ]


def coverage(_: Fit) -> list[str]:
    """Lowest and highest coverage of single models' robust intervals; that under a wrong model."""
    rows = [cells("explanation/studies.md", f"{n} | {sets} |", "%")[2] for n, sets in SETS.items()]
    shares = sorted(float(share.rstrip("%")) for share in rows)
    wrong = cells("explanation/studies.md", "`marginal` | −0.69")[2]
    return [f"{shares[0]:.1f}", f"{shares[-1]:.1f}", wrong.rstrip("%")]


SETS = {"1": "4,000", "2": "3,000", "5": "2,000", "20": "600"}


def speed(_: Fit) -> list[str]:
    """Answers (millions), seconds, processor seconds, GiB."""
    page = (ROOT / "docs" / "reference" / "benchmarks.md").read_text("utf-8")
    own = page[page.index("## End to end") :]
    rows = re.findall(r"^([\d,]+) rows\.", own, flags=re.MULTILINE)[0]
    _, processor, seconds, mebibytes = cells("reference/benchmarks.md", "`maskedadv fit` |")
    gibibytes = float(mebibytes.replace(",", "")) / 1024
    return [f"{int(rows.replace(',', '')) / 1e6:.1f}", seconds, processor, f"{gibibytes:.1f}"]


CLAIMS = (
    Claim(
        "these six systems lose # logits on culture-agnostic questions and # on culture-specific ones",
        lambda fit: [signed(-mean_gap(fit, gap, fit.headline), 1) for gap in GAPS[:2]],
    ),
    Claim(
        "the mean global gap in Swahili is # `plain` and # `paired`",
        lambda fit: [signed(mean_gap(fit, "global_gap", v)) for v in ("plain", "paired")],
    ),
    Claim(
        "guessing among four options #, culture-specific items that discriminate 0.7 times as well #, "
        "models that know single items #",
        artefacts,
    ),
    Claim("equal R's `glmer` within # logit and its standard errors within #%", against_r),
    Claim(
        "95% intervals of single models cover # to #% in [simulation](docs/explanation/studies.md), "
        "and #% where",
        coverage,
    ),
    Claim(
        "# million answers (80 models × 13 locales) fit in # seconds on two processors (# of processor time) "
        "and # GiB",
        speed,
    ),
)


def made_anew(text: str, fit: Fit) -> str:
    """The text with every number as it comes out now.

    Raises
    ------
    LookupError
        The words around a number are not there any more.
    """
    for claim in CLAIMS:
        found = re.search(claim.pattern, text)
        if found is None:
            raise LookupError(f"README.md no longer says {claim.words!r}; mend tests/readme/numbers.py.")
        for k, number in reversed(list(enumerate(claim.numbers(fit), 1))):
            text = text[: found.start(k)] + number + text[found.end(k) :]
    return screen_anew(text, fit)


def screen_anew(text: str, fit: Fit) -> str:
    """The lines that `make demo` prints, which begin with a locale."""
    for locale, rows in fit.means(variant=fit.headline).groupby("locale"):
        told = [interval_text(row, TERMINAL) for row in records(rows)]
        line = re.compile(rf"^{locale}(?P<gaps>(?: +-?\d\.\d\d \[[^\]]+\]){{3}})$", re.MULTILINE)
        for found in line.finditer(text):
            widths = [len(part) for part in re.findall(r" +-?\d\.\d\d \[[^\]]+\]", found["gaps"])]
            new = "".join(gap.rjust(width) for gap, width in zip(told, widths, strict=True))
            text = text[: found.start("gaps")] + new + text[found.end("gaps") :]
    return text


def unexplained(text: str) -> list[str]:
    """Numbers of the prose that no claim makes."""
    for claim in CLAIMS:
        text = re.sub(claim.pattern, " ", text)
    prose = re.sub(r"```.*?```|\]\([^)]*\)|`[^`]*`", " ", text, flags=re.DOTALL)
    for known in NO_MEASUREMENT:
        prose = re.sub(known, " ", prose)
    return re.findall(rf"\S*{NUMBER}\S*", prose)
