"""Stan CSV files of chains that were stopped before their end, told by their own settings and rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from maskedadv.errors import NotAResult
from maskedadv.files.sources import reason_of

_SETTING = re.compile(rb"#\s*(num_samples|num_warmup|thin|save_warmup)\s*=\s*(\w+)")


class _Chain(NamedTuple):
    """Whole rows of draws in a file, and how many there should be (0 where the file does not say)."""

    draws: int
    expected: int


def refuse_unfinished(files: Sequence[Path]) -> None:
    """Refuse chains that hold fewer draws than they were asked for, or than the other chains.

    Raises
    ------
    NotAResult
        Names every such file and its number of draws.
    """
    chains = [_look(file) for file in files]
    most = max((chain.draws for chain in chains), default=0)
    short = [
        f"{file} holds {chain.draws} of {chain.expected or most} draws"
        for file, chain in zip(files, chains, strict=True)
        if 0 < (chain.expected or most) > chain.draws
    ]
    if short:
        what = "a chain is" if len(short) == 1 else f"{len(short)} chains are"
        raise NotAResult(f"{what} unfinished: {'; '.join(short)}; let it run to its end, or leave it out.")


def _look(file: Path) -> _Chain:
    settings: dict[bytes, bytes] = {}
    columns, draws = 0, 0
    try:
        with file.open("rb") as lines:
            for line in lines:
                if line.startswith(b"#"):
                    if (match := _SETTING.match(line)) and match[1] not in settings:
                        settings[match[1]] = match[2]
                elif not columns:
                    columns = line.count(b",")
                elif line.count(b",") == columns and line.endswith(b"\n"):
                    draws += 1
    except OSError as error:
        raise NotAResult(f"{file} cannot be read ({reason_of(error)}).") from error
    return _Chain(draws, _expected(settings))


def _expected(settings: dict[bytes, bytes]) -> int:
    try:
        asked, thin = int(settings.get(b"num_samples", b"0")), int(settings.get(b"thin", b"1"))
        if settings.get(b"save_warmup", b"0") in {b"1", b"true"}:
            asked += int(settings.get(b"num_warmup", b"0"))
    except ValueError:
        return 0
    return -(-asked // max(thin, 1))
