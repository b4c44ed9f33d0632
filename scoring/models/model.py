"""A causal language model of the Hugging Face library, ready to be read at chosen positions.

The model's own forward is used as it is, so that scales and soft caps are its own. Only its output head is
exchanged: for one that looks at the chosen positions alone and multiplies in float32.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import transformers
from torch import Tensor, nn

from maskedadv.errors import BadSetting, UnusableModel
from maskedadv.scoring.models.encode import Codec, codec_of
from maskedadv.scoring.models.settings import HfSettings

_CHUNK = 1 << 24  # weights of the head that are turned to float32 at once
_CONTEXT = ("max_position_embeddings", "n_positions", "max_sequence_length", "max_seq_len", "n_ctx")
_SWITCHING = {"longrope", "dynamic", "yarn-dynamic"}  # position scales that depend on the batch's length


@dataclass(frozen=True)
class Loaded:
    """A model that can be scored with.

    Attributes
    ----------
    model, head
        The model, and the head that was put into it.
    codec
        Its tokenizer.
    context
        Most tokens it can read; None where there is no limit.
    breaks
        Lengths that a batch must not straddle.
    parameters
        Number of its parameters.
    """

    model: Any
    head: Head
    codec: Codec
    context: int | None
    breaks: tuple[int, ...]
    device: torch.device
    parameters: int


class Head(nn.Module):
    """Logits at `positions` only, in float32 whatever the model's precision."""

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        super().__init__()
        self.weight = weight  # some models look at its dtype
        self.bias = bias
        self.positions: Tensor | None = None

    def forward(self, hidden: Tensor) -> Tensor:
        """[batch, length, width] to [batch, positions, vocabulary]; `positions` is [batch, positions]."""
        assert self.positions is not None
        positions = self.positions.to(hidden.device)
        rows = torch.arange(len(positions), device=hidden.device)[:, None]
        chosen = hidden[rows, positions].to(self.weight.device, torch.float32)
        size = len(self.weight)
        # Vocabulary first: with few rows a CPU is twice as fast when the weights need not be turned.
        flat = chosen.flatten(0, 1).t()
        logits = torch.empty((size, flat.shape[1]), dtype=torch.float32, device=chosen.device)
        step = max(1, _CHUNK // self.weight.shape[1])
        for begin in range(0, size, step):
            part = logits[begin : begin + step]
            torch.mm(self.weight[begin : begin + step].float(), flat, out=part)
            if self.bias is not None:
                part += self.bias[begin : begin + step, None].float()
        return logits.t().unflatten(0, chosen.shape[:2])


def load_model(settings: HfSettings) -> Loaded:
    """Load a model and its tokenizer from a folder or from the hub.

    Raises
    ------
    BadSetting
        A device or number type that is not there.
    UnusableModel
        Not to be found or loaded, no causal language model, or one whose head cannot be exchanged.
    """
    name = settings.path
    device = choose_device(settings.device)
    config = load_config(settings)
    if getattr(config, "is_encoder_decoder", False):
        raise UnusableModel(f"{name} is an encoder-decoder; only causal language models can be scored.")
    options: dict[str, Any] = {
        "revision": settings.revision,
        "trust_remote_code": settings.trust_remote_code,
        "dtype": choose_dtype(settings.dtype, device),
    }
    if settings.attention != "auto":
        options["attn_implementation"] = settings.attention
    if settings.device == "split":
        options["device_map"] = "auto"
    try:
        model = transformers.AutoModelForCausalLM.from_pretrained(name, **options)
    except (OSError, ValueError, ImportError, KeyError) as error:
        raise UnusableModel(f"{name} cannot be loaded ({_first_line(error)}).") from error
    if settings.device != "split":
        model = nn.Module.to(model, device)
    return prepare(model, load_codec(settings, config.model_type), name)


def prepare(model: Any, codec: Codec, name: str = "the model") -> Loaded:
    """Put the head into a model that is in memory.

    Raises
    ------
    UnusableModel
    """
    model.eval()
    old = model.get_output_embeddings()
    weight = getattr(old, "weight", None)
    if not isinstance(weight, Tensor) or weight.ndim != 2 or weight.is_meta or not weight.is_floating_point():
        raise UnusableModel(f"{name} has no output head of plain weights that could be read in float32.")
    head = Head(weight, getattr(old, "bias", None))
    parameters = sum(p.numel() for p in model.parameters())
    model.set_output_embeddings(head)
    config = model.config.get_text_config()
    contexts = [int(v) for key in _CONTEXT if isinstance(v := getattr(config, key, None), int) and v > 0]
    loaded = Loaded(
        model,
        head,
        codec,
        contexts[0] if contexts else None,
        _breaks(config),
        model.get_input_embeddings().weight.device,
        parameters,
    )
    head.positions = torch.zeros((1, 1), dtype=torch.long)
    with torch.inference_mode():
        logits = model(input_ids=torch.zeros((1, 3), dtype=torch.long, device=loaded.device)).logits
    if tuple(logits.shape[:2]) != (1, 1) or logits.dtype != torch.float32:
        raise UnusableModel(f"{name} does not compute its logits with its output head alone.")
    return loaded


def load_config(settings: HfSettings) -> Any:
    """The model's configuration.

    Raises
    ------
    UnusableModel
    """
    try:
        return transformers.AutoConfig.from_pretrained(
            settings.path, revision=settings.revision, trust_remote_code=settings.trust_remote_code
        )
    except (OSError, ValueError, KeyError) as error:
        if "trust_remote_code" in str(error):
            raise UnusableModel(
                f"{settings.path} comes with code of its own; --trust-remote-code runs it."
            ) from error
        raise UnusableModel(
            f"{settings.path} cannot be found or is no model ({_first_line(error)})."
        ) from error


def load_codec(settings: HfSettings, model_type: str) -> Codec:
    """The model's tokenizer.

    Raises
    ------
    UnusableModel
    """
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(
            settings.path, revision=settings.revision, trust_remote_code=settings.trust_remote_code
        )
    except (OSError, ValueError, ImportError, KeyError) as error:
        raise UnusableModel(
            f"the tokenizer of {settings.path} cannot be loaded ({_first_line(error)})."
        ) from error
    return codec_of(tokenizer, model_type)


def count_parameters(config: Any, *, trust_remote_code: bool = False) -> int:
    """Parameters of a model, from its configuration alone."""
    with torch.device("meta"):
        model = transformers.AutoModelForCausalLM.from_config(config, trust_remote_code=trust_remote_code)
    return sum(p.numel() for p in model.parameters())


def choose_device(name: str) -> torch.device:
    """The device meant by "auto", "split" (over all GPUs), "cpu", "cuda", "cuda:1", ...

    Raises
    ------
    BadSetting
    """
    if name in {"auto", "split"}:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise BadSetting(f"--device {name!r} is no device; give auto, cpu, cuda, cuda:1 or split.") from error
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise BadSetting(f"--device {name}: there are {torch.cuda.device_count()} GPUs here.")
    return device


def choose_dtype(name: str, device: torch.device) -> torch.dtype:
    """The number type meant by "auto", "float32", "bfloat16" or "float16"."""
    if name == "auto":
        return torch.bfloat16 if device.type == "cuda" else torch.float32
    dtype = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}.get(name)
    if dtype is None:
        raise BadSetting(f"--dtype {name!r} is none of auto, float32, bfloat16, float16.")
    return dtype


def _breaks(config: Any) -> tuple[int, ...]:
    rope = getattr(config, "rope_parameters", None) or getattr(config, "rope_scaling", None) or {}
    if not isinstance(rope, dict) or rope.get("rope_type", rope.get("type")) not in _SWITCHING:
        return ()
    original = rope.get("original_max_position_embeddings") or getattr(
        config, "original_max_position_embeddings", None
    )
    return (int(original or config.max_position_embeddings),)


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0] or type(error).__name__
