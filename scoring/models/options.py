"""Log-probabilities of options: one forward pass per question, a second only for tails of several tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from transformers.cache_utils import DynamicCache, DynamicLayer, DynamicSlidingWindowLayer

from maskedadv.scoring.models.batch import run_batches
from maskedadv.scoring.models.encode import Encoded
from maskedadv.scoring.models.model import Loaded

# Why an item has no log-probabilities.
TOO_LONG = "too_long"
NOT_FINITE = "not_finite"
OUT_OF_MEMORY = "out_of_memory"
_CACHE = ("past_key_values", "cache")  # its name among a model's outputs, older and newer


@dataclass(frozen=True)
class Scores:
    """Log-probability of each option, or the reason why there are none."""

    logprobs: NDArray[np.float64]
    reason: str = ""


def score(
    loaded: Loaded,
    encoded: Sequence[Encoded],
    budget: int | None = None,
    progress: Callable[[int, float], None] = lambda _items, _tokens: None,
) -> list[Scores]:
    """Score questions.

    Parameters
    ----------
    budget
        Most tokens of a forward pass, padding included; None chooses by the memory that is free.
    progress
        Told after every batch the numbers of items done and of tokens read.

    Returns
    -------
    In the order of `encoded`. A letter's forms are summed. A question longer than the context, one whose
    log-probabilities are not finite, and one that does not fit into memory have a reason instead.
    """
    most = budget or auto_budget(loaded)
    tails = [[tail for forms in e.tails for tail in forms] for e in encoded]
    found: list[NDArray[np.float64]] = [np.full(len(t), np.nan) for t in tails]
    reasons = [_unfit(e, loaded.context) for e in encoded]
    fit = [k for k, reason in enumerate(reasons) if not reason]
    short = [k for k in fit if encoded[k].n_tail_tokens() == 1]
    long = [k for k in fit if encoded[k].n_tail_tokens() > 1]
    lengths = [len(e.prefix) for e in encoded]

    def give_up(k: int) -> None:
        reasons[k] = OUT_OF_MEMORY

    def one_token(batch: list[int]) -> None:
        logprobs, _ = _next_tokens(
            loaded, [encoded[k] for k in batch], [tails[k] for k in batch], cache=False
        )
        for k, row in zip(batch, logprobs.cpu().numpy(), strict=True):
            found[k] = row[: len(tails[k])]
        progress(len(batch), sum(lengths[k] for k in batch))

    def many_tokens(batch: list[int]) -> None:
        rows = _long_tails(loaded, [encoded[k] for k in batch], [tails[k] for k in batch], most)
        for k, row in zip(batch, rows, strict=True):
            found[k] = row
        progress(len(batch), sum(lengths[k] for k in batch))

    progress(len(encoded) - len(fit), 0)
    common: dict[str, Any] = {"is_out_of_memory": is_out_of_memory, "give_up": give_up}
    with torch.inference_mode():
        left = run_batches(short, lengths, most, one_token, breaks=loaded.breaks, **common)
        if long:  # each option holds a copy of the cache
            widest = max(len(tails[k]) for k in long)
            run_batches(long, lengths, left // widest, many_tokens, equal=True, **common)
    return [_finish(e, f, r) for e, f, r in zip(encoded, found, reasons, strict=True)]


def auto_budget(loaded: Loaded) -> int:
    """Tokens per forward pass, padding included.

    1,024 on a CPU, whose caches are small (4,096 took a quarter longer); on a GPU what half of its free
    memory holds, at most 65,536.
    """
    if loaded.device.type != "cuda":
        return 1024
    free, _ = torch.cuda.mem_get_info(loaded.device)
    config = loaded.model.config.get_text_config()
    inner = max(getattr(config, "intermediate_size", None) or 0, 4 * config.hidden_size)
    per_token = 2 * loaded.model.dtype.itemsize * (4 * config.hidden_size + 2 * inner)
    return max(1024, min(65536, int(free / 2 / per_token)))


def is_out_of_memory(error: BaseException) -> bool:
    """Whether memory ran out, on a GPU or on the CPU; what the GPU kept in reserve is given back."""
    if isinstance(error, torch.OutOfMemoryError):
        torch.cuda.empty_cache()
        return True
    return (
        isinstance(error, MemoryError) or "not enough memory" in str(error) or "can't allocate" in str(error)
    )


def _unfit(encoded: Encoded, context: int | None) -> str:
    if encoded.reason:
        return encoded.reason
    return TOO_LONG if context is not None and encoded.n_input_tokens() > context else ""


def _finish(encoded: Encoded, logprobs: NDArray[np.float64], reason: str) -> Scores:
    """Sum the forms of each letter."""
    if not reason and not np.isfinite(logprobs).all():
        reason = NOT_FINITE
    if reason:
        return Scores(np.full(len(encoded.tails), np.nan), reason)
    forms = iter(logprobs.astype(np.float64))
    options = [np.logaddexp.reduce([next(forms) for _ in group]) for group in encoded.tails]
    return Scores(np.array(options))


def _next_tokens(
    loaded: Loaded, batch: Sequence[Encoded], tails: Sequence[Sequence[tuple[int, ...]]], *, cache: bool
) -> tuple[Tensor, dict[str, Any]]:
    """Log-probability of each tail's first token, [batch, tails], and the cache by name, if asked for."""
    ids, ends = _pad([e.prefix for e in batch])
    first, _ = _pad([[tail[0] for tail in t] for t in tails])
    loaded.head.positions = (ends - 1)[:, None].to(loaded.device)
    out = loaded.model(input_ids=ids.to(loaded.device), use_cache=cache)
    logits = out.logits[:, 0]
    chosen = logits.gather(-1, first.to(logits.device)) - logits.logsumexp(-1, keepdim=True)
    return chosen, {name: out[name] for name in _CACHE if cache and name in list(out)}


