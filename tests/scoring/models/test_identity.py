"""What a model is known by: nothing that changes its answers may leave its fingerprint as it was."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from maskedadv.errors import UnusableModel
from maskedadv.scoring.launch.plan import Unit, fingerprint, make_pieces
from maskedadv.scoring.launch.store import answer_path
from maskedadv.scoring.models.settings import HfSettings

pytest.importorskip("transformers")
huggingface_hub = pytest.importorskip("huggingface_hub")

from maskedadv.scoring.items.items import Item  # noqa: E402
from maskedadv.scoring.models import identity  # noqa: E402
from maskedadv.scoring.prompts.prompts import load_prompts  # noqa: E402

FIRST, SECOND = "1" * 40, "a" * 40
PIECES = make_pieces({"s": [Item("q1", "CA", "en", "Who?", ("a", "b"), 0)]}, load_prompts())


def file_of(one: HfSettings) -> Path:
    """Where the answers of a model with these settings would lie."""
    unit = Unit("m", one, PIECES)
    return answer_path(Path("out"), fingerprint(unit, PIECES[0], identity.identify(one)))


@pytest.fixture
def whole_model(tiny_model: Path, tmp_path: Path) -> Path:
    """A folder with everything that a published model may bring along."""
    folder = tmp_path / "model"
    shutil.copytree(tiny_model, folder)
    (folder / "additional_chat_templates").mkdir()
    (folder / "additional_chat_templates" / "tool.jinja").write_text("{{ messages }}")
    (folder / "chat_template.jinja").write_text("{{ messages[0] }}")
    (folder / "special_tokens_map.json").write_text('{"bos_token": "<s>"}')
    (folder / "vocab.txt").write_text("a\nb\n")
    (folder / "merges.txt").write_text("a b\n")
    (folder / "modeling_own.py").write_text("x = 1\n")
    (folder / "parts").mkdir()
    (folder / "parts" / "layer.py").write_text("x = 1\n")
    (folder / "parts" / "more.safetensors").write_bytes(b"12345678")
    named = json.dumps({"weight_map": {"a": "model.safetensors", "b": "parts/more.safetensors"}})
    (folder / "named.index.json").write_text(named)
    return folder


def test_every_file_of_a_folder_decides_where_answers_lie(whole_model: Path) -> None:
    """One byte of each file is changed in turn, its size and its time kept as they were."""
    base = identity.hash_folder(whole_model)
    seen = {base}
    files = sorted(p for p in whole_model.rglob("*") if p.is_file())
    assert len(files) >= 12
    for path in files:
        content, times = path.read_bytes(), path.stat()
        for place in {0, len(content) // 2, len(content) - 1}:
            path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
            seen.add(identity.hash_folder(whole_model))
        path.write_bytes(content)
    assert len(seen) == 1 + sum(len({0, (n := p.stat().st_size) // 2, n - 1}) for p in files)
    assert identity.hash_folder(whole_model) == base


def test_names_of_files_count_and_what_is_beside_the_model_does_not(whole_model: Path) -> None:
    base = identity.hash_folder(whole_model)
    (whole_model / ".git").mkdir()
    (whole_model / ".git" / "index").write_text("x")
    (whole_model / "parts" / "optimizer.pt").write_text("x")  # named by no index
    assert identity.hash_folder(whole_model) == base
    (whole_model / "vocab.txt").rename(whole_model / "vocabulary.txt")
    assert identity.hash_folder(whole_model) != base


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_a_changed_model_never_shares_an_answer_file(tiny_model: Path, data: st.DataObject) -> None:
    """Through the settings a user gives, with any one weight, token or word of a template changed."""
    import tempfile

    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "m"
        shutil.copytree(tiny_model, folder)
        one = HfSettings(str(folder), device="cpu")
        before = file_of(one)
        assert file_of(one) == before
        path = data.draw(st.sampled_from(sorted(p for p in folder.iterdir() if p.suffix != ".py")))
        content = path.read_bytes()
        if path.suffix == ".safetensors":
            begin = 8 + int.from_bytes(content[:8], "little")
            byte = data.draw(st.integers(begin, len(content) - 1))
            path.write_bytes(content[:byte] + bytes([content[byte] ^ 4]) + content[byte + 1 :])
        else:
            path.write_bytes(content + b"\n")
        assert file_of(one) != before


@pytest.mark.parametrize(
    "change",
    [
        {"dtype": "bfloat16"},
        {"attention": "eager"},
        {"trust_remote_code": True},
        {"device": "cuda"},
        {"dtype": "bfloat16", "max_tokens": 64},
    ],
)
def test_settings_that_change_answers(tiny_model: Path, change: dict[str, Any]) -> None:
    one = HfSettings(str(tiny_model), dtype="float32", device="cpu")
    assert file_of(replace(one, **change)) != file_of(one)


def test_the_size_of_a_batch_does_not_count_where_it_does_not_matter(tiny_model: Path) -> None:
    one = HfSettings(str(tiny_model), dtype="float32", device="cpu")
    half = replace(one, dtype="bfloat16")
    assert file_of(replace(one, max_tokens=64)) == file_of(one)
    assert file_of(replace(half, max_tokens=64)) != file_of(half)


# --- the hub -------------------------------------------------------------------------------------


@pytest.fixture
def hub(tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The hub's cache with a model at two commits, main being the first; no network."""
    place = tmp_path / "hub"
    for commit in (FIRST, SECOND):
        shutil.copytree(tiny_model, place / "models--org--tiny" / "snapshots" / commit)
    refs = place / "models--org--tiny" / "refs"
    refs.mkdir()
    (refs / "main").write_text(FIRST)
    (refs / "v2").write_text(SECOND)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(place))
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    return refs


