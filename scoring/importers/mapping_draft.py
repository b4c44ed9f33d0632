"""The text of a mapping as it comes together: lines by section, and what nothing said."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from maskedadv.words.terminal import clean


@dataclass
class Draft:
    """Lines of the mapping by section, and what nothing said."""

    sections: dict[str, list[str]] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)

    def put(self, section: str, key: str, value: Any, why: str = "") -> None:
        shown = _quoted(value) if not isinstance(value, bool) else str(value).lower()
        name = key if key.replace("_", "").isalnum() and key.isascii() else _quoted(key)
        line = f"{name} = {shown}"
        self.sections.setdefault(section, []).append(f"{line:<32} # {clean(why)}" if why else line)

    def ask(self, section: str, line: str) -> None:
        self.sections.setdefault(section, []).append(f"# {clean(line)}")

    def text(self, head: Sequence[str]) -> str:
        order = ("records", "path", "columns", "fixed", "wide", "patterns", "answers", "values")
        names = sorted(self.sections, key=lambda n: order.index(n) if n in order else len(order))
        blocks = ["\n".join([f"[{name}]", *self.sections[name]]) for name in names]
        return "\n".join(f"# {clean(line)}" for line in head) + "\n\n" + "\n\n".join(blocks) + "\n"


def _quoted(value: Any) -> str:
    """A value as TOML has it: as JSON, but for the one control character that JSON leaves as it is."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