def _long_tails(
    loaded: Loaded, batch: Sequence[Encoded], tails: Sequence[Sequence[tuple[int, ...]]], budget: int
) -> list[NDArray[np.float64]]:
    """Log-probability of whole tails. All prefixes have one length, so that nothing is padded before them."""
    first, cache = _next_tokens(loaded, batch, tails, cache=True)
    if not cache or not all(map(_repeatable, cache.values())):
        return _whole_sequences(loaded, batch, tails, budget)
    width = first.shape[1]
    for state in cache.values():
        state.batch_repeat_interleave(width)
    flat = [tail for t in tails for tail in [*t, *[t[0]] * (width - len(t))]]
    inputs, _ = _pad([tail[:-1] or tail for tail in flat])
    rest = _tail_logprobs(loaded, inputs, [tail[1:] for tail in flat], [0] * len(flat), cache)
    total = (first.flatten() + rest).reshape(len(batch), width).cpu().numpy()
    return [row[: len(t)] for row, t in zip(total, tails, strict=True)]


def _whole_sequences(
    loaded: Loaded, batch: Sequence[Encoded], tails: Sequence[Sequence[tuple[int, ...]]], budget: int
) -> list[NDArray[np.float64]]:
    """The same without a cache, for models whose state cannot be handed to several options."""
    flat = [(e.prefix, tail) for e, t in zip(batch, tails, strict=True) for tail in t]
    longest = max(len(prefix) + len(tail) for prefix, tail in flat)
    step = max(1, budget // longest)
    parts = []
    for begin in range(0, len(flat), step):
        some = flat[begin : begin + step]
        inputs, _ = _pad([(*prefix, *tail[:-1]) for prefix, tail in some])
        starts = [len(prefix) - 1 for prefix, _ in some]
        parts.append(_tail_logprobs(loaded, inputs, [tail for _, tail in some], starts, {}).cpu().numpy())
    values = iter(np.concatenate(parts))
    return [np.array([next(values) for _ in t]) for t in tails]


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
    loaded.head.positions = positions.to(loaded.device)
    logits = loaded.model(input_ids=inputs.to(loaded.device), use_cache=bool(cache), **cache).logits
    wanted, counts = wanted.to(logits.device), counts.to(logits.device)
    chosen = logits.gather(-1, wanted[..., None])[..., 0] - logits.logsumexp(-1)
    return torch.where(steps.to(logits.device) < counts[:, None], chosen, 0.0).sum(-1)


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


def _pad(rows: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """Rows filled up with zeros at their right, and their lengths. What stands at the right is never seen."""
    lengths = np.array([len(row) for row in rows])
    out = np.zeros((len(rows), max(1, int(lengths.max()))), dtype=np.int64)
    for k, row in enumerate(rows):
        out[k, : len(row)] = row
    return torch.from_numpy(out), torch.from_numpy(lengths)
