"""A key or a password is nowhere: not in files, not in what is printed, not in what a command is."""

from __future__ import annotations

import base64
import pickle
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("httpx2")

from maskedadv.errors import BadSetting
from maskedadv.scoring.endpoints.secrets import hide, read_address
from maskedadv.scoring.endpoints.settings import ApiSettings
from tests.scoring.endpoints.scripted import Response, chat, serve, write_questions
from tests.scoring.launch.test_launch import run

KEY = "sk-Very/Secret+Key-0123456789"
PASSWORD = "pass-Word:9876"
KEY_64 = base64.b64encode(KEY.encode()).decode()
LOGIN = base64.b64encode(f"me:{PASSWORD}".encode()).decode()


def everything(folder: Path) -> bytes:
    return b"".join(p.read_bytes() + str(p).encode() for p in folder.rglob("*") if p.is_file())


def is_there(text: bytes) -> bool:
    forms = [KEY, KEY[:12], KEY[-10:], KEY.lower(), "Word%3A9876", PASSWORD, LOGIN, KEY_64]
    return any(form.encode().lower() in text.lower() for form in forms)


REPLIES: dict[str, Response] = {
    "refused": (401, {"error": {"message": f"Incorrect API key provided: {KEY}."}}, {}),
    "part of it": (401, {"error": {"message": f"Key {KEY[:12]}... is not valid"}}, {}),
    "as the body": (500, f"<html>Authorization: Bearer {KEY}</html>".encode(), {}),
    "in base 64": (401, {"error": {"message": f"unknown key {KEY_64}"}}, {}),
    "small letters": (403, {"detail": KEY.lower()}, {}),
    "inside 200": (200, {"error": {"message": f"bad key {KEY}", "code": 401}}, {}),
    "no json": (200, f"key={KEY}".encode(), {}),
    "as the answer": (200, chat(f"Your key is {KEY}. The answer is B."), {}),
    "as a refusal": (200, {"choices": [{"message": {"refusal": f"No, {KEY}"}}]}, {}),
    "the password": (
        401,
        {"error": {"message": f"me:{PASSWORD} is unknown, {LOGIN}"}},
        {},
    ),
}


@pytest.mark.parametrize("kind", REPLIES)
def test_what_a_server_repeats_is_hidden(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    items = write_questions(tmp_path / "set.jsonl", 3)
    with serve(lambda _p, _b: REPLIES[kind]) as server:
        secret = server.url.replace("http://", "http://me:pass-Word%3A9876@") + f"?api-key={KEY}&version=1"
        monkeypatch.setenv("MY_ADDRESS", secret)
        code = run(
            "score", "run", items, "-o", tmp_path / "out", "-m", "m", "--api", "MY_ADDRESS", "--retries", 0
        )
    printed = capsys.readouterr()
    assert code == (0 if kind == "as the answer" else 1)
    assert not is_there((printed.out + printed.err).encode())
    assert not is_there(everything(tmp_path / "out"))
    assert "[hidden]" in printed.err or kind in {"as the answer", "as a refusal"}
    assert server.headers[0]["Authorization"].startswith("Basic ")
    assert server.requests[0][0].startswith("/v1/chat/completions?api-key=sk-")
    assert "version=1" in server.requests[0][0]


@pytest.mark.parametrize(
    "address",
    [
        f"https://me:{PASSWORD.replace(':', '%3A')}@host/v1",
        f"https://{KEY.replace('/', '%2F')}@host/v1",
        "https://host/v1?api-key=SECRETSECRET",
        "https://host/v1?access_token=SECRETSECRET",
        "https://host/v1?version=2&sig=SECRETSECRET",
    ],
)
def test_an_address_with_a_secret_is_not_taken_from_the_command_line(
    address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    items = write_questions(tmp_path / "set.jsonl", 1)
    assert run("score", "run", items, "-o", tmp_path / "out", "-m", "m", "--api", address) == 2
    said = capsys.readouterr().err
    assert "environment variable" in said
    assert not is_there(said.encode())
    assert "SECRET" not in said
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "address", ["localhost:8000", "foo", "ftp://host/v1", "http://", "http:///v1", "http://a:b"]
)
def test_what_is_no_address_is_refused(
    address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    items = write_questions(tmp_path / "set.jsonl", 1)
    assert run("score", "run", items, "-o", tmp_path / "out", "-m", "m", "--api", address) == 2
    assert "--api" in capsys.readouterr().err
    with pytest.raises(BadSetting):
        ApiSettings("m", address)


def test_settings_hold_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are shown, and handed to cluster jobs as files."""
    monkeypatch.setenv("MY_ADDRESS", f"https://me:secret-word@host:8443/v1/?api-key={KEY}&api-version=7")
    settings = ApiSettings("m", "MY_ADDRESS")
    assert settings.url == "https://host:8443/v1?api-version=7"
    for text in (repr(settings).encode(), pickle.dumps(settings), repr(settings.identity()).encode()):
        assert b"secret-word" not in text
        assert not is_there(text)
    assert settings == ApiSettings("m", "https://host:8443/v1?api-version=7")
    with pytest.raises(BadSetting, match="NO_SUCH"):
        ApiSettings("m", "NO_SUCH")


def test_hiding() -> None:
    assert hide("the key is abcdefghijkl!", ["abcdefghijkl"]) == "the key is [hidden]!"
    assert hide("İİİ ABCDEFGHIJ… and fghijkl", ["abcdefghijkl"]) == "İİİ [hidden]… and fghijkl"
    assert hide("pw: x9z", ["x9z"]) == "pw: [hidden]"
    assert hide("an answer", ["", "a"]) == "an answer"


def test_the_key_of_a_local_server_is_no_secret() -> None:
    from maskedadv.scoring.endpoints.secrets import secrets_of

    address = read_address("http://localhost:1/v1")
    assert secrets_of("none", address) == secrets_of("EMPTY", address) == ()


def test_secrets_are_not_sent_to_another_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that sends elsewhere: the key does not go along."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    items = write_questions(tmp_path / "set.jsonl", 1)
    with serve(lambda _p, _b: (200, chat(), {})) as other:
        place = other.url.replace("127.0.0.1", "localhost") + "/chat/completions"

        def moved(_path: str, _body: dict[str, Any]) -> Response:
            return 307, b"", {"Location": place}

        with serve(moved) as server:
            run("score", "run", items, "-o", tmp_path / "out", "-m", "m", "--api", server.url)
    assert all("Authorization" not in headers for headers in other.headers)
