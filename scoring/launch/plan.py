"""What there is to do, as units of one model and its item sets, and what is done already."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from maskedadv import __version__
from maskedadv.scoring.endpoints.settings import ApiSettings
from maskedadv.scoring.items.items import Item, askable, hash_items
from maskedadv.scoring.items.sources import refuse_repeats
from maskedadv.scoring.launch.store import answer_path, read_answers
from maskedadv.scoring.models.settings import HfSettings
from maskedadv.scoring.prompts.prompts import LetterForms, Prompts, Rendered, hash_of, render


@dataclass(frozen=True)
class Piece:
    """The items of one set in one language, rendered: what one answer file holds."""

    name: str
    language: str
    items: tuple[Item, ...]
    rendered: tuple[Rendered, ...]
    prompt_version: str
    letter_forms: str

    @cached_property
    def identity(self) -> dict[str, str]:
        """The piece's part of the fingerprint."""
        return {
            "set": self.name,
            "language": self.language,
            "items": hash_items(self.items),
            "prompt_version": self.prompt_version,
            "prompts": hash_of(self.rendered),
            "letter_forms": self.letter_forms,
        }


@dataclass(frozen=True)
class Unit:
    """One model and all it is asked.

    `model` is its name in the response table; `settings` say how it is reached.
    """

    model: str
    settings: HfSettings | ApiSettings
    pieces: tuple[Piece, ...]


def make_pieces(
    sets: Mapping[str, Sequence[Item]], prompts: Prompts, letter_forms: LetterForms = "context"
) -> tuple[Piece, ...]:
    """One piece per set and language, in order of their names.

    Raises
    ------
    NoPrompt
    BadItem
        Items that cannot be asked; `maskedadv.scoring.items.items.askable` leaves them out.
    DuplicateRows, ItemInBothSubsets
    """
    check_sets(sets)
    for items in sets.values():
        askable(items)
    pieces = []
    for name, items in sorted(sets.items()):
        by_language: dict[str, list[Item]] = defaultdict(list)
        for item in sorted(items, key=lambda x: x.item):
            by_language[item.language].append(item)
        for language, some in sorted(by_language.items()):
            rendered = tuple(render(item, prompts, letter_forms) for item in some)
            pieces.append(Piece(name, language, tuple(some), rendered, prompts.version, letter_forms))
    return tuple(pieces)


def fingerprint(unit: Unit, piece: Piece, identity: Mapping[str, Any]) -> dict[str, Any]:
    """All that decides the answers of one file; `identity` is the model's part."""
    return {"model": unit.model, "maskedadv": __version__, **piece.identity, **identity}


def check_sets(sets: Mapping[str, Sequence[Item]]) -> None:
    """Refuse item sets that would give one answer twice, or one item under CA and under CS.

    Raises
    ------
    DuplicateRows, ItemInBothSubsets
    """
    everything = [item for items in sets.values() for item in items]
    refuse_repeats(everything)


def collect(out: Path, units: Sequence[Unit], identities: Mapping[str, Mapping[str, Any]]) -> pa.Table | None:
    """The answers of all units that are there, as one response table; None where there are none."""
    tables = [
        table
        for unit in units
        if unit.model in identities
        for table in stored(out, unit, identities[unit.model]).values()
    ]
    if not tables:
        return None
    return pa.concat_tables([t.replace_schema_metadata(None) for t in tables], promote_options="default")


def stored(out: Path, unit: Unit, identity: Mapping[str, Any]) -> dict[int, pa.Table]:
    """The answers that are there already, by position of the piece."""
    found = {}
    for k, piece in enumerate(unit.pieces):
        key = fingerprint(unit, piece, identity)
        table = read_answers(answer_path(out, key), key, len(piece.items))
        if table is not None:
            found[k] = table
    return found
