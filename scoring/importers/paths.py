"""What a file's path says: its parts, its folder, a pattern's groups, folders such as `language=eu`.

Programs write names of models and languages into folders, often percent-encoded (`org%2Fmodel`); values that
are taken from a path are decoded.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import unquote

from maskedadv.errors import BadMapping


def parts_of(file: Path, given: Path) -> tuple[str, ...]:
    """The parts of a path that count: from the folder that was given on, or all of a file's as given.

    For the folder `out` (or `/some/where/out`), the file `out/en/log.jsonl` has the parts out, en, log.jsonl.
    """
    if file == given:
        return tuple(part for part in given.parts if part not in {given.anchor, "..", "."})
    name = given.name or given.resolve().name
    return (name, *file.relative_to(given).parts)


def path_fields(parts: Sequence[str]) -> dict[str, str]:
    """Fields for templates: `path.0`, `path.-1` ..., `file`, `stem`, `folder`, and `name` of `name=value`."""
    parts = [unquote(part) for part in parts]
    fields = {f"path.{n}": part for n, part in enumerate(parts)}
    fields |= {f"path.{n - len(parts)}": part for n, part in enumerate(parts)}
    for part in parts[:-1]:
        name, equals, value = part.partition("=")
        if equals and name.isidentifier():
            fields[name] = value
    name = parts[-1] if parts else ""
    return fields | {
        "file": name,
        "stem": re.sub(r"(\.[A-Za-z0-9]{1,8}){1,2}$", "", name) if "." in name else name,
        "folder": parts[-2] if len(parts) > 1 else "",
    }


def match_path(
    pattern: re.Pattern[str], parts: Sequence[str], *, in_folder: bool, where: str
) -> dict[str, str]:
    """The named groups of a pattern for a path, decoded.

    The pattern is for the whole path below the folder that was given; for a file given by itself, for as few
    of its last parts as fit.

    Raises
    ------
    BadMapping
        It does not fit.
    """
    tails = ["/".join(parts[n:]) for n in range(len(parts) - 1, -1, -1)]
    candidates = ["/".join(parts[1:]), *tails] if in_folder else tails
    for candidate in candidates:
        if match := pattern.fullmatch(candidate):
            return {name: unquote(value or "") for name, value in match.groupdict().items()}
    raise BadMapping(f"{where}: the path pattern {pattern.pattern!r} does not fit it.")


def compile_pattern(text: str, where: str) -> re.Pattern[str]:
    """A regular expression.

    Raises
    ------
    BadMapping
    """
    try:
        return re.compile(text)
    except re.error as error:
        raise BadMapping(f"{where}: pattern is not a regular expression ({error}).") from error


def missing_part(field: str, names: Mapping[str, str], where: str) -> BadMapping:
    """What to say of `{path.7}` where the path has fewer parts."""
    numbered = sorted(
        (int(n), value) for k, value in names.items() if (n := k.removeprefix("path.")).isdigit()
    )
    shown = ", ".join(f"path.{n} {value}" for n, value in numbered)
    return BadMapping(f"{where}: the path has no part {{{field}}} (there are: {shown}).")
