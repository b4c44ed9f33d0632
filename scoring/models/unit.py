"""One Hugging Face model asked all its pieces."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
import transformers

from maskedadv.scoring.launch.plan import Piece
from maskedadv.scoring.launch.progress import Progress
from maskedadv.scoring.launch.store import Answer
from maskedadv.scoring.models.encode import Encoded, encode
from maskedadv.scoring.models.model import (
    choose_device,
    choose_dtype,
    count_parameters,
    load_codec,
    load_config,
    load_model,
)
from maskedadv.scoring.models.options import score
from maskedadv.scoring.models.settings import HfSettings

_CONTENT = {".safetensors", ".bin", ".pt", ".pth", ".json", ".model", ".txt", ".tiktoken", ".py", ".jinja"}


def identify(settings: HfSettings) -> dict[str, Any]:
    """The model's part of the fingerprint.

    A model from the hub is known by its commit, one in a folder by the content of its files.

    Raises
    ------
    UnusableModel, BadSetting
    """
    _quiet()
    config = load_config(settings)
    folder = Path(settings.path)
    cpu = torch.device("cpu")
    device = choose_device(settings.device) if settings.dtype == "auto" else cpu
    return {
        "backend": "transformers",
        "transformers": transformers.__version__,
        "torch": torch.__version__,
        "path": None if folder.is_dir() else settings.path,
        "revision": _content(folder)
        if folder.is_dir()
        else getattr(config, "_commit_hash", None) or settings.revision,
        "tokenizer": load_codec(settings, config.model_type).fingerprint,
        "dtype": str(choose_dtype(settings.dtype, device)).removeprefix("torch."),
        "attention": settings.attention,
        "trust_remote_code": settings.trust_remote_code,
    }


def start(
    name: str, settings: HfSettings, pieces: Sequence[Piece], report: Callable[[str], None]
) -> tuple[Callable[[Piece], list[Encoded]], Callable[[Piece, list[Encoded]], list[Answer]]]:
    """Load the model, called `name` to the user; give the functions that encode a piece and that score it."""
    _quiet()
    loaded = load_model(settings)
    progress = Progress(name, "tokens", sum(len(p.items) for p in pieces), report)

    def prepare(piece: Piece) -> list[Encoded]:
        return encode(piece.rendered, loaded.codec)

    def ask(piece: Piece, encoded: list[Encoded]) -> list[Answer]:
        scores = score(loaded, encoded, settings.max_tokens, progress.of(piece.language).add)
        return [
            Answer(s.logprobs, None, s.reason, e.n_tail_tokens() or None)
            for s, e in zip(scores, encoded, strict=True)
        ]

    return prepare, ask


def _quiet() -> None:
    """What the library tells about itself would bury the progress line."""
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()


def _content(folder: Path) -> str:
    """Hash of the files that make a model."""
    digest = hashlib.blake2b(digest_size=20)
    for path in sorted(p for p in folder.iterdir() if p.suffix in _CONTENT and p.is_file()):
        with path.open("rb") as file:
            digest.update(path.name.encode() + hashlib.file_digest(file, "blake2b").digest())
    return f"content {digest.hexdigest()}"


def parameters(settings: HfSettings) -> int:
    """Number of parameters, by the configuration; 0 where it cannot be told."""
    try:
        return count_parameters(load_config(settings), trust_remote_code=settings.trust_remote_code)
    except Exception:  # only decides which model is first in line
        return 0


def size_of(settings: HfSettings, pieces: Sequence[Piece]) -> tuple[int, int, float]:
    """Parameters, tokens of the prompts, and the matrix rate of the device in FLOP a second (measured)."""
    config = load_config(settings)
    codec = load_codec(settings, config.model_type)
    prompts = [r.prompt for piece in pieces for r in piece.rendered]
    tokens = sum(len(ids) + len(codec.start) for ids in codec.encode(prompts)) if prompts else 0
    device = choose_device(settings.device)
    size = count_parameters(config, trust_remote_code=settings.trust_remote_code)
    return size, tokens, _matrix_rate(device, choose_dtype(settings.dtype, device))


def _matrix_rate(device: torch.device, dtype: torch.dtype) -> float:
    size = 8192 if device.type == "cuda" else 1024
    a, b = (torch.randn((size, size), dtype=dtype, device=device) for _ in range(2))
    (a @ b).sum().item()
    best = float("inf")
    for _ in range(3):
        begun = time.perf_counter()
        (a @ b).sum().item()
        best = min(best, time.perf_counter() - begun)
    return 2 * size**3 / best
