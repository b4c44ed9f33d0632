"""Log-probabilities against a plain forward pass over the whole sequence, for many architectures."""

from __future__ import annotations

import resource
from typing import Any

import numpy as np
import pytest

from maskedadv.scoring.models.encode import Codec, Encoded

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from maskedadv.scoring.models import options as hf  # noqa: E402
from maskedadv.scoring.models.batch import Budget  # noqa: E402
from maskedadv.scoring.models.memory import is_out_of_memory  # noqa: E402
from maskedadv.scoring.models.model import prepare  # noqa: E402

V = 97
NO_CODEC = Codec(lambda _: [], lambda _: [], (), "")
COMMON: dict[str, Any] = {
    "vocab_size": V,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "max_position_embeddings": 128,
}
GROUPED = {**COMMON, "num_key_value_heads": 2}
HEADS = {**GROUPED, "head_dim": 8}
CONFIGS: dict[str, tuple[str, dict[str, Any]]] = {
    "llama": ("LlamaConfig", HEADS),
    "gpt2": ("GPT2Config", {"vocab_size": V, "n_embd": 32, "n_layer": 3, "n_head": 4, "n_positions": 128}),
    "gemma2, soft caps and window": (
        "Gemma2Config",
        {
            **HEADS,
            "final_logit_softcapping": 2.0,
            "attn_logit_softcapping": 1.0,
            "sliding_window": 8,
            "query_pre_attn_scalar": 8,
        },
    ),
    "gemma3, soft cap and window": (
        "Gemma3TextConfig",
        {**HEADS, "final_logit_softcapping": 2.0, "sliding_window": 8},
    ),
    "qwen2": ("Qwen2Config", GROUPED),
    "qwen3": ("Qwen3Config", HEADS),
    "gpt-neox": ("GPTNeoXConfig", COMMON),
    "mamba": ("MambaConfig", {"vocab_size": V, "hidden_size": 32, "num_hidden_layers": 3, "state_size": 8}),
    "falcon-h1, hybrid with a head multiplier": (
        "FalconH1Config",
        {
            **HEADS,
            "mamba_d_ssm": 64,
            "mamba_n_heads": 4,
            "mamba_d_head": 16,
            "mamba_d_state": 8,
            "mamba_n_groups": 1,
            "lm_head_multiplier": 0.3,
            "mamba_chunk_size": 16,
        },
    ),
    "minimax, a state beside the cache": (
        "MiniMaxConfig",
        {
            **HEADS,
            "num_local_experts": 4,
            "num_experts_per_tok": 2,
            "layer_types": ["linear_attention", "full_attention", "linear_attention"],
            "block_size": 16,
        },
    ),
    "mixtral, experts": ("MixtralConfig", {**HEADS, "num_local_experts": 4, "num_experts_per_tok": 2}),
    "cohere, logit scale": ("CohereConfig", {**GROUPED, "logit_scale": 0.5}),
    "granite, logit divisor": ("GraniteConfig", {**GROUPED, "logits_scaling": 4.0}),
    "bloom, position by bias": (
        "BloomConfig",
        {"vocab_size": V, "hidden_size": 32, "n_layer": 2, "n_head": 4},
    ),
    "opt, projected width": (
        "OPTConfig",
        {
            "vocab_size": V,
            "hidden_size": 32,
            "ffn_dim": 48,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "max_position_embeddings": 128,
            "word_embed_proj_dim": 16,
        },
    ),
}


def build(name: str) -> Any:
    """A random model whose logits are far from uniform."""
    torch.manual_seed(0)
    kind, options = CONFIGS[name]
    model = transformers.AutoModelForCausalLM.from_config(getattr(transformers, kind)(**options)).eval()
    for parameter in model.parameters():
        if parameter.ndim > 1:
            torch.nn.init.normal_(parameter, 0, 0.3)
    return model


def random_items(count: int, *, long: bool, seed: int = 0) -> list[Encoded]:
    rng = np.random.default_rng(seed)
    items = []
    for _ in range(count):
        tails: set[tuple[int, ...]] = set()
        options = int(rng.integers(2, 6))
        while len(tails) < options:
            tails.add(tuple(rng.integers(1, V, int(rng.integers(1, 5)) if long else 1).tolist()))
        prefix = tuple(rng.integers(1, V, int(rng.integers(3, 60))).tolist())
        items.append(Encoded(prefix, tuple((tail,) for tail in sorted(tails))))
    return items


