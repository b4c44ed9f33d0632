"""Agreement with lm-evaluation-harness on the same prompts; runs where the bench extra is installed."""

from __future__ import annotations

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


def both(
    model: Any, tokenizer: Any, rendered: list[Rendered]
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
    ours = np.concatenate([s.logprobs for s in score(prepare(model, codec), encoded)])
    return theirs, ours, encoded


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
