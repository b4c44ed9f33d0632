"""What the columns of a sample of a table are, by their names and by what is in them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import pandas as pd

from maskedadv.scoring.importers.guess_names import (
    AGNOSTIC,
    LETTERED,
    MISSING,
    PLAIN_WORDS,
    RIGHT,
    ROLES,
    SPECIFIC,
    WRONG,
    is_language,
    plain_name,
)
from maskedadv.scoring.importers.table_keys import as_letter, as_number

_PATTERN = re.compile(
    r"[01][01.\-_?*xX9 ]{3,}|\[\s*(?:[01]|true|false)(?:\s*,\s*(?:[01]|true|false|null))+\s*\]"
)


@dataclass
class Roles:
    """What each column was taken for.

    Attributes
    ----------
    columns
        Our name -> theirs.
    options
        Columns of the options' texts: one with lists, or one each.
    wide, wide_columns
        "model", "language" or "item" where every one has a column of its own, and those columns.
    wide_given
        Whether these hold given answers rather than right or wrong.
    pattern
        The column of patterns such as 0110.
    logprobs
        Columns of the log-probabilities of right and of wrong options.
    """

    columns: dict[str, str] = field(default_factory=dict)
    options: list[str] = field(default_factory=list)
    wide: str = ""
    wide_columns: list[str] = field(default_factory=list)
    wide_given: bool = False
    pattern: str = ""
    logprobs: tuple[str, ...] = ()

    def taken(self) -> set[str]:
        return {*self.columns.values(), *self.options, *self.wide_columns, *self.logprobs, self.pattern}


def find_roles(sample: pd.DataFrame, *, keyed: bool) -> Roles:
    """Take each column of a sample for something.

    Parameters
    ----------
    sample
        Rows as texts.
    keyed
        The records have keys, which are their ids.
    """
    roles = Roles()
    found: dict[str, list[str]] = {}
    for name in sample.columns:
        plain = plain_name(name.rsplit(".", 1)[-1])
        for role, known in ROLES.items():
            if plain in known:
                found.setdefault(role, []).append(name)
    for role, theirs in found.items():
        theirs.sort(key=lambda n: ROLES[role].index(plain_name(n.rsplit(".", 1)[-1])))
    for role in ("model", "language", "n_options", "p_correct"):
        if found.get(role) and _fits(role, sample[found[role][0]]):
            roles.columns[role] = found[role][0]
    subsets = [name for name in found.get("subset", []) if _is_subset(sample[name])]
    roles.columns |= {"subset": subsets[0]} if subsets else {}
    roles.options = _find_options(sample, found.get("options", []))
    right = [name for name in found.get("correct", []) if is_truth(sample[name])]
    if right:
        roles.columns["correct"] = right[0]
    else:
        _find_key_and_given(sample, found, roles)
    _find_item(sample, found.get("item", []), roles, keyed=keyed)
    if not {"correct", "p_correct", "given"} & set(roles.columns):
        _find_logprobs(sample, roles)
        if not roles.logprobs:
            _find_spread(sample, roles)
    if "language" not in roles.columns:
        rest = [n for n in sample.columns if n not in roles.taken() and _all(sample[n], is_language)]
        roles.columns |= {"language": rest[0]} if rest else {}
    return roles


def is_truth(column: pd.Series) -> bool:
    """Whether a column says right or wrong: such words, and words for missing, and nothing else of note."""
    words = _words(column)
    known = words & (RIGHT | WRONG)
    others = words - RIGHT - WRONG - MISSING
    return (
        bool(known)
        and len(others) <= min(3, len(known))
        and not any(w.replace(".", "").isdigit() for w in others)
    )


def odd_words(column: pd.Series) -> dict[str, str]:
    """Words of a column of right and wrong that need [values], and what each means, '?' where not known."""
    meaning = {}
    for word in sorted({w.strip() for w in column.unique()}):
        low = word.casefold()
        if low in PLAIN_WORDS:
            continue
        meaning[word] = "1" if low in RIGHT else "0" if low in WRONG else "" if low in MISSING else "?"
    return meaning


def missing_words(column: pd.Series) -> list[str]:
    """Words of a column of answers that stand for none."""
    return sorted({w.strip() for w in column.unique() if w.strip() and w.strip().casefold() in MISSING})


def _words(column: pd.Series) -> set[str]:
    return {word.strip().casefold() for word in column.unique()}


def _all(column: pd.Series, test: object) -> bool:
    values = [value for value in column.unique() if value.strip()]
    return bool(values) and all(test(value) for value in values)  # type: ignore[operator]


def _fits(role: str, column: pd.Series) -> bool:
    if role in {"n_options", "p_correct"}:
        return bool(pd.to_numeric(column[column != ""], errors="coerce").notna().all())
    return bool((column.str.strip() != "").all())


def _is_subset(column: pd.Series) -> bool:
    words = _words(column) - {"", "-"}
    return bool(words) and words <= AGNOSTIC | SPECIFIC


def _is_short(column: pd.Series) -> bool:
    values = [v for v in column.unique() if v.strip() and v.strip().casefold() not in MISSING]
    short = [v for v in values if as_letter(v) is not None or as_number(v) is not None or _is_list_of_one(v)]
    return bool(values) and len(short) >= 0.9 * len(values)


def _is_list_of_one(text: str) -> bool:
    return bool(re.fullmatch(r"\[\s*[\"']?\w{1,3}[\"']?\s*\]", text.strip()))


def _find_options(sample: pd.DataFrame, named: Sequence[str]) -> list[str]:
    for name in named:
        if (sample[name].str.strip().str[:1] == "[").any():
            return [name]
    plain = {plain_name(name): name for name in sample.columns}
    for names in LETTERED:
        found = [plain[name] for name in names if name in plain]
        if len(found) >= 2 and names[0] in plain and not all(_is_short(sample[f]) for f in found):
            return found
    return []


def _find_key_and_given(sample: pd.DataFrame, found: dict[str, list[str]], roles: Roles) -> None:
    """Key and given answer: short columns before long ones among the given, never the same column twice."""
    given = [n for n in found.get("given", []) if n not in roles.taken()]
    keys = [n for n in found.get("key", []) if n not in roles.taken()]
    both = [n for n in given if n in keys]  # "answer" is the key, unless another column is
    if len(keys) > len(both):
        keys = [n for n in keys if n not in both]
    given = [n for n in given if n not in keys]
    long = {name for name in given if not _is_short(sample[name])}
    given.sort(key=lambda name: name in long)
    if keys:
        roles.columns["key"] = keys[0]
    if keys and given:
        roles.columns["given"] = given[0]


def _find_item(sample: pd.DataFrame, named: Sequence[str], roles: Roles, *, keyed: bool) -> None:
    """An id by name; else the records' key; else a column without repeats for each model and language."""
    named = [n for n in named if n not in roles.taken() and (sample[n].str.strip() != "").all()]
    ids = [roles.columns[r] for r in ("model", "language") if r in roles.columns]
    alone = [n for n in named if not sample.duplicated([*ids, n]).any()]
    if alone or named:
        roles.columns["item"] = (alone or named)[0]
    elif not keyed:
        rest = [n for n in sample.columns if n not in roles.taken() and n.strip()]
        short = [n for n in rest if sample[n].str.len().max() <= 60 and len(sample) > 1]
        unique = [n for n in short if not sample.duplicated([*ids, n]).any() and (sample[n] != "").all()]
        if unique and not _PATTERN.fullmatch(sample[unique[0]].iloc[0].strip()):
            roles.columns["item"] = unique[0]