def plain(model: Any, item: Encoded) -> np.ndarray:
    """The textbook way: one forward pass per option, log-softmax over everything, sum over the tail."""
    values = []
    with torch.inference_mode():
        for (tail,) in item.tails:
            logits = model(input_ids=torch.tensor([[*item.prefix, *tail]])).logits[0].float()
            logprobs = logits.log_softmax(-1)
            begin = len(item.prefix) - 1
            values.append(sum(logprobs[begin + k, token].item() for k, token in enumerate(tail)))
    return np.array(values)


@pytest.mark.parametrize("name", CONFIGS)
def test_equals_a_plain_forward_whatever_the_batch(name: str) -> None:
    model = build(name)
    items = random_items(10, long=False) + random_items(10, long=True, seed=1)
    expected = [plain(model, item) for item in items]
    loaded = prepare(model, NO_CODEC)
    for budget in (None, 150, 1):
        found = hf.score(loaded, items, budget)
        for one, truth in zip(found, expected, strict=True):
            assert one.reason == ""
            np.testing.assert_allclose(one.logprobs, truth, atol=1e-4)
            assert one.logprobs.argmax() == truth.argmax()


def test_one_pass_a_question_and_the_prompt_once_for_longer_tails(monkeypatch: pytest.MonkeyPatch) -> None:
    model = build("llama")
    loaded = prepare(model, NO_CODEC)
    forward, tokens = model.forward, []

    def counted(*args: Any, **kwargs: Any) -> Any:
        tokens.append(kwargs["input_ids"].shape)
        return forward(*args, **kwargs)

    monkeypatch.setattr(model, "forward", counted)
    short = random_items(20, long=False)
    hf.score(loaded, short, 200)
    assert sum(rows for rows, _ in tokens) == len(short)
    tokens.clear()
    one = Encoded(tuple(range(1, 51)), (((1, 2, 3),), ((4, 5),), ((6,),)))
    hf.score(loaded, [one])
    assert tokens == [(1, 50), (3, 2)]


@pytest.mark.parametrize("name", ["llama", "gemma2, soft caps and window", "mamba"])
def test_neighbours_and_order_do_not_matter(name: str) -> None:
    loaded = prepare(build(name), NO_CODEC)
    items = random_items(5, long=False, seed=3)
    longer = [Encoded(tuple(range(1, 90)), items[0].tails)]
    alone = [hf.score(loaded, [item])[0].logprobs for item in items]
    for batch in (items[:4], items, longer + items, items[::-1]):
        found = {id(item): s.logprobs for item, s in zip(batch, hf.score(loaded, batch), strict=True)}
        for item, truth in zip(items, alone, strict=True):
            if id(item) in found:
                np.testing.assert_allclose(found[id(item)], truth, atol=1e-4)


def test_bfloat16_body_has_a_float32_head() -> None:
    model = build("llama").to(torch.bfloat16)
    item = random_items(1, long=False)[0]
    with torch.inference_mode():
        hidden = model.model(input_ids=torch.tensor([item.prefix])).last_hidden_state[0, -1]
        logits = model.lm_head.weight.float() @ hidden.float()
    expected = logits.log_softmax(-1)[[tail[0] for (tail,) in item.tails]].numpy()
    found = hf.score(prepare(model, NO_CODEC), [item])[0].logprobs
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_forms_of_a_letter_are_summed() -> None:
    model = build("llama")
    both = Encoded((5, 6, 7), (((10,), (11,)), ((12,), (13, 14))))
    single = [Encoded((5, 6, 7), (((a),), ((b),))) for a, b in [((10,), (11,)), ((12,), (13, 14))]]
    parts = [np.exp(plain(model, e)).sum() for e in single]
    found = hf.score(prepare(model, NO_CODEC), [both])[0].logprobs
    np.testing.assert_allclose(np.exp(found), parts, rtol=1e-4)


