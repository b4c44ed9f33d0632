"""One model and all it is asked, pooled over languages and sets, whatever the order, batch or share."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from maskedadv.scoring.items.sources import read_items
from maskedadv.scoring.launch.plan import Piece, make_pieces
from maskedadv.scoring.launch.store import Answer
from maskedadv.scoring.models.settings import HfSettings
from maskedadv.scoring.prompts.prompts import load_prompts
from tests.scoring.conftest import write_item_file

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from maskedadv.scoring.models import unit  # noqa: E402
from maskedadv.scoring.models.size import count_parameters  # noqa: E402

Found = dict[tuple[str, str], np.ndarray]


@pytest.fixture(scope="module")
def pieces(tmp_path_factory: pytest.TempPathFactory) -> tuple[Piece, ...]:
    folder = tmp_path_factory.mktemp("items")
    items = read_items([write_item_file(folder / "s.jsonl", ("en", "zh", "te", "ar"), 9)]).items
    return make_pieces({"s": items}, load_prompts())


def ask(
    model: Path,
    wanted: Sequence[tuple[Piece, Sequence[int]]],
    said: list[str] | None = None,
    max_tokens: int | None = None,
) -> Found:
    """Log-probabilities by language and item."""
    found: Found = {}
    settings = HfSettings(str(model), device="cpu", max_tokens=max_tokens)

    def keep(n: int, answers: Sequence[tuple[int, Answer]]) -> None:
        for k, answer in answers:
            piece = wanted[n][0]
            key = (piece.language, piece.items[k].item)
            assert key not in found
            assert answer.reason == ""
            found[key] = np.array(answer.logprobs)

    unit.answer("m", settings, unit.identify(settings), wanted, keep, (said or []).append)
    return found


def everything(pieces: Sequence[Piece]) -> list[tuple[Piece, Sequence[int]]]:
    return [(piece, range(len(piece.items))) for piece in pieces]


def same(a: Found, b: Found) -> None:
    assert a.keys() == b.keys()
    for key in a:
        np.testing.assert_allclose(a[key], b[key], atol=1e-5, rtol=0)


def test_order_batch_share_and_resumption_do_not_matter(
    tiny_model: Path, pieces: tuple[Piece, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = ask(tiny_model, everything(pieces))
    assert len(whole) == sum(len(piece.items) for piece in pieces)
    for tokens in (1, 333, 65536):
        same(ask(tiny_model, everything(pieces), max_tokens=tokens), whole)
    same(ask(tiny_model, everything(pieces[::-1])), whole)
    rng = random.Random(0)
    halves: tuple[list[Any], list[Any]] = ([], [])
    for piece in pieces:
        order = rng.sample(range(len(piece.items)), len(piece.items))
        for half, some in zip(halves, (order[:7], order[7:]), strict=True):
            half.append((piece, some))
    same(ask(tiny_model, halves[0]) | ask(tiny_model, halves[1]), whole)
    monkeypatch.setattr(unit, "_POOL", 5)  # the next pool is tokenised while this one is computed
    same(ask(tiny_model, everything(pieces)), whole)


@pytest.mark.parametrize("tokens", [256, 4096, 65536])
def test_the_summary_names_the_share_of_padding(
    tiny_model: Path, pieces: tuple[Piece, ...], tokens: int
) -> None:
    said: list[str] = [""]
    ask(tiny_model, everything(pieces), said, tokens)
    line = said[-1]
    assert "positions computed" in line
    assert float(line.rpartition("computed, ")[2].removesuffix("% padding")) <= 3.0


def test_nothing_wanted_is_nothing_asked(tiny_model: Path) -> None:
    assert ask(tiny_model, []) == {}


def test_real_questions_in_seven_languages(tiny_model: Path, shared: Path) -> None:
    """The lengths of Global-MMLU-Lite: 47-51% of all positions were padding at 65,536 tokens a language."""
    from maskedadv.scoring.items.items import askable
    from maskedadv.scoring.models.batch import Budget, run_batches
    from maskedadv.scoring.models.encode import encode
    from maskedadv.scoring.models.loading import load_codec

    items = askable(read_items([shared / "data" / "global_mmlu_lite_items.jsonl"]).items, drop=True)[0]
    rendered = [r for piece in make_pieces({"s": items}, load_prompts()) for r in piece.rendered]
    codec = load_codec(HfSettings(str(tiny_model)), "llama")
    lengths = [len(e.prefix) for e in encode(rendered, codec)]
    for tokens in (1024, 4096, 16384, 65536):
        batches: list[list[int]] = []
        run_batches(
            range(len(lengths)),
            lengths,
            Budget(tokens),
            batches.append,
            is_out_of_memory=lambda _: False,
            give_up=lambda _: None,
        )
        positions = sum(len(b) * lengths[b[0]] for b in batches)
        assert 1 - sum(lengths) / positions <= 0.03
        assert len(batches) <= max(250, 1.3 * positions / tokens)  # and still large ones


# --- sizes ----------------------------------------------------------------------------------------


HIDDEN, INNER, LAYERS, VOCABULARY, EXPERTS, CHOSEN = 32, 48, 3, 97, 8, 2
COMMON: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "hidden_size": HIDDEN,
    "intermediate_size": INNER,
    "moe_intermediate_size": INNER,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
}


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        ("MixtralConfig", {"num_local_experts": EXPERTS, "num_experts_per_tok": CHOSEN}),
        ("Qwen3MoeConfig", {"num_experts": EXPERTS, "num_experts_per_tok": CHOSEN}),
        ("GptOssConfig", {"num_local_experts": EXPERTS, "num_experts_per_tok": CHOSEN}),
        ("OlmoeConfig", {"num_experts": EXPERTS, "num_experts_per_tok": CHOSEN}),
        ("PhimoeConfig", {"num_local_experts": EXPERTS, "num_experts_per_tok": CHOSEN}),
    ],
)
def test_of_experts_those_count_that_a_token_passes(kind: str, more: dict[str, int]) -> None:
    total, active = count_parameters(getattr(transformers, kind)(**COMMON, **more))
    one = LAYERS * 3 * HIDDEN * INNER + (LAYERS * (2 * INNER + HIDDEN) if kind == "GptOssConfig" else 0)
    assert total - active == 2 * VOCABULARY * HIDDEN + one * (EXPERTS - CHOSEN)


def test_a_dense_model_counts_without_embedding_and_head() -> None:
    for tied in (True, False):
        total, active = count_parameters(transformers.LlamaConfig(**COMMON, tie_word_embeddings=tied))
        assert total - active == VOCABULARY * HIDDEN * (1 if tied else 2)
