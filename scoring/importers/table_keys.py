"""Keys and given answers of a table, brought together: letters, numbers, options' texts, written answers.

Conventions are settled over all rows before any answer is scored: which letters and numbers occur in the key
and in the answers decides what a number counts from, and nothing is guessed where they do not.
"""

from __future__ import annotations

import ast
import json
import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from string import ascii_uppercase
from typing import Any

from maskedadv.errors import AmbiguousKey, BadMapping
from maskedadv.scoring.importers.outcomes import NO_ANSWER_GIVEN, NO_KEY, UNPARSED, Outcome
from maskedadv.scoring.reading.read import read_answer

_LETTER = re.compile(r"[\s(\[{*\"'`]*([A-Za-z])[\s)\]}.:*\"'`]*")
_NUMBER = re.compile(r"[\s(\[]*(\d{1,3})(?:\.0)?[\s)\].]*")
_FEWEST = 4  # options of a question of which nothing says how many it had


@dataclass
class Survey:
    """Which letters and numbers the keys and the given answers are, over all rows.

    Attributes
    ----------
    letters, numbers, texts
        For key and given: positions of letters from 0, numbers as they stand, count of other texts.
    as_text, as_place
        For key and given: how many numbers are the text, or a possible position, of an option of their row.
    """

    letters: dict[str, set[int]] = field(default_factory=lambda: {"key": set(), "given": set()})
    numbers: dict[str, set[int]] = field(default_factory=lambda: {"key": set(), "given": set()})
    texts: dict[str, int] = field(default_factory=lambda: {"key": 0, "given": 0})
    is_text: dict[str, list[bool]] = field(default_factory=lambda: {"key": [], "given": []})
    most_options: int = 0

    def see(self, side: str, cell: str, options: Sequence[str]) -> None:
        """Take note of one cell that is not empty."""
        self.most_options = max(self.most_options, len(options))
        number, letter = as_number(cell), as_letter(cell)
        if number is not None:
            self.numbers[side].add(number)
            if options:
                self.is_text[side].append(cell.strip() in options)
        elif letter is not None:
            self.letters[side].add(letter)
        else:
            self.texts[side] += 1


@dataclass(frozen=True)
class Convention:
    """How the cells of a table are meant.

    Attributes
    ----------
    first
        For key and given: the number of the first option, 0 or 1; None where numbers are only compared.
    numbers_are_texts
        For key and given: numbers are the options' texts.
    n_options
        Of questions that do not say.
    """

    first: dict[str, int | None]
    numbers_are_texts: dict[str, bool]
    n_options: int


def settle(survey: Survey, answers: dict[str, Any], where: str) -> Convention:
    """How numbers are meant, from what was seen and what the mapping says.

    Raises
    ------
    AmbiguousKey
        Neither tells.
    """
    numbers = survey.numbers["key"] | survey.numbers["given"]
    letters = survey.letters["key"] | survey.letters["given"]
    n_options = answers.get("n_options") or max(
        _FEWEST, survey.most_options, max(letters, default=0) + 1, max(numbers, default=0)
    )
    first: dict[str, int | None] = {}
    texts: dict[str, bool] = {}
    for side in ("key", "given"):
        said = answers.get(f"{side}_is", "")
        texts[side] = said == "text" or (not said and _are_texts(survey, side, where))
        first[side] = int(said) if said in {"0", "1"} else answers.get("first")
    if survey.texts["key"] and not survey.most_options and (letters or numbers) and not survey.texts["given"]:
        raise AmbiguousKey(
            f"{where}: the key holds texts, the given answers letters or numbers; say where the options' "
            "texts are: options under [answers]."
        )
    positions_matter = bool(letters) or survey.most_options > 0 or bool(survey.texts["given"])
    for side in ("key", "given"):
        own = survey.numbers[side]
        if first[side] is not None or texts[side] or not own:
            continue
        if positions_matter:
            first[side] = _first_number(own, numbers, letters, answers, survey, side, where)
        elif survey.numbers["key"] and survey.numbers["given"] and _are_shifted(survey):
            raise AmbiguousKey(
                f"{where}: the key's numbers begin with {min(survey.numbers['key'])}, the given ones "
                f"with {min(survey.numbers['given'])}; say what each counts from, with key_is and given_is = "
                '"0" or "1" under [answers].'
            )
    return Convention(first, texts, n_options)


def _are_texts(survey: Survey, side: str, where: str) -> bool:
    """Whether numbers are the options' own texts: all are, and not all can be positions; refuses doubt."""
    seen = survey.is_text[side]
    if max(survey.numbers[side], default=0) > len(ascii_uppercase):
        return True
    if not seen or not all(seen):
        return False
    if max(survey.numbers[side]) > survey.most_options:
        return True
    raise AmbiguousKey(
        f"{where}: the numbers of the {'key' if side == 'key' else 'given answers'} can be positions or the "
        f'options\' texts; say {side}_is = "text", "0" or "1" under [answers].'
    )


