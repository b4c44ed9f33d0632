"""What a model is known by: the commit of one from the hub, the content of one in a folder."""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import huggingface_hub
import platformdirs
import torch
import transformers
from huggingface_hub import constants

from maskedadv.errors import OutputExists, UnusableModel
from maskedadv.files.atomic import write_whole
from maskedadv.scoring.models.devices import choose_device, choose_dtype
from maskedadv.scoring.models.loading import first_line, load_codec, load_config
from maskedadv.scoring.models.settings import HfSettings

_WEIGHTS = {".safetensors", ".bin", ".pt", ".pth", ".h5", ".msgpack", ".onnx", ".gguf", ".ckpt"}
_COMMIT = re.compile(r"[0-9a-f]{40}")
_TIMEOUT = 20.0  # seconds that the hub may take to name a commit
_CHUNK = 1 << 26  # bytes hashed at a time
_LARGE = 1 << 25  # bytes from which on a file's hash is remembered
_SETTLED = 2 * 10**9  # nanoseconds after which a change of a file shows in its times


def identify(settings: HfSettings) -> dict[str, Any]:
    """The model's part of the fingerprint.

    Rounding to float32 leaves answers that agree to 1e-5 whatever the batch; with shorter numbers they agree
    less well, so the budget of a batch is part of it.

    Raises
    ------
    UnusableModel, BadSetting
    """
    pinned = pin(settings)
    config = load_config(pinned)
    folder = Path(settings.path)
    on_gpu = runs_on_gpu(settings.device)
    device = choose_device(settings.device) if settings.dtype == "auto" else torch.device("cpu")
    dtype = str(choose_dtype(settings.dtype, device)).removeprefix("torch.")
    return {
        "backend": "transformers",
        "transformers": transformers.__version__,
        "torch": torch.__version__,
        "path": None if folder.is_dir() else settings.path,
        "revision": hash_folder(folder) if folder.is_dir() else pinned.revision,
        "code": _foreign_code(config) if settings.trust_remote_code else None,
        "tokenizer": load_codec(pinned, config.model_type).fingerprint,
        "dtype": dtype,
        "device": "gpu" if on_gpu else "cpu",
        "max_tokens": None if dtype == "float32" else settings.max_tokens,
        "attention": settings.attention,
        "trust_remote_code": settings.trust_remote_code,
    }


def pin(settings: HfSettings) -> HfSettings:
    """The same settings at the commit that a branch or tag of the hub stands for now.

    Raises
    ------
    UnusableModel
        Neither the hub nor its cache on this machine knows a commit.
    """
    if Path(settings.path).is_dir():
        return settings
    return replace(settings, revision=resolve_commit(settings.path, settings.revision))


def resolve_commit(path: str, revision: str | None) -> str:
    """The commit of a hub model: by the hub, or without a network by the snapshot kept on this machine.

    Raises
    ------
    UnusableModel
    """
    if revision is not None and _COMMIT.fullmatch(revision):
        return revision
    problem = "the hub may not be asked (HF_HUB_OFFLINE)"
    if not constants.HF_HUB_OFFLINE:
        try:
            found = huggingface_hub.HfApi().model_info(path, revision=revision, timeout=_TIMEOUT).sha
            if found:
                return found
        except Exception as error:  # no network, no such model, no right to it
            problem = first_line(error)
    cached = huggingface_hub.try_to_load_from_cache(path, "config.json", revision=revision)
    commit = Path(cached).parent.name if isinstance(cached, str) else ""
    if _COMMIT.fullmatch(commit):
        return commit
    at = f"@{revision}" if revision else ""
    raise UnusableModel(
        f"{path}{at} is no folder, and its commit cannot be found ({problem}), nor is one kept here."
    )


def runs_on_gpu(device: str) -> bool:
    """Whether a device by this name is a GPU."""
    return torch.cuda.is_available() if device in {"auto", "split"} else device != "cpu"


def hash_folder(folder: Path) -> str:
    """Hash of the files that make a model: all but hidden ones; of the folders in it, weights only if named.

    A file is hashed in parts at the same time. Hashes of large files are remembered in the user's cache
    folder, by path, size and times (also that of the last change of any kind, which cannot be set back).
    """
    named = _named_weights(folder)
    found = sorted(p for p in folder.rglob("*") if p.is_file() and _is_part(p.relative_to(folder), named))
    known = _remembered()
    digests = {path: _digest(path, known) for path in found}
    _remember(known)
    whole = hashlib.blake2b(digest_size=20)
    for path, digest in digests.items():
        whole.update(repr((path.relative_to(folder).as_posix(), digest)).encode())
    return f"content {whole.hexdigest()}"


def _is_part(inside: Path, named: set[str]) -> bool:
    if any(part.startswith(".") or part == "__pycache__" for part in inside.parts):
        return False
    return len(inside.parts) == 1 or inside.suffix not in _WEIGHTS or inside.as_posix() in named


def _named_weights(folder: Path) -> set[str]:
    """Weights that an index says are in further folders."""
    named: set[str] = set()
    for index in folder.glob("*.index.json"):
        with suppress(ValueError, AttributeError):
            named.update(map(str, json.loads(index.read_text("utf-8"))["weight_map"].values()))
    return named


def _digest(path: Path, known: dict[str, str]) -> str:
    state = path.stat()
    times = (state.st_mtime_ns, state.st_ctime_ns)
    key = repr((str(path.resolve()), state.st_size, *times, state.st_ino))
    if key in known:
        return known[key]
    starts = range(0, max(state.st_size, 1), _CHUNK)
    with path.open("rb") as file, ThreadPoolExecutor(min(16, os.cpu_count() or 1)) as pool:
        parts = pool.map(
            lambda begin: hashlib.blake2b(os.pread(file.fileno(), _CHUNK, begin)).digest(), starts
        )
        digest = hashlib.blake2b(b"".join(parts), digest_size=20).hexdigest()
    if state.st_size >= _LARGE and time.time_ns() - max(times) > _SETTLED:
        known[key] = digest
    return digest


def _remembered() -> dict[str, str]:
    try:
        found = json.loads(_memory().read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _remember(known: dict[str, str]) -> None:
    """Keep what was found; a machine that has no place for it hashes anew."""
    path = _memory()
    if known and known != _remembered():
        with suppress(OSError, OutputExists):
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, lambda partial: partial.write_text(json.dumps(known), "utf-8"))


def _memory() -> Path:
    return Path(platformdirs.user_cache_dir("maskedadv")) / "hashes.json"


def _foreign_code(config: Any) -> dict[str, str]:
    """Commits of other places on the hub that the model takes its code from."""
    named = (getattr(config, "auto_map", None) or {}).values()
    places = {part.partition("--")[0] for one in named for part in _texts(one) if "--" in part}
    return {place: resolve_commit(place, None) for place in sorted(places)}


def _texts(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else [x for x in value if isinstance(x, str)]
