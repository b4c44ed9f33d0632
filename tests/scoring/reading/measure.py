"""Precision and coverage of the reader on the labelled answers: the tables of docs/explanation/reading.md.

`python -m tests.scoring.reading.measure` writes the tables anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from maskedadv.scoring.reading.read import read_answer
from tests.scoring.reading.labelled import Labelled, by_procedure, from_templates, held_out

PAGE = Path(__file__).parents[3] / "docs" / "explanation" / "reading.md"
BEGIN, END = "<!-- figures: tests/scoring/reading/measure.py -->", "<!-- end of figures -->"


class Figures(NamedTuple):
    """`read`: answers read as some option, rightly or not; `stating`: answers that state one."""

    answers: int
    stating: int
    read: int
    right: int

    @property
    def precision(self) -> float:
        """Share of the answers read that state what was read."""
        return self.right / self.read if self.read else 1.0

    @property
    def coverage(self) -> float:
        """Share of the answers that state an option that were read as it."""
        return self.right / self.stating if self.stating else 1.0


def measure(answers: Iterable[Labelled]) -> Figures:
    """Read the answers and count."""
    total = stating = read = right = 0
    for a in answers:
        found = read_answer(a.text, 4, a.language, option_texts=a.texts, finish_reason=a.finish_reason).option
        total += 1
        stating += a.option is not None
        read += found is not None
        right += found is not None and found == a.option
    return Figures(total, stating, read, right)


def table(by: str, answers: list[Labelled], key: Callable[[Labelled], str]) -> str:
    """A Markdown table with a row for each value of `key`."""
    rows = [f"| {by} | answers | stating an option | precision | coverage |", "|---|---:|---:|---:|---:|"]
    groups = [(value, [a for a in answers if key(a) == value]) for value in dict.fromkeys(map(key, answers))]
    for value, group in [("all", answers), *groups]:
        f = measure(group)
        precision = f"{f.precision:.1%}" if f.read else "–"
        coverage = f"{f.coverage:.1%}" if f.stating else "–"
        rows.append(f"| {value} | {f.answers} | {f.stating} | {precision} | {coverage} |")
    return "\n".join(rows)


def figures() -> str:
    """All tables."""
    labelled, unseen = [*by_procedure(), *from_templates()], list(held_out())
    return "\n\n".join(
        [
            "**The labelled set**",
            table("style", labelled, lambda a: a.style),
            table("language", labelled, lambda a: a.language),
            "**The held-out answers**",
            table("style", unseen, lambda a: a.style),
        ]
    )


def main() -> None:
    """Write the tables into the page."""
    before, rest = PAGE.read_text("utf-8").split(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n\n{figures()}\n\n{END}{rest.split(END)[1]}", "utf-8")


if __name__ == "__main__":
    main()