def _first_number(
    own: set[int],
    numbers: set[int],
    letters: set[int],
    answers: dict[str, Any],
    survey: Survey,
    side: str,
    where: str,
) -> int:
    """What numbers count from: 0 where there is one, 1 where the last option's number is its count."""
    if 0 in own:
        return 0
    count = answers.get("n_options") or survey.most_options or (max(letters) + 1 if letters else 0)
    if count and max(own) == count:
        return 1
    if 0 in numbers and not survey.letters[side]:
        return 0
    which = "key" if side == "key" else "given answers"
    raise AmbiguousKey(
        f"{where}: the {which} hold the numbers {', '.join(map(str, sorted(own)[:6]))}, and nothing tells "
        "whether they count options from 0 or from 1; say first = 0 or 1 under [answers]."
    )


def _are_shifted(survey: Survey) -> bool:
    key, given = survey.numbers["key"], survey.numbers["given"]
    return min(key) != min(given) and max(key) - min(key) == max(given) - min(given) and len(key | given) > 2


def as_letter(cell: str) -> int | None:
    """Position of a cell that is one Latin letter, whatever stands around it."""
    match = _LETTER.fullmatch(unicodedata.normalize("NFKC", cell))
    return ascii_uppercase.index(match[1].upper()) if match else None


def as_number(cell: str) -> int | None:
    """A cell that is one small whole number."""
    match = _NUMBER.fullmatch(unicodedata.normalize("NFKC", cell))
    return int(match[1]) if match and match[1].isascii() else None


def plain(text: str) -> str:
    """A text as compared with an option's: compatibility forms, blanks, capitals and a final stop aside."""
    return " ".join(unicodedata.normalize("NFKC", text).split()).casefold().strip(" .。।'\"")


def option_list(cells: Sequence[str], where: str) -> list[str]:
    """The options of a row: one cell with a list, as JSON or Python write it, or a cell each.

    Raises
    ------
    BadMapping
    """
    if len(cells) == 1 and cells[0].strip():
        text = cells[0].strip()
        for parse in (json.loads, ast.literal_eval) if text.startswith(("[", "{")) else ():
            try:
                found = parse(text)
            except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
                continue
            found = list(found.values()) if isinstance(found, dict) else found
            if isinstance(found, list | tuple):
                return [str(option) for option in found]
        for separator in ("\n", "|", ";"):
            if separator in text:
                return [part.strip() for part in text.split(separator) if part.strip()]
        raise BadMapping(f"{where}: the options {text[:40]!r} are no list.")
    return [cell for cell in cells if cell.strip()]


def score(
    key: str,
    given: str,
    convention: Convention,
    *,
    options: Sequence[str],
    language: str,
    n_options: int,
    read: bool,
    missing: Collection[str],
) -> Outcome:
    """One row.

    Parameters
    ----------
    options
        Texts of the options; empty where not known.
    n_options
        How many there are; 0 where not known.
    read
        Whether longer answers are read; otherwise they are compared as they stand.
    missing
        Words that stand for no answer, in lower case.
    """
    n_options = len(options) or n_options
    if not given.strip() or given.strip().casefold() in missing:
        return Outcome(n_options=n_options, reason=NO_ANSWER_GIVEN)
    if not key.strip() or key.strip().casefold() in missing:
        return Outcome(n_options=n_options, reason=NO_KEY)
    right = _place(key, "key", options, convention)
    chosen = _place(given, "given", options, convention)
    if right is None and chosen is None and not options:
        return _compare_texts(key, given)
    if right is None:
        return Outcome(n_options=n_options, reason=NO_KEY)
    read_by = ""
    if chosen is None and read:
        count = n_options or convention.n_options
        if 2 <= count <= 26:
            reading = read_answer(given, count, language, option_texts=tuple(options))
            chosen, read_by = reading.option, reading.read_by
    if chosen is None:
        return Outcome(n_options=n_options, reason=UNPARSED, read_by=read_by)
    return Outcome(correct=int(chosen == right), n_options=n_options, read_by=read_by)


def _place(cell: str, side: str, options: Sequence[str], convention: Convention) -> int | None:
    """The option that a short cell names, from 0; numbers that are only compared stand for themselves."""
    number = as_number(cell)
    if number is not None and not convention.numbers_are_texts[side]:
        first = convention.first[side]
        return number if first is None else (number - first if number >= first else None)
    texts = [plain(option) for option in options]
    if (text := plain(cell)) in texts:
        return texts.index(text)
    return as_letter(cell)


def _compare_texts(key: str, given: str) -> Outcome:
    """Texts of options that are not known: equal, or not; a longer answer that holds the key is neither."""
    wanted, told = plain(key), plain(given)
    if told == wanted:
        return Outcome(correct=1, read_by="same text")
    if wanted in told:
        return Outcome(reason=UNPARSED)
    return Outcome(correct=0, read_by="same text")


def survey_cells(
    survey: Survey,
    side: str,
    cells: Iterable[str],
    options: Iterable[Sequence[str]],
    missing: Collection[str],
) -> None:
    """Take note of the cells of one side."""
    for cell, texts in zip(cells, options, strict=True):
        if cell.strip() and cell.strip().casefold() not in missing:
            survey.see(side, cell, texts)
