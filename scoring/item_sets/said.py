"""Every raw answer, kept as it comes and found again by all that was asked: none is paid for twice."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from maskedadv.scoring.endpoints.messages import Messages, Said
from maskedadv.scoring.endpoints.settings import ApiSettings
from maskedadv.scoring.launch.lines import Lines, read_lines
from maskedadv.scoring.launch.store import may_pass


def request_key(settings: ApiSettings, messages: Messages, schema: Mapping[str, Any]) -> str:
    """Name of a request: of the model and every word that it is sent."""
    content = json.dumps([settings.identity(), messages, schema], sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()[:32]


class SaidLog:
    """The answers of earlier runs, and a file that takes those of this one.

    Parameters
    ----------
    path
        A file that only grows (see `maskedadv.scoring.launch.lines`). Its records have key, model, item,
        language, text, reason and asked_with.
    """

    def __init__(self, path: Path) -> None:
        self._lines = Lines(path)
        self._lock = threading.Lock()
        self._known: dict[str, Said] = {}
        for line in read_lines(path):
            record = json.loads(line)
            if isinstance(record, dict) and "key" in record:
                said = Said(*(str(record.get(name, "")) for name in Said._fields))
                self._known.setdefault(record["key"], said)

    def find(self, key: str) -> Said | None:
        """The answer to a request; None where there is none yet."""
        return self._known.get(key)

    def keep(self, key: str, said: Said, **about: str) -> None:
        """Keep an answer; failures that may pass are not, so that a later run asks again.

        Raises
        ------
        OSError
            The disk is full.
        """
        if may_pass(said.reason):
            return
        self._lines.add(json.dumps({"key": key, **about, **said._asdict()}).encode())
        with self._lock:
            self._known.setdefault(key, said)

    def close(self) -> None:
        """End it; answers that come later are not kept."""
        self._lines.close()
