"""One Hugging Face model asked all its pieces."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import torch
import transformers

from maskedadv.scoring.launch.plan import Piece
from maskedadv.scoring.launch.progress import Progress
from maskedadv.scoring.launch.store import Answer
from maskedadv.scoring.models.devices import choose_device, choose_dtype
from maskedadv.scoring.models.encode import Encoded, encode
from maskedadv.scoring.models.identity import identify as known_by
from maskedadv.scoring.models.identity import pin
from maskedadv.scoring.models.loading import load_codec, load_config, load_model
from maskedadv.scoring.models.options import score
from maskedadv.scoring.models.settings import HfSettings


def identify(settings: HfSettings) -> dict[str, Any]:
    """The model's part of the fingerprint.

    Raises
    ------
    UnusableModel, BadSetting
    """
    _quiet()
    return known_by(settings)


def start(
    name: str, settings: HfSettings, pieces: Sequence[Piece], report: Callable[[str], None]
) -> tuple[Callable[[Piece], list[Encoded]], Callable[[Piece, list[Encoded]], list[Answer]]]:
    """Load the model, called `name` to the user; give the functions that encode a piece and that score it."""
    _quiet()
    loaded = load_model(pin(settings))
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


def count_parameters(config: Any, *, trust_remote_code: bool = False) -> int:
    """Parameters of a model, from its configuration alone."""
    with torch.device("meta"):
        model = transformers.AutoModelForCausalLM.from_config(config, trust_remote_code=trust_remote_code)
    return sum(p.numel() for p in model.parameters())


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
