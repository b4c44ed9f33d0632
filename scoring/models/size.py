"""How large a model is and how fast its device, for estimates before it is loaded."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
import transformers

from maskedadv.errors import UnusableModel
from maskedadv.scoring.launch.plan import Piece
from maskedadv.scoring.models.devices import choose_device, choose_dtype
from maskedadv.scoring.models.loading import first_line, load_codec, load_config
from maskedadv.scoring.models.settings import HfSettings

# What configurations call the number of experts, and how many of them a token passes.
_EXPERTS = ("num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts", "num_routed_experts")
_CHOSEN = ("num_experts_per_tok", "num_experts_per_token", "moe_topk", "moe_top_k", "moe_k", "top_k_experts")


@dataclass(frozen=True)
class Size:
    """What an estimate of time rests on.

    Attributes
    ----------
    parameters, active
        All of the model's, and those that a token is multiplied with: without the embedding, the head
        (read at one position of a question) and the experts that it is not given to.
    tokens
        Of the prompts.
    rate
        Matrix rate of the device in FLOP a second, measured.
    """

    parameters: int
    active: int
    tokens: int
    rate: float


def count_parameters(config: Any, *, trust_remote_code: bool = False) -> tuple[int, int]:
    """Parameters of a model, all and active ones, from its configuration alone.

    Raises
    ------
    UnusableModel
        It is no causal language model.
    """
    try:
        with torch.device("meta"):
            model: Any = transformers.AutoModelForCausalLM.from_config(
                config, trust_remote_code=trust_remote_code
            )
    except ValueError as error:  # whose further lines list all models that are
        raise UnusableModel(f"it is no causal language model ({first_line(error)}).") from error
    sizes = {name: p.numel() for name, p in model.named_parameters()}
    ends = {id(m.weight): m.weight.numel() for m in _ends(model)}
    experts = sum(n for name, n in sizes.items() if ".experts." in name)
    text = config.get_text_config()
    number, chosen = (_first(text, names) for names in (_EXPERTS, _CHOSEN))
    idle = experts * (1 - min(chosen / number, 1)) if experts and number and chosen else 0
    total = sum(sizes.values())
    return total, round(total - sum(ends.values()) - idle)


def parameters(settings: HfSettings) -> int:
    """Active parameters, by the configuration; 0 where they cannot be told."""
    try:
        return count_parameters(load_config(settings), trust_remote_code=settings.trust_remote_code)[1]
    except Exception:  # only decides which model is first in line
        return 0


def size_of(settings: HfSettings, pieces: Sequence[Piece]) -> Size:
    """Parameters, tokens of the prompts, and the measured rate of the device."""
    config = load_config(settings)
    codec = load_codec(settings, config.model_type)
    prompts = [r.prompt for piece in pieces for r in piece.rendered]
    tokens = sum(len(ids) + len(codec.start) for ids in codec.encode(prompts)) if prompts else 0
    device = choose_device(settings.device)
    total, active = count_parameters(config, trust_remote_code=settings.trust_remote_code)
    return Size(total, active, tokens, matrix_rate(device, choose_dtype(settings.dtype, device)))


def matrix_rate(device: torch.device, dtype: torch.dtype) -> float:
    """FLOP a second of a large matrix product, the best of three."""
    size = 8192 if device.type == "cuda" else 1024
    a, b = (torch.randn((size, size), dtype=dtype, device=device) for _ in range(2))
    (a @ b).sum().item()
    best = float("inf")
    for _ in range(3):
        begun = time.perf_counter()
        (a @ b).sum().item()
        best = min(best, time.perf_counter() - begun)
    return 2 * size**3 / best


def _ends(model: Any) -> list[Any]:
    found = [model.get_input_embeddings(), model.get_output_embeddings()]
    return [m for m in found if getattr(m, "weight", None) is not None]


def _first(config: Any, names: Sequence[str]) -> float:
    found = (getattr(config, name, None) for name in names)
    return next((float(x) for x in found if isinstance(x, int) and x > 0), 0.0)
