"""A causal language model of the Hugging Face library, ready to be read at chosen positions.

The model's own forward is used as it is, so that scales and soft caps are its own. Only its output head is
exchanged: for one that looks at the chosen positions alone and multiplies in float32.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from maskedadv.errors import UnusableModel
from maskedadv.scoring.models.encode import Codec

_CHUNK = 1 << 24  # weights of the head that are turned to float32 at once
_CONTEXT = ("max_position_embeddings", "n_positions", "max_sequence_length", "max_seq_len", "n_ctx")
_TEXTS = (
    "Question: Which river flows through the old town of Prague, and where does it end? Answer: Vltava, in",
    "In the year 1905 two brothers from a small village wrote seven letters to their aunt about bread, salt",
)
_PROBE = 24  # tokens of the rows that show whether a model looks to the right
_ROUNDING = 1e-4  # of the logits' standard deviation, that may come of summing in another order
_ROUNDING_HALF = 3e-2
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
    vocabulary
        Token ids it knows: from 0 to below this.
    """

    model: Any
    head: Head
    codec: Codec
    context: int | None
    breaks: tuple[int, ...]
    device: torch.device
    parameters: int
    vocabulary: int


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
        min(model.get_input_embeddings().weight.shape[0], len(weight)),
    )
    head.positions = torch.zeros((1, 1), dtype=torch.long)
    with torch.inference_mode():
        logits = model(input_ids=torch.zeros((1, 3), dtype=torch.long, device=loaded.device)).logits
    if tuple(logits.shape[:2]) != (1, 1) or logits.dtype != torch.float32:
        raise UnusableModel(f"{name} does not compute its logits with its output head alone.")
    if looks_right(loaded):
        raise UnusableModel(
            f"{name} looks to the right: a token changes the probability of tokens before it. "
            "Only causal language models can be scored."
        )
    return loaded


def looks_right(loaded: Loaded) -> bool:
    """Whether a token changes log-probabilities at its left, as in BERT, XLNet and prefix models.

    Rows that part at different places are compared in one batch with a row of its own, just before the place,
    further left and at the beginning: what looks to the right in a window only is found, too. A causal mask
    gives a token at the right the weight 0, so that the same sums come out; what rounding leaves (experts get
    other batches) is far below what a token does. The last row ends in zeros, as padding does.
    """
    first, second = _probe(loaded)
    length = len(first)
    places = sorted({1, 2, length // 3, length // 2, length - 1} - {0})
    rows = [first, *(np.concatenate([first[:p], second[p:]]) for p in places), np.copy(first)]
    rows[-1][length // 2 :] = 0
    ids = torch.from_numpy(np.stack(rows)).to(loaded.device)
    limits = torch.tensor([length, *places, length // 2])[:, None]
    looked = torch.tensor(sorted({0, *(p - 1 for p in places), *(p // 2 for p in places)}))
    loaded.head.positions = looked.expand(len(ids), -1)
    with torch.inference_mode():
        logprobs = loaded.model(input_ids=ids).logits.log_softmax(-1)
    moved = (logprobs - logprobs[:1]).abs().amax(-1).cpu()
    spread = logprobs[0].std(-1).cpu()
    most = _ROUNDING if loaded.model.dtype == torch.float32 else _ROUNDING_HALF
    return bool((moved[1:] > most * spread)[looked < limits[1:]].any())


def _probe(loaded: Loaded) -> NDArray[np.int64]:
    """Two rows of tokens that differ: text, since other tokens may stand for pictures; else any."""
    length = min(_PROBE, loaded.context or _PROBE)
    text = [row[:length] for row in loaded.codec.encode(_TEXTS)]
    if {len(row) for row in text} == {length} and max(map(max, text)) < loaded.vocabulary:
        return np.array(text, dtype=np.int64)
    rng = np.random.default_rng(0)
    return rng.integers(loaded.vocabulary // 4, loaded.vocabulary, (2, length))


def _breaks(config: Any) -> tuple[int, ...]:
    rope = getattr(config, "rope_parameters", None) or getattr(config, "rope_scaling", None) or {}
    if not isinstance(rope, dict) or rope.get("rope_type", rope.get("type")) not in _SWITCHING:
        return ()
    original = rope.get("original_max_position_embeddings") or getattr(
        config, "original_max_position_embeddings", None
    )
    return (int(original or config.max_position_embeddings),)
