"""Multiple-choice items: one schema, whatever the set; and what can be wrong with them."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from maskedadv.errors import BadItem

MAX_OPTIONS = 10
# Direction marks, byte-order mark, control characters: invisible to the reader, not to the tokenizer.
_HIDDEN = frozenset("\ufeff\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069") | {
    chr(k) for k in (*range(32), *range(127, 160)) if chr(k) not in "\n\t"
}

# Problems that make an item impossible to ask ...
NO_ANSWER = "no right option"
EMPTY_QUESTION = "empty question"
EMPTY_OPTION = "empty option"
EQUAL_OPTIONS = "two equal options"
TOO_FEW = "fewer than 2 options"
TOO_MANY = f"more than {MAX_OPTIONS} options"
HIDDEN = "hidden characters"
# ... and problems between the languages of one item.
KEYS_DIFFER = "right option differs between languages"
OPTIONS_DIFFER = "number of options differs between languages"
NO_COUNTERPART = "asked in one language only"
BETWEEN = frozenset({KEYS_DIFFER, OPTIONS_DIFFER, NO_COUNTERPART})


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


def check_items(items: Sequence[Item]) -> list[Problem]:
    """All problems of the items: those of one row first, then those between languages."""
    return [p for item in items for p in _own_problems(item)] + _between_languages(items)


def clean_text(text: str) -> str:
    """The text without hidden characters, line ends as single newlines, blanks at its ends cut."""
    text = re.sub("\r\n|[\r\v\f\x85]", "\n", text)
    return "".join(c for c in text if c not in _HIDDEN).strip()


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
    texts = Counter(unicodedata.normalize("NFC", option).strip() for option in item.options)
    if equal := [text for text, count in texts.items() if count > 1 and text]:
        found.append((EQUAL_OPTIONS, repr(equal[0])))
    if hidden := sorted({c for text in (item.question, *item.options) for c in text if c in _HIDDEN}):
        names = ", ".join(f"U+{ord(c):04X}" for c in hidden)
        found.append((HIDDEN, names))
    return [Problem(kind, item.item, item.language, detail, item.where) for kind, detail in found]


def _between_languages(items: Sequence[Item]) -> list[Problem]:
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
        if len({v.language for v in versions}) == 1:
            found.append(Problem(NO_COUNTERPART, name, versions[0].language, "", where))
    return found


def _letter(answer: int | None) -> str:
    return "-" if answer is None else chr(ord("A") + answer)


def _three(problems: Sequence[Problem]) -> str:
    shown = [
        f"{p.where}: item {p.item!r}, {p.language}" + (f", {p.detail}" if p.detail else "")
        for p in problems[:3]
    ]
    return "; ".join(shown) + ("; ..." if len(problems) > 3 else "")