def test_without_a_network_the_snapshot_names_the_commit(hub: Path) -> None:
    one = HfSettings("org/tiny", device="cpu")
    assert identity.identify(one)["revision"] == FIRST
    before = file_of(one)
    assert file_of(replace(one, revision="v2")) != before
    assert file_of(replace(one, revision=FIRST)) == before
    (hub / "main").write_text(SECOND)  # what a download of a new commit leaves
    assert file_of(one) == file_of(replace(one, revision=SECOND)) != before


@pytest.mark.usefixtures("hub")
def test_with_a_network_the_hub_names_the_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def info(_: Any, path: str, *, revision: str | None, timeout: float) -> Any:
        assert timeout > 0
        asked.append((path, revision))
        return type("Info", (), {"sha": SECOND})()

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(huggingface_hub.HfApi, "model_info", info)
    assert identity.pin(HfSettings("org/tiny")).revision == SECOND  # the cache still has the first
    assert asked == [("org/tiny", None)]

    def no_network(*_: Any, **__: Any) -> Any:
        raise OSError("no route to host")

    monkeypatch.setattr(huggingface_hub.HfApi, "model_info", no_network)
    assert identity.pin(HfSettings("org/tiny")).revision == FIRST
    with pytest.raises(UnusableModel, match=r"org/other.*no route to host"):
        identity.pin(HfSettings("org/other"))


@pytest.mark.usefixtures("hub")
def test_a_revision_is_never_null() -> None:
    for name in ("org/other", "org/tiny@no-such-branch"):
        path, _, revision = name.partition("@")
        with pytest.raises(UnusableModel, match="its commit cannot be found"):
            identity.identify(HfSettings(path, revision or None))


# --- remembered hashes ---------------------------------------------------------------------------


def test_large_files_are_hashed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(identity, "_memory", lambda: tmp_path / "cache" / "hashes.json")
    monkeypatch.setattr(identity, "_LARGE", 8)
    monkeypatch.setattr(identity, "_SETTLED", -1)
    monkeypatch.setattr(identity, "_CHUNK", 4)
    folder = tmp_path / "m"
    folder.mkdir()
    (folder / "w.bin").write_bytes(b"0123456789")
    (folder / "small").write_bytes(b"1")
    first = identity.hash_folder(folder)
    read = []
    pread = os.pread
    monkeypatch.setattr(os, "pread", lambda *a: read.append(a) or pread(*a))
    assert identity.hash_folder(folder) == first
    assert len(read) == 1  # the small file
    times = (folder / "w.bin").stat()
    (folder / "w.bin").write_bytes(b"0123456788")
    os.utime(folder / "w.bin", ns=(times.st_atime_ns, times.st_mtime_ns))  # as cp --preserve does
    assert identity.hash_folder(folder) != first


def test_a_file_that_was_changed_just_now_is_not_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(identity, "_memory", lambda: tmp_path / "cache" / "hashes.json")
    monkeypatch.setattr(identity, "_LARGE", 8)
    folder = tmp_path / "m"
    folder.mkdir()
    (folder / "w.bin").write_bytes(b"0123456789")
    identity.hash_folder(folder)
    assert not (tmp_path / "cache").exists()
