"""Data of a Stan program as JSON text: counts, which most of them are, without a Python object for each."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

_FEW, _WORDS = 100, 10_000
"""Shorter arrays, and those with a number beyond so many words (or their own length), go number by number."""


def json_text(data: Mapping[str, Any]) -> str:
    """What `json.dumps` gives of the same as lists, but for whole numbers, which have no fraction: `3`."""
    return "{" + ", ".join(f"{json.dumps(name)}: {_text(value)}" for name, value in data.items()) + "}"


def _text(value: Any) -> str:
    if not isinstance(value, np.ndarray):
        return json.dumps(value, default=lambda v: v.tolist())
    if value.ndim > 1 and value.shape[-1] >= _FEW:
        return "[" + ", ".join(map(_text, value)) + "]"
    if value.ndim == 1 and len(value) >= _FEW and _counts(value):
        words = np.array([f"{k}," for k in range(int(value.max()) + 1)], dtype=np.bytes_)
        return "[" + words[value.astype(np.intp)].tobytes().replace(b"\0", b"")[:-1].decode("ascii") + "]"
    return json.dumps(value.tolist())


def _counts(value: NDArray[Any]) -> bool:
    """Whether all are whole numbers from 0 that a table of words can hold."""
    if value.dtype.kind not in "iuf" or not (value >= 0).all() or not (value < max(_WORDS, len(value))).all():
        return False
    return value.dtype.kind != "f" or bool((value == np.floor(value)).all() and not np.signbit(value).any())
