"""Load a model and its tokenizer, and refuse a checkpoint that does not hold the model it is taken for.

The library fills weights that a checkpoint lacks with random numbers and passes over those it has no place
for; it says so in its loading report, which is read here.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import torch
import transformers
from transformers.models.auto.tokenization_auto import get_tokenizer_config
from transformers.utils import is_protobuf_available

from maskedadv.errors import UnusableModel
from maskedadv.scoring.models.devices import choose_device, choose_dtype
from maskedadv.scoring.models.encode import Codec, codec_of
from maskedadv.scoring.models.model import Loaded, prepare
from maskedadv.scoring.models.settings import HfSettings
from maskedadv.words.lists import first_few

_ONE_AT_A_TIME = threading.Lock()
"""The library replaces methods of its classes while it loads; two loads at once leave tied weights untied."""
# Computed from the configuration, whatever a checkpoint holds: position tables and causal masks.
_COMPUTED = re.compile(
    r"inv_freq$|(cos|sin)_cached$|position_ids$|masked_bias$|causal_mask$|(attn|attention)\.bias$|\.version$"
    r"|_extra_state$"
)
_WITHOUT_PROTOBUF = re.compile("protobuf|Error parsing line")
# Parts beside the language model: other senses, layers that draft several tokens ahead, scales of a cache.
_BESIDE = re.compile(
    r"(^|\.)(vision|visual|image|audio|speech|video|multi_?modal|mm_|embed_vision|embed_audio|mtp|nextn)"
    r"|(^|\.)(k|v|kv)_scale$"
)


def load_model(settings: HfSettings, codec: Codec | None = None) -> Loaded:
    """Load a model, and its tokenizer if it is not there yet, from a folder or from the hub.

    Raises
    ------
    BadSetting
        A device or number type that is not there.
    UnusableModel
        Not to be found or loaded, an incomplete checkpoint, or no causal language model.
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
        # Straight to the device: some number types cannot be loaded on a CPU, and a copy costs memory.
        "device_map": "auto" if settings.device == "split" else {"": device},
        "output_loading_info": True,
        "ignore_mismatched_sizes": True,  # the report names them, the library's own refusal does not
    }
    if settings.attention != "auto":
        options["attn_implementation"] = settings.attention
    try:
        with _ONE_AT_A_TIME:
            loaded: Any = transformers.AutoModelForCausalLM.from_pretrained(name, **options)
    except torch.OutOfMemoryError as error:
        raise UnusableModel(f"{name} does not fit into the memory of {device}.") from error
    except Exception as error:  # damaged files fail in any way
        raise UnusableModel(f"{name} cannot be loaded ({first_line(error)}).") from error
    model, report = loaded
    check_report(name, report)
    return prepare(model, codec or load_codec(settings, config.model_type), name)


def check_report(name: str, report: Mapping[str, Any]) -> None:
    """Refuse a model some of whose weights are random, or were left lying.

    Parameters
    ----------
    report
        `output_loading_info` of the library: missing_keys, unexpected_keys, mismatched_keys, error_msgs.

    Raises
    ------
    UnusableModel
    """
    missing = _that_matter(report["missing_keys"])
    mismatched = sorted(str(key[0]) for key in report["mismatched_keys"])
    unexpected = [k for k in _that_matter(report["unexpected_keys"]) if not _BESIDE.search(k)]
    found = []
    if missing:
        found.append(f"lacks {len(missing)} weights of the model ({first_few(missing)})")
    if mismatched:
        found.append(f"holds {len(mismatched)} weights of other sizes ({first_few(mismatched)})")
    if unexpected:
        found.append(f"holds {len(unexpected)} weights the model has no place for ({first_few(unexpected)})")
    if report.get("error_msgs"):
        found.append(f"cannot be read wholly ({str(report['error_msgs'][0]).splitlines()[0]})")
    if found:
        raise UnusableModel(
            f"the checkpoint of {name} {', and '.join(found)}: it is incomplete, or another kind of model. "
            "Get the whole checkpoint of a causal language model."
        )


def load_config(settings: HfSettings) -> Any:
    """The model's configuration.

    Raises
    ------
    UnusableModel
    """
    if (Path(settings.path) / "adapter_config.json").is_file():
        raise UnusableModel(
            f"{settings.path} is an adapter; merge it into its model (peft: merge_and_unload) and score that."
        )
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
            f"{settings.path} cannot be found or is no model ({first_line(error)})."
        ) from error


def load_codec(settings: HfSettings, model_type: str) -> Codec:
    """The model's tokenizer.

    Raises
    ------
    UnusableModel
    """
    common: dict[str, Any] = {
        "revision": settings.revision,
        "trust_remote_code": settings.trust_remote_code,
    }
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(settings.path, **common)
        said = get_tokenizer_config(settings.path, **common)
    except ImportError as error:
        raise UnusableModel(
            f"the tokenizer of {settings.path} needs a package that is not here ({first_line(error)})."
        ) from error
    except Exception as error:  # damaged files fail in any way
        unread = not is_protobuf_available() and _WITHOUT_PROTOBUF.search(str(error))
        mend = " It is a tokenizer.model; install with: pip install protobuf." if unread else ""
        raise UnusableModel(
            f"the tokenizer of {settings.path} cannot be loaded ({first_line(error)}).{mend}"
        ) from error
    # The library drops the setting where it takes the tokenizer's own file as it is.
    return codec_of(tokenizer, model_type, adds_begin=said.get("add_bos_token") is True)


def first_line(error: BaseException) -> str:
    """What an error of another library says, short enough for one sentence."""
    text = str(error).strip().split("\n")[0] or type(error).__name__
    return text if len(text) <= 300 else f"{text[:300]}..."


def _that_matter(keys: Iterable[str]) -> list[str]:
    return sorted(key for key in keys if not _COMPUTED.search(key))
