"""Which device and number type a model is run with."""

from __future__ import annotations

import torch

from maskedadv.errors import BadSetting


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