@pytest.mark.parametrize("long", [False, True])
def test_nan_concerns_its_own_item_only(long: bool) -> None:
    model = build("llama")
    items = random_items(6, long=long, seed=5)
    poisoned = 96
    items = [Encoded(tuple(min(t, 95) for t in e.prefix), e.tails) for e in items]
    items = [Encoded(e.prefix, tuple((tuple(min(t, 95) for t in f[0]),) for f in e.tails)) for e in items]
    expected = [plain(model, e) for e in items]
    items[2] = Encoded((poisoned, *items[2].prefix), items[2].tails)
    with torch.no_grad():
        model.model.embed_tokens.weight[poisoned] = float("nan")
    found = hf.score(prepare(model, NO_CODEC), items)
    assert [s.reason for s in found] == ["", "", hf.NOT_FINITE, "", "", ""]
    assert np.isnan(found[2].logprobs).all()
    for k in (0, 1, 3, 4, 5):
        np.testing.assert_allclose(found[k].logprobs, expected[k], atol=1e-4)


def test_too_long_is_counted_from_what_the_model_reads() -> None:
    model = build("gpt2")
    fits = Encoded(tuple([1] * 128), (((1,),), ((2,),)))
    one_more = Encoded(tuple([1] * 129), (((1,),), ((2,),)))
    tail_too = Encoded(tuple([1] * 128), (((1, 3),), ((2,),)))
    tail_fits = Encoded(tuple([1] * 127), (((1, 3),), ((2,),)))
    found = hf.score(prepare(model, NO_CODEC), [fits, one_more, tail_too, tail_fits])
    assert [s.reason for s in found] == ["", hf.TOO_LONG, hf.TOO_LONG, ""]
    told: list[tuple[int, float]] = []
    hf.score(prepare(model, NO_CODEC), [fits, one_more, tail_too], progress=lambda *x: told.append(x))
    assert [sum(x) for x in zip(*told, strict=True)] == [3, 128]  # what was not read is no speed


def test_out_of_memory_halves_the_budget_and_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    model = build("llama")
    items = random_items(12, long=False) + random_items(4, long=True, seed=9)
    items.append(Encoded(tuple([3] * 100), items[0].tails))
    expected = [plain(model, e) for e in items]
    loaded = prepare(model, NO_CODEC)
    forward = model.forward
    sizes = []

    def limited(*args: Any, **kwargs: Any) -> Any:
        size = kwargs["input_ids"].numel()
        sizes.append(size)
        if size > 90:
            raise torch.OutOfMemoryError("out of memory")
        return forward(*args, **kwargs)

    monkeypatch.setattr(model, "forward", limited)
    found = hf.score(loaded, items, 1000)
    assert max(sizes) > 90
    assert found[-1].reason == hf.OUT_OF_MEMORY
    for one, truth in zip(found[:-1], expected[:-1], strict=True):
        np.testing.assert_allclose(one.logprobs, truth, atol=1e-4)


NO_MEMORY = [
    torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB"),
    RuntimeError("CUDA error: out of memory\nCUDA kernel errors might be asynchronously reported"),
    RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
    RuntimeError("CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate(handle)`"),
    RuntimeError("cuDNN error: CUDNN_STATUS_ALLOC_FAILED"),
    RuntimeError("CUDA driver error: out of memory"),
    RuntimeError("HIP out of memory. Tried to allocate 2.00 GiB"),
    RuntimeError("[enforce fail at alloc_cpu.cpp:114] DefaultCPUAllocator: can't allocate memory: you tried"),
    RuntimeError("DefaultCPUAllocator: not enough memory: you tried to allocate 8 bytes."),
    MemoryError(),
]
OTHERS = [
    RuntimeError("CUDA error: device-side assert triggered"),
    RuntimeError("CUDA error: an illegal memory access was encountered"),
    RuntimeError("CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasGemmEx`"),
    RuntimeError("The size of tensor a (4) must match the size of tensor b (5)"),
    IndexError("index out of range in self"),
]


@pytest.mark.parametrize("error", NO_MEMORY, ids=str)
def test_every_way_of_saying_that_memory_ran_out(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    emptied: list[int] = []
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: emptied.append(1))
    assert is_out_of_memory(error)
    assert len(emptied) == ("CPU" not in str(error) and bool(str(error)))


