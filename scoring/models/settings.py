"""How a Hugging Face model is run; free of torch, so that plans can be made without it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class HfSettings:
    """How a model is run.

    Attributes
    ----------
    path
        Folder of the model, or its name on the hub.
    revision
        Commit, branch or tag on the hub.
    dtype
        float32, bfloat16 or float16; auto is bfloat16 on a GPU, float32 on a CPU.
    device
        cpu, cuda, cuda:1, ...; auto is a GPU if there is one; split spreads the model over all GPUs.
    attention
        sdpa, eager, flash_attention_2; auto is sdpa where the model allows it.
    trust_remote_code
        Whether to run code that comes with the model.
    max_tokens
        Most tokens of a forward pass, padding included; None chooses.
    """

    path: str
    revision: str | None = None
    dtype: str = "auto"
    device: str = "auto"
    attention: str = "auto"
    trust_remote_code: bool = False
    max_tokens: int | None = None
