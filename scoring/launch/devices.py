"""Which processes score at the same time, and the GPUs that each of them sees."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from maskedadv.errors import BadSetting

# Errors after which a process cannot use its GPU any more: the next one has to be a fresh one.
_SPOILT = re.compile("CUDA error|CUDA driver error|AcceleratorError|HIP error|CU(BLAS|DNN)_STATUS_")


@dataclass(frozen=True)
class Slot:
    """A process that works off one model after the other, each in a fresh process.

    Attributes
    ----------
    visible
        GPUs it sees, as CUDA_VISIBLE_DEVICES names them.
    device
        What it calls them: "cuda" for one, "split" for several that share a model.
    """

    visible: str
    device: str


def assign(device: str, gpus: int, there: int) -> list[Slot]:
    """The processes of a run; none where all is done in the process at hand, on the CPU.

    Parameters
    ----------
    device
        auto, cpu, cuda, cuda:1, ...; split spreads one model over all GPUs.
    gpus
        GPUs to use; 0 for all.
    there
        GPUs of this machine, as far as CUDA_VISIBLE_DEVICES shows them.

    Raises
    ------
    BadSetting
        More GPUs than there are, or several for one.
    """
    if gpus < 0:
        raise BadSetting(f"--gpus {gpus}: give a number of GPUs, or 0 for all.")
    if device == "cpu" or (device in {"auto", "split"} and not there):
        if gpus > 0:
            where = "with --device cpu none is used" if device == "cpu" else "there is no GPU here"
            raise BadSetting(f"--gpus {gpus}: {where}; leave --gpus out.")
        return []
    if gpus > there:
        raise BadSetting(f"--gpus {gpus}: there are {there} GPUs here.")
    names = _visible(there)
    if device == "split":
        return [Slot(",".join(names[: gpus or there]), "split")]
    _, numbered, index = device.partition(":")
    if numbered:
        if not index.isdecimal() or int(index) >= there:
            raise BadSetting(f"--device {device}: there are {there} GPUs here.")
        if gpus > 1:
            raise BadSetting(f"--gpus {gpus}: --device {device} is one GPU; leave one of the two out.")
        return [Slot(names[int(index)], "cuda")]
    return [Slot(name, "cuda") for name in names[: gpus or there]]


def is_spoilt(error: str) -> bool:
    """Whether a process that failed so had lost its GPU, which a fresh process has not."""
    return bool(_SPOILT.search(error))


def _visible(there: int) -> list[str]:
    """Names of the GPUs: those that the user shows, or their numbers."""
    shown = [name.strip() for name in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if name.strip()]
    return shown[:there] if len(shown) >= there else [str(k) for k in range(there)]
