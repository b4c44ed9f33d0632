"""What people are asked about an item: the fields of Thellmann et al. (2026), the item, its translation.

Label Studio and Argilla show the same form; its answers become the columns of `people.PEOPLE`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Choice:
    """A question with fixed answers: `answers` says what each means."""

    name: str
    ask: str
    answers: Mapping[str, str]
    counterpart: bool = False  # asked only of items with a counterpart


@dataclass(frozen=True)
class Text:
    """A question that is answered in words, or not at all."""

    name: str
    ask: str
    lines: int = 1
    counterpart: bool = False


CHOICES = (
    Choice(
        "required_knowledge",
        "What does it take to answer, besides the language and the subject taught anywhere?",
        {
            "none": "nothing local: the same anywhere",
            "regional": "facts of a place: its geography, history, law, institutions, people",
            "cultural": "what is shared by members of a culture: customs, values, arts, food, beliefs",
            "dialect": "the language itself as it is spoken in a place: idioms, sayings, local words",
        },
    ),
    Choice(
        "cultural_sensitivity_label",
        "Is it culture-specific?",
        {
            "CA": "culture-agnostic: required knowledge is none",
            "CS": "culture-specific: required knowledge is regional, cultural or dialect",
        },
    ),
    Choice(
        "time_sensitive",
        "Can the right answer change as time goes by?",
        {"no": "it stays right", "yes": "it holds at a time: office holders, records, prices, laws in force"},
    ),
    Choice(
        "subject_category",
        "Which subject is it?",
        {
            "STEM": "science, technology, engineering, mathematics",
            "humanities": "history, philosophy, law, languages, arts, religion",
            "social sciences": "geography, politics, economics, psychology, society",
            "medical": "medicine and health",
            "business": "business, accounting, marketing, management",
            "other": "none of these",
        },
    ),
    Choice(
        "sound",
        "Can the question be asked as it is?",
        {"yes": "clear, with one right option, the marked one", "no": "unclear, outdated, or wrongly keyed"},
    ),
    Choice(
        "translation",
        "Is the English a faithful counterpart?",
        {
            "good": "same question, same options in the same order, same right option",
            "bad": "something is lost, added, wrong, or gives the answer away",
        },
        counterpart=True,
    ),
)
TEXTS = (
    Text("culture", "Culture, in English; empty for none"),
    Text("region", "Region, in English; empty for none"),
    Text("country", "Country, in English; empty for none"),
    Text("explanation", "Why? A sentence or two in English", lines=3),
    Text(
        "mended", "If the English is bad: write it as it should be, keeping the letters", 6, counterpart=True
    ),
    Text("note", "Anything else, such as why the question is not sound", lines=2),
)
SPANS = "Trigger"
ASK_SPANS = "Mark the words that call for local knowledge: press Trigger, then select them. None for CA."


def choices_for(counterpart: bool) -> tuple[Choice, ...]:
    """The questions with fixed answers that are asked of an item with or without a counterpart."""
    return tuple(x for x in CHOICES if counterpart or not x.counterpart)


def texts_for(counterpart: bool) -> tuple[Text, ...]:
    """The questions answered in words that are asked of an item with or without a counterpart."""
    return tuple(x for x in TEXTS if counterpart or not x.counterpart)