def _find_logprobs(sample: pd.DataFrame, roles: Roles) -> None:
    """Two columns of log-probabilities, whose names say which are the right options'."""
    lists = [n for n in sample.columns if n not in roles.taken() and _all(sample[n], _is_logprobs)]
    right = [n for n in lists if re.search(r"true|right|correct|gold", n, re.IGNORECASE)]
    wrong = [n for n in lists if re.search(r"false|wrong|incorrect|other", n, re.IGNORECASE)]
    right = [n for n in right if n not in wrong]
    if len(right) == len(wrong) == 1:
        roles.logprobs = (right[0], wrong[0])


def _is_logprobs(text: str) -> bool:
    return bool(re.fullmatch(r"\[?\s*-\d+\.\d+(e-?\d+)?(\s*[;,]\s*-\d+\.\d+(e-?\d+)?)*\s*\]?", text.strip()))


def _find_spread(sample: pd.DataFrame, roles: Roles) -> None:
    """A column per model, language or item, or one of patterns."""
    rest = [n for n in sample.columns if n not in roles.taken()]
    patterns = [n for n in rest if _all(sample[n], lambda v: _PATTERN.fullmatch(v.strip()) is not None)]
    if patterns:
        roles.pattern = patterns[0]
        return
    if "key" in roles.columns:
        roles.wide_columns = [n for n in rest if _is_short(pd.Series(sample[n]))]
        roles.wide_given = bool(roles.wide_columns)
    else:
        roles.wide_columns = [n for n in rest if is_truth(sample[n])]
    if len(roles.wide_columns) < (1 if roles.wide_given else 2):
        roles.wide_columns, roles.wide_given = [], False
        return
    if "item" in roles.columns and roles.columns["item"] in roles.wide_columns:
        roles.wide_columns.remove(roles.columns["item"])
    roles.wide = _what_is_spread(roles)
    ids = [n for n in sample.columns if n not in roles.wide_columns and n not in roles.options]
    other = "model" if roles.wide == "item" else "item"
    if roles.wide == "item" and "item" in roles.columns and "model" not in roles.columns:
        roles.columns["model"] = roles.columns.pop("item")
    elif other not in roles.columns and ids and ids[0] not in roles.taken():
        roles.columns[other] = ids[0]


def _what_is_spread(roles: Roles) -> str:
    names = roles.wide_columns
    if all(is_language(name) for name in names):
        return "language"
    if "model" in roles.columns:
        return "item"
    numbered = [re.fullmatch(r"(\D*)\d+\D{0,2}", name) for name in names]
    alike = len({match[1] for match in numbered if match}) == 1 and all(numbered)
    item = plain_name(roles.columns.get("item", ""))
    if item in ROLES["item"]:
        return "model"
    return "item" if alike and len(names) > 2 else "model"
