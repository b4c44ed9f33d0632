"""Multiple-choice items: one schema, whatever the set; and what can be wrong with them."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from maskedadv.errors import BadItem
from maskedadv.scoring.items.texts import (
    as_read,
    clean_text,
    entities_in,
    hidden_in,
    misread_in,
    without_width_in,
)
from maskedadv.words.lists import first_few

MAX_OPTIONS = 10
# Problems that make an item impossible to ask ...
NO_ANSWER = "no right option"
EMPTY_QUESTION = "empty question"
EMPTY_OPTION = "empty option"
EQUAL_OPTIONS = "two equal options"
TOO_FEW = "fewer than 2 options"
TOO_MANY = f"more than {MAX_OPTIONS} options"
HIDDEN = "hidden characters"
DAMAGED = "damaged text (U+FFFD)"
UNREADABLE = "a row that cannot be read"
# ... problems between the languages of one item ...
KEYS_DIFFER = "right option differs between languages"
OPTIONS_DIFFER = "number of options differs between languages"
NO_COUNTERPART = "asked in one language only"
NO_PIVOT = "not asked in the pivot language"
BETWEEN = frozenset({KEYS_DIFFER, OPTIONS_DIFFER, NO_COUNTERPART, NO_PIVOT})
# ... and what looks wrong and may be meant.
ENTITIES = "HTML entities"
NO_WIDTH = "characters of no width"
MISREAD = "text read in a wrong encoding"
ASKED_TWICE = "the same question under two ids"
MIXED_KEYS = "answers keyed in another way than most"
TOLD = BETWEEN | {ENTITIES, NO_WIDTH, MISREAD, ASKED_TWICE, MIXED_KEYS}


@dataclass(frozen=True)
class Item:
    """One question in one language.

    Attributes
    ----------
    item
        Id, the same in every language.
    subset
        CA or CS.
    language
        BCP-47 code.
    question, options
        Texts.
    answer
        Position of the right option, counted from 0; None where the set gives none.
    country
        Country of the locale cue (ISO code, or an English name listed in prompts.toml), '' for none.
    extra
        Further columns of the set, as text.
    where
        File and row it came from, for messages.
    """

    item: str
    subset: str
    language: str
    question: str
    options: tuple[str, ...]
    answer: int | None
    country: str = ""
    extra: Mapping[str, str] = field(default_factory=dict)
    where: str = field(default="", compare=False)


@dataclass(frozen=True)
class Problem:
    """What is wrong with one item in one language ('' where it concerns all of them)."""

    kind: str
    item: str
    language: str
    detail: str
    where: str


def check_items(items: Sequence[Item], pivot: str = "en") -> list[Problem]:
    """All problems of the items: those of one row first, then those between languages and between items."""
    own = [p for item in items for p in (*_own_problems(item), *_oddities(item))]
    return [*own, *_between_languages(items, pivot), *_asked_twice(items)]


def clean(item: Item) -> Item:
    """The item with `clean_text` applied to question and options."""
    return Item(
        item.item,
        item.subset,
        item.language,
        clean_text(item.question),
        tuple(clean_text(option) for option in item.options),
        item.answer,
        item.country,
        item.extra,
        item.where,
    )


def askable(items: Sequence[Item], *, drop: bool = False) -> tuple[list[Item], Counter[str]]:
    """The items that can be asked, and how many were dropped, by problem.

    Raises
    ------
    BadItem
        Some cannot, and `drop` is false; names the problems and the first three items of each.
    """
    problems: dict[str, list[Problem]] = defaultdict(list)
    bad: set[int] = set()
    for position, item in enumerate(items):
        for problem in _own_problems(item):
            problems[problem.kind].append(problem)
            bad.add(position)
    if bad and not drop:
        parts = [f"{len(found)} with {kind} ({_three(found)})" for kind, found in problems.items()]
        raise BadItem(
            f"{len(bad)} items cannot be asked: {'; '.join(parts)}. Mend them (maskedadv items convert "
            "--clean removes hidden characters), or leave them out with --drop-bad."
        )
    kept = [item for position, item in enumerate(items) if position not in bad]
    return kept, Counter({kind: len(found) for kind, found in problems.items()})


def hash_items(items: Iterable[Item]) -> str:
    """Fingerprint of everything that decides an answer or a row of the table."""
    digest = hashlib.sha256()
    for x in items:
        row = (x.item, x.subset, x.language, x.question, x.options, x.answer, x.country)
        digest.update(repr((*row, sorted(x.extra.items()))).encode())
    return digest.hexdigest()


def _own_problems(item: Item) -> list[Problem]:
    found: list[tuple[str, str]] = []
    if item.answer is None:
        found.append((NO_ANSWER, ""))
    if not item.question.strip():
        found.append((EMPTY_QUESTION, ""))
    if len(item.options) < 2:
        found.append((TOO_FEW, str(len(item.options))))
    if len(item.options) > MAX_OPTIONS:
        found.append((TOO_MANY, str(len(item.options))))
    if empty := [k + 1 for k, option in enumerate(item.options) if not option.strip()]:
        found.append((EMPTY_OPTION, f"option {empty[0]}"))
    texts = Counter(as_read(option) for option in item.options)
    if equal := [text for text, count in texts.items() if count > 1 and text]:
        found.append((EQUAL_OPTIONS, repr(equal[0])))
    texts_of = (item.question, *item.options)
    if hidden := set[str]().union(*map(hidden_in, texts_of)):
        found.append((HIDDEN, _names(hidden)))
    if any("\ufffd" in text for text in texts_of):
        found.append((DAMAGED, ""))
    return [Problem(kind, item.item, item.language, detail, item.where) for kind, detail in found]


def _oddities(item: Item) -> list[Problem]:
    """What looks wrong in one item and may be meant, so that it is told and not refused."""
    texts = (item.question, *item.options)
    found = []
    if odd := [e for text in texts for e in entities_in(text)]:
        found.append((ENTITIES, odd[0]))
    if unseen := set[str]().union(*map(without_width_in, texts)):
        found.append((NO_WIDTH, _names(unseen)))
    if odd := [e for text in texts for e in misread_in(text)]:
        found.append((MISREAD, repr(odd[0])))
    return [Problem(kind, item.item, item.language, detail, item.where) for kind, detail in found]


def _asked_twice(items: Sequence[Item]) -> list[Problem]:
    """Items of one language with the same question and options, in whatever order."""
    first: dict[tuple[str, str, tuple[str, ...]], Item] = {}
    found = []
    for x in items:
        key = (x.language, as_read(x.question), tuple(sorted(map(as_read, x.options))))
        if (other := first.setdefault(key, x)).item != x.item:
            found.append(Problem(ASKED_TWICE, x.item, x.language, f"as {other.item}", x.where))
    return found


def _between_languages(items: Sequence[Item], pivot: str) -> list[Problem]:
    found = []
    by_id: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        by_id[item.item].append(item)
    for name, versions in by_id.items():
        where = versions[0].where
        answers = Counter(v.answer for v in versions if v.answer is not None)
        if len(answers) > 1:
            usual = answers.most_common(1)[0][0]
            odd = [f"{v.language} {_letter(v.answer)}" for v in versions if v.answer not in (usual, None)]
            found.append(
                Problem(KEYS_DIFFER, name, "", f"{', '.join(odd)}; the others {_letter(usual)}", where)
            )
        if len({len(v.options) for v in versions}) > 1:
            counts = ", ".join(f"{v.language} {len(v.options)}" for v in versions)
            found.append(Problem(OPTIONS_DIFFER, name, "", counts, where))
        languages = {v.language for v in versions}
        if pivot not in languages:
            found.append(Problem(NO_PIVOT, name, "", f"only {', '.join(sorted(languages))}", where))
        elif len(languages) == 1:
            found.append(Problem(NO_COUNTERPART, name, versions[0].language, "", where))
    return found


def _names(characters: Iterable[str]) -> str:
    return ", ".join(f"U+{ord(c):04X}" for c in sorted(characters))


def _letter(answer: int | None) -> str:
    return "-" if answer is None else chr(ord("A") + answer)


def _three(problems: Sequence[Problem]) -> str:
    shown = [
        f"{p.where}: item {p.item!r}, {p.language}" + (f", {p.detail}" if p.detail else "") for p in problems
    ]
    return first_few(shown, between="; ")