@pytest.mark.parametrize("error", OTHERS, ids=str)
def test_other_errors_are_not_taken_for_a_lack_of_memory(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not is_out_of_memory(error)
    loaded = prepare(build("llama"), NO_CODEC)

    def fails(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr(loaded.model, "forward", fails)
    with pytest.raises(type(error)):
        hf.score(loaded, random_items(2, long=False))


def test_tokens_that_the_model_does_not_know_never_reach_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a GPU they would spoil the process for every later question, and every later model."""
    model = build("llama")
    good = random_items(2, long=False)
    beyond = [
        Encoded((1, V, 2), (((1,),), ((2,),))),
        Encoded((1, 2), (((1,),), ((V + 5,),))),
        Encoded((1, 2), (((1, V),), ((2,),))),
    ]
    seen: list[int] = []
    loaded = prepare(model, NO_CODEC)
    forward = model.forward
    monkeypatch.setattr(
        model, "forward", lambda **kw: seen.append(int(kw["input_ids"].max())) or forward(**kw)
    )
    found = hf.score(loaded, [good[0], *beyond, good[1]])
    assert [s.reason for s in found] == ["", *[hf.UNKNOWN_TOKEN] * 3, ""]
    assert max(seen) < V


def test_a_budget_is_carried_on_and_knows_its_padding(monkeypatch: pytest.MonkeyPatch) -> None:
    model = build("llama")
    loaded = prepare(model, NO_CODEC)
    forward, sizes = model.forward, []

    def limited(**kwargs: Any) -> Any:
        sizes.append(kwargs["input_ids"].numel())
        if sizes[-1] > 200:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return forward(**kwargs)

    monkeypatch.setattr(model, "forward", limited)
    items, budget = random_items(300, long=False), Budget(1000)
    hf.score(loaded, items, budget)
    assert budget.tokens <= 200
    failed = sum(size > 200 for size in sizes)
    hf.score(loaded, items, budget)  # the next piece does not run out of memory again
    assert sum(size > 200 for size in sizes) == failed
    assert 0 < budget.share() <= 0.03


@pytest.mark.parametrize("tokens", [64, 1024, 4096, 65536])
def test_padding_is_at_most_three_percent_at_any_budget(tokens: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lengths as of Global-MMLU-Lite in seven languages, several options of several tokens among them."""
    rng = np.random.default_rng(0)
    model = build("llama")
    loaded = prepare(model, NO_CODEC)
    lengths = np.clip(rng.lognormal(3.2, 0.6, 400), 6, 120).astype(int)
    items = [
        Encoded(tuple(rng.integers(1, V, n).tolist()), tuple((t,) for t in ((1,), (2,), (3,), (4,))))
        for n in lengths
    ]
    positions = [0, 0]
    forward = model.forward

    def counted(**kwargs: Any) -> Any:
        ids = kwargs["input_ids"]
        positions[0] += ids.numel()
        positions[1] += int((ids == 0).sum())
        return forward(**kwargs)

    monkeypatch.setattr(model, "forward", counted)
    budget = Budget(tokens)
    hf.score(loaded, items, budget)
    assert (budget.computed, budget.padding) == tuple(positions)
    assert positions[1] <= 0.03 * positions[0]


def test_memory_is_flat_in_vocabulary_times_length() -> None:
    """64 questions of 500 tokens with 262,144 words: all logits in float32 would be 31 GiB."""
    config = transformers.LlamaConfig(
        vocab_size=262_144,
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=512,
    )
    loaded = prepare(transformers.LlamaForCausalLM(config).eval(), NO_CODEC)
    items = [Encoded(tuple([k + 1] * 500), (((1,),), ((2,),))) for k in range(64)]
    hf.score(loaded, items[:1])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = hf.score(loaded, items, 64 * 500)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    assert grown < 500  # MiB
    assert all(s.reason == "" for s in found)
    assert all(-14 < x < -11 for s in found for x in s.logprobs)


def test_a_model_without_an_output_head_is_refused() -> None:
    from maskedadv.errors import UnusableModel

    model = transformers.BertModel(
        transformers.BertConfig(vocab_size=V, hidden_size=32, num_hidden_layers=1, num_attention_heads=2)
    )
    with pytest.raises(UnusableModel):
        prepare(model, NO_CODEC)
