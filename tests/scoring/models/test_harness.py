"""Agreement with lm-evaluation-harness on the same items: twelve architectures, four scripts, 1e-4."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from maskedadv.scoring.items.items import Item, askable
from maskedadv.scoring.items.sources import read_items
from maskedadv.scoring.models.encode import Encoded, codec_of, encode
from maskedadv.scoring.prompts.prompts import Rendered, load_prompts, render
from tests.scoring.conftest import write_item_file

lm_eval = pytest.importorskip("lm_eval")
transformers = pytest.importorskip("transformers")
torch = pytest.importorskip("torch")

COMMON: dict[str, Any] = {
    "vocab_size": 400,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "max_position_embeddings": 512,
    "pad_token_id": None,
}
GROUPED = {**COMMON, "num_key_value_heads": 2}
HEADS = {**GROUPED, "head_dim": 8}
EXPERTS = {**HEADS, "num_local_experts": 4, "num_experts": 4, "num_experts_per_tok": 2}
ARCHITECTURES: dict[str, tuple[str, dict[str, Any]]] = {
    "llama": ("LlamaConfig", GROUPED),
    "mistral, window": ("MistralConfig", {**HEADS, "sliding_window": 16}),
    "qwen2": ("Qwen2Config", GROUPED),
    "qwen3": ("Qwen3Config", HEADS),
    "gemma2, soft caps": ("Gemma2Config", {**HEADS, "final_logit_softcapping": 2.0, "sliding_window": 16}),
    "gemma3": ("Gemma3TextConfig", {**HEADS, "sliding_window": 16}),
    "gpt2": (
        "GPT2Config",
        {"vocab_size": 400, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 512},
    ),
    "gpt-neox": ("GPTNeoXConfig", COMMON),
    "bloom": ("BloomConfig", {"vocab_size": 400, "hidden_size": 32, "n_layer": 2, "n_head": 4}),
    "cohere, scaled head": ("CohereConfig", {**GROUPED, "logit_scale": 0.5}),
    "mixtral, experts": ("MixtralConfig", EXPERTS),
    "olmo2": ("Olmo2Config", GROUPED),
    "phi3": ("Phi3Config", GROUPED),
    "mamba": ("MambaConfig", {"vocab_size": 400, "hidden_size": 32, "num_hidden_layers": 2, "state_size": 8}),
}
QUESTIONS = {  # Latin, Han, Devanagari (whose letters are several byte tokens), Arabic
    "en": "What is the capital of Norway?",
    "zh": "中国的首都是哪里？",
    "hi": "भारत की राजधानी क्या है?",
    "ar": "ما هي عاصمة النرويج؟",
}


def both(
    model: Any, tokenizer: Any, rendered: list[Rendered], budget: int | None = None
) -> tuple[np.ndarray, np.ndarray, list[Encoded]]:
    """Log-probabilities of the harness and of this package; NaN where this package gives none."""
    from lm_eval.api.instance import Instance
    from lm_eval.models.huggingface import HFLM

    from maskedadv.scoring.models.model import prepare
    from maskedadv.scoring.models.options import score

    lm = HFLM(pretrained=model, tokenizer=tokenizer, batch_size=16, device="cpu", dtype="float32")
    requests = [
        Instance(request_type="loglikelihood", doc={}, arguments=(r.prompt, forms[0]), idx=k)
        for r in rendered
        for k, forms in enumerate(r.options)
    ]
    theirs = np.array([lp for lp, _ in lm.loglikelihood(requests, disable_tqdm=True)])
    codec = codec_of(tokenizer)
    encoded = encode(rendered, codec)
    ours = np.concatenate([s.logprobs for s in score(prepare(deepcopy(model), codec), encoded, budget)])
    return theirs, ours, encoded


def wrap(byte_tokenizer: Any) -> Any:
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=byte_tokenizer, bos_token="<s>", eos_token="</s>", pad_token="</s>"
    )


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_architectures_and_scripts(name: str, byte_tokenizer: Any) -> None:
    """Letters of one token and of several, prompts of several lengths, more than one batch."""
    torch.manual_seed(0)
    kind, options = ARCHITECTURES[name]
    model = transformers.AutoModelForCausalLM.from_config(getattr(transformers, kind)(**options)).eval()
    for parameter in model.parameters():
        if parameter.ndim > 1:
            torch.nn.init.normal_(parameter, 0, 0.3)
    prompts, tails, wrapped = load_prompts(), set[int](), wrap(byte_tokenizer)
    for language, question in QUESTIONS.items():
        items = [
            Item(
                str(n),
                "CA",
                language,
                f"{question} {n * 7}",
                tuple(f"{question[:n]}{k}" for k in range(4)),
                0,
            )
            for n in range(3)
        ]
        rendered = [render(item, prompts) for item in items]
        if language in {"zh", "hi"}:  # letters of the script, three bytes each
            letters = {"zh": "甲乙丙丁", "hi": "कखगघ"}[language]
            rendered += [Rendered(r.prompt, tuple((x,) for x in letters)) for r in rendered]
        theirs, ours, encoded = both(model, wrapped, rendered, 600)
        tails |= {e.n_tail_tokens() for e in encoded}
        differences = (ours - theirs).reshape(-1, 4)
        # Bytes that all letters begin with count to the prompt here: they move all options alike.
        alone = [
            len(e.prefix) == len(wrapped(r.prompt)["input_ids"])
            for r, e in zip(rendered, encoded, strict=True)
        ]
        np.testing.assert_allclose(differences[alone], 0, atol=1e-4, err_msg=language)
        np.testing.assert_allclose(differences - differences[:, :1], 0, atol=1e-4, err_msg=language)
        assert sum(alone) >= 3
    assert min(tails) == 1 < max(tails)


def test_single_token_letters(tiny_model: Path, tmp_path: Path) -> None:
    model = transformers.AutoModelForCausalLM.from_pretrained(tiny_model)
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny_model)
    items = read_items([write_item_file(tmp_path / "set.jsonl")]).items
    theirs, ours, _ = both(model, tokenizer, [render(item, load_prompts()) for item in items])
    np.testing.assert_allclose(ours, theirs, atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("language", ["bn", "de", "en", "fr", "ja", "sw", "zh"])
def test_real_questions_with_a_real_model(shared: Path, language: str) -> None:
    """400 questions; a prompt longer than the model's context is cut by the harness, not scored here."""
    folder = shared / "models" / "stories260k"
    model = transformers.AutoModelForCausalLM.from_pretrained(folder)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    items: list[Item] = []
    for item in askable(read_items([shared / "data" / "global_mmlu_lite_items.jsonl"]).items, drop=True)[0]:
        if item.language == language:
            items.append(item)
    rendered = [render(item, load_prompts()) for item in items]
    theirs, ours, encoded = both(model, tokenizer, rendered)
    scored = np.isfinite(ours)
    assert scored.mean() > 0.25
    per_item = np.repeat([e.n_tail_tokens() for e in encoded], [len(e.tails) for e in encoded])
    assert (np.isnan(ours) == np.repeat([e.n_input_tokens() > 512 for e in encoded], 4)).all()
    assert per_item.max() <= 2
    np.testing.assert_allclose(ours[scored], theirs[scored], atol=1e-4)
