"""Forward passes: log-probabilities of tails after prefixes, left on the device until they are wanted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from transformers.cache_utils import DynamicCache, DynamicLayer, DynamicSlidingWindowLayer

from maskedadv.scoring.models.batch import Budget
from maskedadv.scoring.models.encode import Encoded
from maskedadv.scoring.models.model import Loaded

_CACHE = ("past_key_values", "cache")  # its name among a model's outputs, older and newer


@dataclass(frozen=True)
class OnTheWay:
    """Numbers that a device may still be computing, [rows, columns]."""

    values: Tensor
    event: Any = None

    def arrived(self) -> NDArray[np.float64]:
        """Wait for them."""
        if self.event is not None:
            self.event.synchronize()
        return self.values.numpy()


def send(values: Tensor) -> OnTheWay:
    """Let a device copy numbers to this machine's memory when it has them, without waiting for it."""
    if values.device.type != "cuda":
        return OnTheWay(values.cpu())
    here = torch.empty(values.shape, dtype=values.dtype, pin_memory=True)
    here.copy_(values, non_blocking=True)
    event = torch.cuda.Event()
    event.record(torch.cuda.current_stream(values.device))
    return OnTheWay(here, event)


def one_token(
    loaded: Loaded, batch: Sequence[Encoded], tails: Sequence[Sequence[tuple[int, ...]]], budget: Budget
) -> OnTheWay:
    """Log-probabilities of tails of one token each."""
    return send(_next_tokens(loaded, batch, tails, budget, cache=False)[0])


def _next_tokens(
    loaded: Loaded,
    batch: Sequence[Encoded],
    tails: Sequence[Sequence[tuple[int, ...]]],
    budget: Budget,
    *,
    cache: bool,
) -> tuple[Tensor, dict[str, Any]]:
    """Log-probability of each tail's first token, [batch, tails], and the cache by name, if asked for."""
    ids, ends = _pad([e.prefix for e in batch], budget)
    first, _ = _pad([[tail[0] for tail in t] for t in tails])
    loaded.head.positions = _there((ends - 1)[:, None], loaded.device)
    out = loaded.model(input_ids=_there(ids, loaded.device), use_cache=cache)
    logits = out.logits[:, 0]
    chosen = logits.gather(-1, _there(first, logits.device)) - logits.logsumexp(-1, keepdim=True)
    return chosen, {name: out[name] for name in _CACHE if cache and name in list(out)}


def long_tails(
    loaded: Loaded, batch: Sequence[Encoded], tails: Sequence[Sequence[tuple[int, ...]]], budget: Budget
) -> OnTheWay:
    """Log-probability of whole tails. All prefixes have one length, so that nothing is padded before them."""
    first, cache = _next_tokens(loaded, batch, tails, budget, cache=True)
    if not cache or not all(map(_repeatable, cache.values())):
        return _whole_sequences(loaded, batch, tails, budget)
    width = first.shape[1]
    for state in cache.values():
        state.batch_repeat_interleave(width)
    flat = [tail for t in tails for tail in [*t, *[t[0]] * (width - len(t))]]
    inputs, _ = _pad([tail[:-1] or tail for tail in flat])
    rest = _tail_logprobs(loaded, inputs, [tail[1:] for tail in flat], [0] * len(flat), cache)
    return send((first.flatten() + rest).reshape(len(batch), width))


def _whole_sequences(
    loaded: Loaded, batch: Sequence[Encoded], tails: Sequence[Sequence[tuple[int, ...]]], budget: Budget
) -> OnTheWay:
    """The same without a cache, for models whose state cannot be handed to several options."""
    flat = [(e.prefix, tail) for e, t in zip(batch, tails, strict=True) for tail in t]
    longest = max(len(prefix) + len(tail) for prefix, tail in flat)
    step = max(1, budget.tokens // longest)
    parts = []
    for begin in range(0, len(flat), step):
        some = flat[begin : begin + step]
        inputs, _ = _pad([(*prefix, *tail[:-1]) for prefix, tail in some], budget)
        starts = [len(prefix) - 1 for prefix, _ in some]
        parts.append(_tail_logprobs(loaded, inputs, [tail for _, tail in some], starts, {}).cpu())
    values = iter(torch.cat(parts))
    rows = torch.zeros((len(tails), max(map(len, tails))), dtype=torch.float32)
    for row, t in zip(rows, tails, strict=True):
        for k in range(len(t)):
            row[k] = next(values)
    return OnTheWay(rows)


def _tail_logprobs(
    loaded: Loaded,
    inputs: Tensor,
    targets: Sequence[Sequence[int]],
    starts: Sequence[int],
    cache: dict[str, Any],
) -> Tensor:
    """Sum of the log-probabilities of `targets`, the first of which is predicted at position `start`."""
    wanted, counts = _pad(targets)
    steps = torch.arange(wanted.shape[1])[None, :]
    positions = torch.tensor(starts)[:, None] + steps.clamp(max=(counts - 1).clamp(min=0)[:, None])
    loaded.head.positions = _there(positions, loaded.device)
    logits = loaded.model(input_ids=_there(inputs, loaded.device), use_cache=bool(cache), **cache).logits
    chosen = logits.gather(-1, _there(wanted[..., None], logits.device))[..., 0] - logits.logsumexp(-1)
    real = _there(steps < counts[:, None], logits.device)
    return torch.where(real, chosen, 0.0).sum(-1)


def _repeatable(cache: Any) -> bool:
    """Whether the cache holds keys and values only, which can be repeated for every option.

    Models derive caches with a state beside the layers (MiniMax's linear attention): those are others.
    """
    layers: list[Any] = getattr(cache, "layers", [])
    return (
        type(cache) is DynamicCache
        and bool(layers)
        and {type(x) for x in layers} <= {DynamicLayer, DynamicSlidingWindowLayer}
    )


def _pad(rows: Sequence[Sequence[int]], budget: Budget | None = None) -> tuple[Tensor, Tensor]:
    """Rows filled up with zeros at their right, and their lengths. What stands at the right is never seen."""
    lengths = np.array([len(row) for row in rows])
    out = np.zeros((len(rows), max(1, int(lengths.max()))), dtype=np.int64)
    for k, row in enumerate(rows):
        out[k, : len(row)] = row
    if budget is not None:
        budget.computed += out.size
        budget.padding += out.size - int(lengths.sum())
    return torch.from_numpy(out), torch.from_numpy(lengths)


def _there(values: Tensor, device: torch.device) -> Tensor:
    """Numbers on a device; a GPU fetches them from pinned memory while it computes."""
    if device.type == "cuda":
        return values.pin_memory().to(device, non_blocking=True)
    return values.to(device)
