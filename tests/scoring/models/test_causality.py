"""Models that look to the right are refused, whatever they call themselves; causal ones are not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from maskedadv.errors import UnusableModel
from maskedadv.scoring.models.encode import Codec, codec_of

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from maskedadv.scoring.models.model import prepare  # noqa: E402

NO_CODEC = Codec(lambda _: [], lambda _: [], (), "")
SMALL: dict[str, Any] = {
    "vocab_size": 97,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
}
BERT = {**SMALL, "intermediate_size": 48, "max_position_embeddings": 64}
LLAMA = {**BERT, "num_key_value_heads": 2}


def build(kind: str, options: dict[str, Any]) -> Any:
    torch.manual_seed(0)
    return transformers.AutoModelForCausalLM.from_config(getattr(transformers, kind)(**options)).eval()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("BertConfig", BERT),
        ("RobertaConfig", {**BERT, "max_position_embeddings": 70, "pad_token_id": 1}),
        ("ElectraConfig", {**BERT, "embedding_size": 32}),
        ("XLNetConfig", {"vocab_size": 97, "d_model": 32, "n_layer": 2, "n_head": 4, "d_inner": 48}),
        (
            "Gemma3TextConfig",
            {**LLAMA, "head_dim": 8, "use_bidirectional_attention": True, "sliding_window": 4},
        ),
    ],
)
def test_looking_to_the_right_is_noticed(kind: str, options: dict[str, Any], dtype: Any) -> None:
    model = build(kind, options)
    for parameter in model.parameters():
        if parameter.ndim > 1 and dtype != torch.float32:  # trained weights, not nearly constant ones
            torch.nn.init.normal_(parameter, 0, 0.3)
    with pytest.raises(UnusableModel, match="looks to the right"):
        prepare(model.to(dtype), NO_CODEC)


def prefix_model(begin: int, end: int) -> Any:
    """A Llama whose tokens from `begin` to `end` see each other, as in prefix models, and else look left."""
    model = build("LlamaConfig", {**LLAMA, "attn_implementation": "eager"})
    forward = model.model.forward

    def bidirectional(input_ids: Any, **kwargs: Any) -> Any:
        length = input_ids.shape[1]
        seen = torch.tril(torch.ones(length, length, dtype=torch.bool))
        seen[begin:end, begin:end] = True
        mask = torch.where(seen, 0.0, torch.finfo(torch.float32).min)[None, None]
        return forward(input_ids=input_ids, **{**kwargs, "attention_mask": mask})

    model.model.forward = bidirectional
    return model


@pytest.mark.parametrize(("begin", "end"), [(0, 2), (0, 8), (1, 3), (10, 13), (0, 1000)])
def test_prefix_models_are_noticed(begin: int, end: int) -> None:
    with pytest.raises(UnusableModel, match="looks to the right"):
        prepare(prefix_model(begin, end), NO_CODEC)


def test_the_same_model_with_a_causal_mask_is_not() -> None:
    prepare(prefix_model(0, 0), NO_CODEC)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("LlamaConfig", LLAMA),
        ("BertConfig", {**BERT, "is_decoder": True}),
        ("GPT2Config", {"vocab_size": 97, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64}),
        ("MixtralConfig", {**LLAMA, "num_local_experts": 4, "num_experts_per_tok": 2}),
        ("MambaConfig", {"vocab_size": 97, "hidden_size": 32, "num_hidden_layers": 2, "state_size": 8}),
    ],
)
def test_causal_models_are_taken(kind: str, options: dict[str, Any], dtype: Any) -> None:
    prepare(build(kind, options).to(dtype), NO_CODEC)


@pytest.mark.parametrize("context", [2, 3, 8, 23])
def test_a_short_context_is_enough(context: int) -> None:
    positions = {"vocab_size": 97, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": max(context, 3)}
    prepare(build("GPT2Config", positions), NO_CODEC)
    with pytest.raises(UnusableModel, match="looks to the right"):
        prepare(build("BertConfig", {**BERT, "max_position_embeddings": max(context, 3)}), NO_CODEC)


def test_text_is_tried_where_there_is_a_tokenizer(tiny_model: Path) -> None:
    """Tokens that are no text may stand for pictures, which a model then misses."""
    model = transformers.AutoModelForCausalLM.from_pretrained(tiny_model)
    codec = codec_of(transformers.AutoTokenizer.from_pretrained(tiny_model))
    seen: list[Any] = []
    forward = model.forward
    model.forward = lambda **kw: seen.append(kw["input_ids"]) or forward(**kw)
    prepare(model, codec)
    assert codec.decode([seen[-1][0].tolist()])[0].startswith("Question: Which river")
