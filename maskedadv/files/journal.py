"""What long work has finished, line by line, so that the same command completes it after an interrupt."""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import FileIO
from pathlib import Path
from typing import Any

from maskedadv import __version__
from maskedadv.errors import OutputExists
from maskedadv.files.atomic import write_whole
from maskedadv.files.disk import cannot_write, writing
from maskedadv.words.numbers import plural
from maskedadv.words.terminal import to_json

log = logging.getLogger("maskedadv")


@dataclass
class Journal:
    """Values by key, in memory and, where there is a file, there.

    Attributes
    ----------
    values : finished so far
    file : where lines go, at once; None keeps nothing
    path : of that file
    """

    values: dict[str, Any] = field(default_factory=dict)
    file: FileIO | None = None
    path: Path = Path()

    @staticmethod
    @contextmanager
    def open(path: Path | None, about: Mapping[str, Any]) -> Iterator[Journal]:
        """The journal of a piece of work; removed when the work is done, kept, and told, when it is not.

        Parameters
        ----------
        path : file; None keeps nothing
        about : what decides the values, as JSON; a journal of other work is dropped

        Raises
        ------
        OutputExists
            The place cannot be written, or holds something that is no journal.
        """
        if path is None:
            yield Journal()
            return
        text = json.dumps({"maskedadv": __version__, **about}, sort_keys=True, ensure_ascii=False)
        head = f"maskedadv journal {hashlib.sha256(text.encode()).hexdigest()}"
        values = _read(path, head)
        lines = [head, *(_line(key, value) for key, value in values.items())]
        try:
            write_whole(path, lambda partial: partial.write_text("\n".join(lines) + "\n", "utf-8"))
            file = FileIO(path, "a")
        except OSError as error:
            raise cannot_write(path, error) from error
        try:
            with file:
                yield Journal(values, file, path)
        except BaseException:
            if values:
                said = f"{plural(len(values), 'finished part')} {'is' if len(values) == 1 else 'are'} kept"
                log.info("%s in %s; the same command completes it.", said, path)
            else:  # nothing to complete
                path.unlink(missing_ok=True)
            raise
        path.unlink(missing_ok=True)

    def get(self, key: str) -> Any:
        """The value of a key, None if it is not finished."""
        return self.values.get(key)

    def add(self, key: str, value: Any) -> None:
        """Keep a value, on disk at once.

        Raises
        ------
        OutputExists
            The disk is full.
        """
        if self.file is not None:
            line = f"{_line(key, value)}\n".encode()
            with writing(self.path):
                while line:  # a disk that is nearly full takes a part, and refuses the rest
                    line = line[self.file.write(line) :]
                os.fsync(self.file.fileno())
        self.values[key] = value


def _line(key: str, value: Any) -> str:
    return json.dumps([key, json.loads(to_json(value))], ensure_ascii=False)


def _read(path: Path, head: str) -> dict[str, Any]:
    """Values of a journal with this head; a last line that was cut off is left out."""
    if not path.exists():
        return {}
    try:
        lines = path.read_text("utf-8").split("\n")
    except (OSError, ValueError):
        lines = [""]
    if not lines[0].startswith("maskedadv journal "):
        raise OutputExists(
            f"{path} is where unfinished work is kept, but is no journal of ours; move it, or choose another "
            "output."
        )
    if lines[0] != head:
        return {}
    values = {}
    for line in lines[1:-1]:
        try:
            key, value = json.loads(line)
        except ValueError:
            break
        values[str(key)] = value
    return values
