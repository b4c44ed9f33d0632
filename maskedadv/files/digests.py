"""Whether the bytes of a file are those that were written: SHA-256, looked at before anything reads them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from concurrent.futures import Executor
from functools import lru_cache
from pathlib import Path
from typing import Any

from maskedadv.errors import NotAResult
from maskedadv.files.damage import json_object_or_none


def digest_of(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digests_below(folder: Path, pool: Executor | None = None) -> dict[str, str]:
    """Digest of every file below a folder, by its path from there with slashes; threads take a file each."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    names = (path.relative_to(folder).as_posix() for path in files)
    return dict(zip(names, (pool.map if pool else map)(digest_of, files), strict=True))


def read_checked(path: Path, digest: str | None, mend: str = "fit again") -> bytes:
    """The bytes of a file, if they are those with this digest (None: not known, whatever they are).

    Raises
    ------
    NotAResult
        They are others.
    OSError
    """
    content = path.read_bytes()
    if digest is not None and hashlib.sha256(content).hexdigest() != digest:
        raise NotAResult(_changed(path, mend))
    return content


def check_file(path: Path, digest: str | None) -> None:
    """Look at a large file once, as long as it keeps its time and size.

    Raises
    ------
    NotAResult
    OSError
    """
    if digest is None:
        return
    state = path.stat()
    if _digest_then(path, state.st_mtime_ns, state.st_size) != digest:
        raise NotAResult(_changed(path))


@lru_cache(4096)
def _digest_then(path: Path, time: int, size: int) -> str:  # noqa: ARG001
    return digest_of(path)


def _changed(path: Path, mend: str = "fit again") -> str:
    return f"{path} is damaged: these are not the bytes that were written (another SHA-256); {mend}."


def stated_digest(manifest: Path, name: str) -> str | None:
    """The digest that a JSON file of ours states of a file in its folder; None where it states none."""
    files = (json_object_or_none(manifest) or {}).get("files")
    return str(files[name]) if isinstance(files, dict) and name in files else None


def fingerprint_of(values: Any) -> str:
    """SHA-256 of values as JSON, keys in order; what JSON does not know, as text."""
    return hashlib.sha256(json.dumps(values, sort_keys=True, default=str).encode()).hexdigest()


def seal(content: Mapping[str, Any]) -> dict[str, Any]:
    """Values for a JSON file with their own digest as `sha256`, the last of them."""
    return {**content, "sha256": _digest_of_values(content)}


def is_sealed(content: Mapping[str, Any]) -> bool:
    """Whether values read from a JSON file are those that `seal` gave."""
    rest = {name: value for name, value in content.items() if name != "sha256"}
    return content.get("sha256") == _digest_of_values(rest)


def _digest_of_values(content: Mapping[str, Any]) -> str:
    # By way of text and back: what is compared is what a reader gets (tuples are lists, keys text).
    text = json.dumps(json.loads(json.dumps(content)), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
