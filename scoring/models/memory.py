"""How much memory a forward pass may take, and whether it was too much."""

from __future__ import annotations

import re

import torch

from maskedadv.scoring.models.model import Loaded

_NO_MEMORY_ON_GPU = re.compile(
    "(CUDA|HIP|cuda|hip).*out of memory|ALLOC_FAILED|MemoryAllocation|CU(BLAS|DNN)_STATUS_NOT_INITIALIZED"
)
_NO_MEMORY = re.compile("not enough memory|can't allocate")


def auto_budget(loaded: Loaded, longest: int) -> int:
    """Tokens per forward pass, padding included, for questions of at most `longest` tokens.

    1,024 on a CPU, whose caches are small (4,096 took a quarter longer); on a GPU 16,384, or what half of
    its free memory holds. Attention that keeps all its weights (eager) needs room for them as well.
    """
    if loaded.device.type != "cuda":
        return 1024
    free, _ = torch.cuda.mem_get_info(loaded.device)
    config = loaded.model.config.get_text_config()
    inner = max(getattr(config, "intermediate_size", None) or 0, 4 * config.hidden_size)
    per_token = 2 * loaded.model.dtype.itemsize * (4 * config.hidden_size + 2 * inner)
    if getattr(config, "_attn_implementation", "") == "eager":  # scores, and their softmax in float32
        heads = getattr(config, "num_attention_heads", None) or 1
        per_token += longest * heads * (2 * loaded.model.dtype.itemsize + 4)
    return max(1024, min(16384, int(free / 2 / per_token)))


def is_out_of_memory(error: BaseException) -> bool:
    """Whether memory ran out, on a GPU or on the CPU; what the GPU kept in reserve is given back.

    The libraries that PyTorch calls have words of their own for it, and so has the runtime.
    """
    if isinstance(error, torch.OutOfMemoryError) or (
        isinstance(error, RuntimeError) and _NO_MEMORY_ON_GPU.search(str(error))
    ):
        torch.cuda.empty_cache()
        return True
    return isinstance(error, MemoryError) or bool(_NO_MEMORY.search(str(error)))
