"""Prompts as data: how a question is asked in a language (`prompts.toml`), and the text that results."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from string import ascii_uppercase
from typing import Any, Literal

from maskedadv.errors import BadPrompts, NoPrompt
from maskedadv.files.toml import read_toml
from maskedadv.scoring.items.items import MAX_OPTIONS, Item
from maskedadv.words.lists import first_few

LetterForms = Literal["context", "both"]


@dataclass(frozen=True)
class Words:
    """The words of one language; keys as in `prompts.toml`."""

    question: str
    answer: str
    colon: str
    word_space: str
    cue: str
    places: Mapping[str, str]
    letters: tuple[str, ...] = tuple(ascii_uppercase[:MAX_OPTIONS])


@dataclass(frozen=True)
class Prompts:
    """Words per language, country codes by country name, and the version of both."""

    version: str
    languages: Mapping[str, Words]
    countries: Mapping[str, str]


@dataclass(frozen=True)
class Rendered:
    """One question as text: the prompt, and for each option the continuations that choose it."""

    prompt: str
    options: tuple[tuple[str, ...], ...]


def load_prompts(path: Path | None = None) -> Prompts:
    """Read the prompts that come with the package, and the user's own on top.

    Raises
    ------
    UnreadableFile, BadPrompts
    """
    own = read_toml(Path(__file__).with_name("prompts.toml"), BadPrompts)
    version = str(own.pop("version"))
    if path is not None:
        theirs = read_toml(path, BadPrompts)
        if not isinstance(theirs.get("version"), str):
            raise BadPrompts(f'{path} has no version; begin it with version = "my-1".')
        version = f"{version}+{theirs.pop('version')}"
        for name, table in theirs.items():
            if not isinstance(table, dict):
                raise BadPrompts(f"{path}: {name} is not a table; a language is [{name}].")
            if not isinstance(table.get("places", {}), dict):
                raise BadPrompts(f'{path}, [{name}]: places is a table, such as {{ CN = "在中国" }}.')
            places = {**own.get(name, {}).get("places", {}), **table.get("places", {})}
            own[name] = {**own.get(name, {}), **table} | ({"places": places} if name != "countries" else {})
    where = str(path or "prompts.toml")
    countries = own.pop("countries")
    if odd := [name for name, code in countries.items() if not isinstance(code, str)]:
        raise BadPrompts(f'{where}, [countries]: {odd[0]} is given no code, such as "CN".')
    languages = {name: _words(name, table, where) for name, table in own.items()}
    return Prompts(version, languages, countries)


def words_of(language: str, prompts: Prompts) -> Words:
    """The words of a language, or of the language without its script and region ("pt-BR" asks as "pt").

    Raises
    ------
    NoPrompt
    """
    for code in (language, language.split("-")[0]):
        if code in prompts.languages:
            return prompts.languages[code]
    known = ", ".join(sorted(prompts.languages))
    raise NoPrompt(
        f"there is no prompt for the language {language!r} (there is for {known}); "
        "write its words into a file and give it with --prompts."
    )


def render(item: Item, prompts: Prompts, letter_forms: LetterForms = "context") -> Rendered:
    """The text of one question.

    The prompt ends at the answer label's colon; what an option adds is a word space and its letter. With
    `letter_forms="both"` the bare letter counts as well. A CS item with a country begins with its cue.

    Raises
    ------
    NoPrompt
        No words for the language, or for the country in it, or fewer letters than options.
    """
    words = words_of(item.language, prompts)
    if len(item.options) > len(words.letters):
        raise NoPrompt(
            f"item {item.item!r} has {len(item.options)} options, the prompt of {item.language!r} "
            f"{len(words.letters)} letters; add letters to the prompt file."
        )
    letters = words.letters[: len(item.options)]
    cue = _cue(item, words, prompts) if item.subset == "CS" and item.country else ""
    lines = [
        f"{words.question}{words.colon}{words.word_space}{cue}{item.question}",
        *(f"{letter}. {option}" for letter, option in zip(letters, item.options, strict=True)),
        f"{words.answer}{words.colon}",
    ]
    forms = [words.word_space, ""] if letter_forms == "both" and words.word_space else [words.word_space]
    options = tuple(tuple(form + letter for form in forms) for letter in letters)
    return Rendered("\n".join(lines), options)


def check_prompts(items: Iterable[Item], prompts: Prompts) -> None:
    """Refuse items that the prompts have no words for, before anything is scored.

    Raises
    ------
    NoPrompt
        Lists every language and country that lacks words, not just the first.
    """
    missing: dict[str, int] = {}
    for item in items:
        try:
            render(item, prompts)
        except NoPrompt as error:
            missing[str(error)] = missing.get(str(error), 0) + 1
    if missing:
        listed = [f"{count} items: {text}" for text, count in missing.items()]
        raise NoPrompt(first_few(listed, between="; "))


def hash_of(rendered: Iterable[Rendered]) -> str:
    """Fingerprint of rendered questions: any change of a prompt or an item changes it."""
    digest = hashlib.sha256()
    for one in rendered:
        digest.update(repr((one.prompt, one.options)).encode())
    return digest.hexdigest()


def _cue(item: Item, words: Words, prompts: Prompts) -> str:
    code = prompts.countries.get(item.country, item.country)
    if code not in words.places:
        raise NoPrompt(
            f"the prompt of {item.language!r} has no words for the country {item.country!r} (it has for "
            f"{', '.join(sorted(words.places)) or 'none'}); add [{item.language}.places] to a file and "
            "give it with --prompts."
        )
    return words.cue.format(place=words.places[code])


def _words(name: str, table: Any, where: str) -> Words:
    known = {field.name for field in fields(Words)}
    if unknown := sorted(set(table) - known):
        raise BadPrompts(
            f"{where}, [{name}]: unknown key {unknown[0]!r} (known: {', '.join(sorted(known))})."
        )
    if absent := sorted(known - {"letters", "places"} - set(table)):
        raise BadPrompts(f"{where}, [{name}]: the key {absent[0]!r} is missing.")
    texts = {k: v for k, v in table.items() if k not in {"letters", "places"}}
    places = table.get("places", {})
    letters = table.get("letters", list(ascii_uppercase[:MAX_OPTIONS]))
    if not isinstance(places, dict) or not isinstance(letters, list):
        raise BadPrompts(f"{where}, [{name}]: places is a table of texts, letters a list of texts.")
    if odd := [k for k, v in {**texts, **places}.items() if not isinstance(v, str)]:
        raise BadPrompts(f"{where}, [{name}]: {odd[0]} is not a text.")
    if "{place}" not in texts["cue"] or set("{}") & set(texts["cue"].replace("{place}", "")):
        raise BadPrompts(f"{where}, [{name}]: the cue must hold {{place}} and no other braces.")
    if not all(isinstance(x, str) and x.strip() for x in letters) or len(set(letters)) < len(letters):
        raise BadPrompts(f"{where}, [{name}]: letters must be different texts, none empty.")
    return Words(**texts, places=places, letters=tuple(letters))
