"""A review on a real Argilla server, through its own client; what stands in is the server's search engine.

Slow: installs server and client into the user's cache the first time. Needs redis-server.
"""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from maskedadv.errors import BadSetting, ReviewServerFailed
from maskedadv.scoring.item_sets.review import decide, export, started
from maskedadv.scoring.item_sets.review.argilla import record_id
from maskedadv.scoring.item_sets.review.environments import bare_variables, environment
from maskedadv.scoring.item_sets.review.label_studio import free_port
from maskedadv.scoring.item_sets.review.tasks import make_tasks
from maskedadv.scoring.items.items import Item

REDIS = shutil.which("redis-server")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(REDIS is None, reason="needs redis-server")]

SERVER = ("argilla-server==2.8.0", "click<8.2")  # with a newer click its commands do not start
QUESTION = "𠮷 ما هي العاصمة؟ <b>& lt</b>"
ITEMS = [
    Item("i/1", "CA", "ar", QUESTION, ("دبي", "أبو ظبي"), 1),
    Item("i/1", "CA", "en", "Which is the capital?", ("Dubai", "Abu Dhabi"), 1),
    Item("i 2", "CS", "zh", "端午节吃什么？", ("粽子", "月饼"), 0),
]
WHO = ("ana", "ben", "chi")
LABELS = {"ana": "CS", "ben": "CS", "chi": "CA"}


class Argilla:
    """A server, as its people see it."""

    def __init__(self, url: str) -> None:
        self.url = url

    def ask(self, who: str, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        headers = {"X-Argilla-Api-Key": f"key.of.{who}", "Content-Type": "application/json"}
        request = urllib.request.Request(f"{self.url}/api/v1{path}", data, headers)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        return json.loads(opener.open(request, timeout=60).read())


@contextmanager
def process(*words: str, **more: Any) -> Iterator[subprocess.Popen[bytes]]:
    running = subprocess.Popen([*words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **more)
    try:
        yield running
    finally:
        running.send_signal(signal.SIGTERM)
        try:
            running.wait(20)
        except subprocess.TimeoutExpired:
            running.kill()
            running.wait()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Argilla]:
    home = tmp_path_factory.mktemp("argilla")
    python = str(environment(SERVER, None, print))
    engine, redis, port = free_port(), free_port(), free_port()
    variables = {
        **bare_variables(),
        "HOME": str(home),
        "ARGILLA_HOME_PATH": str(home),
        "ARGILLA_ELASTICSEARCH": f"http://127.0.0.1:{engine}",
        "ARGILLA_REDIS_URL": f"redis://127.0.0.1:{redis}/0",
        "HF_HUB_OFFLINE": "1",
    }
    own = Path(__file__).with_name("search_engine.py")
    assert REDIS is not None
    with (
        process(sys.executable, str(own), str(engine)),
        process(REDIS, "--port", str(redis), "--bind", "127.0.0.1", "--save", "", cwd=home),
    ):

        def manage(*words: str) -> None:
            command = [python, "-m", "argilla_server", "database", *words]
            done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stdout + done.stderr

        manage("migrate")
        for who, role in (("owner", "owner"), *((w, "annotator") for w in WHO)):
            words = ["--username", who, "--first-name", who, "--password", f"password-{who}", "--role", role]
            manage("users", "create", *words, "--api-key", f"key.of.{who}", "--workspace", "team")
        serve = [python, "-m", "uvicorn", "argilla_server:app", "--host", "127.0.0.1", "--port", str(port)]
        with process(*serve, env=variables) as running:
            found = Argilla(f"http://127.0.0.1:{port}")
            end = time.monotonic() + 120
            while True:
                try:
                    found.ask("owner", "/me")
                    break
                except (urllib.error.URLError, ConnectionError):
                    assert running.poll() is None
                    assert time.monotonic() < end
                    time.sleep(0.3)
            yield found


def test_three_people_review_items_in_argilla(
    server: Argilla, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_ARGILLA", "key.of.owner")
    folder = tmp_path / "review"
    more: dict[str, Any] = {"tool": "argilla", "url": server.url, "token_variable": "MY_ARGILLA"}
    for _ in range(2):  # the second time goes on with what is there
        with started(ITEMS, folder, workspace="team", **more) as review:
            assert (len(review.pages), review.n_tasks) == (2, 2)
    assert "key.of" not in "".join(p.read_text("utf-8") for p in folder.iterdir())
    datasets = {x["name"]: x["id"] for x in server.ask("ana", "/me/datasets")["items"]}
    assert sorted(datasets) == sorted(review.pages)
    tasks = {record_id(x): x for x in make_tasks(ITEMS)}
    for name, number in datasets.items():
        (record,) = server.ask("owner", f"/datasets/{number}/records")["items"]
        task = tasks[record["external_id"]]
        sheet = record["fields"]["sheet"]
        assert len(sheet) == len(task.sheet), "places in what is shown are places in the item"
        assert "<" not in sheet, "a text field is HTML to Argilla's page"
        questions = {x["name"] for x in server.ask("owner", f"/datasets/{number}/questions")["items"]}
        assert ("translation" in questions) == (task.english is not None) == ("-no-english-" not in name)
        for who in WHO:
            given = {
                "required_knowledge": "regional" if LABELS[who] == "CS" else "none",
                "cultural_sensitivity_label": LABELS[who],
                "time_sensitive": "no",
                "subject_category": "other",
                "sound": "yes",
                "explanation": "Why <b>\nnot",
            }
            if task.english is not None:
                given |= {"translation": "bad" if who != "chi" else "good"}
                given |= {"mended": "Which city?\n\nA. Dubai\nB. Abu Dhabi"} if who == "ana" else {}
            values = {k: {"value": v} for k, v in given.items()}
            if task.language == "ar":
                at = sheet.index("العاصمة") + 1  # Argilla's page counts 𠮷 twice, as browsers do
                values["trigger_spans"] = {"value": [{"start": at, "end": at + 7, "label": "trigger"}]}  # type: ignore[dict-item]
            status = "draft" if (who, task.language) == ("chi", "zh") else "submitted"
            server.ask(who, f"/records/{record['id']}/responses", {"values": values, "status": status})

    people = export(folder)
    rows = {(x["item"], x["annotator"]): x for x in people.to_pylist()}
    assert set(rows) == {("i/1", w) for w in WHO} | {("i 2", w) for w in ("ana", "ben")}, "a draft is none"
    at = QUESTION.index("العاصمة")
    assert rows["i/1", "ben"]["trigger_spans"] == [
        {"text": "العاصمة", "part": "question", "start": at, "end": at + 7}
    ]
    assert rows["i/1", "ana"]["explanation"] == "Why <b> not"
    found = {x["item"]: x for x in decide(people).to_pylist()}
    # Two of three say CS and call the English bad; one mended it.
    assert (found["i/1"]["cultural_sensitivity_label"], found["i/1"]["keep"]) == ("CS", True)
    assert found["i/1"]["translated_question"] == "Which city?"
    assert (found["i 2"]["n_people"], found["i 2"]["keep"]) == (2, True)


def test_what_argilla_refuses_is_a_sentence_without_the_token(
    server: Argilla, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    more: dict[str, Any] = {"tool": "argilla", "url": server.url, "token_variable": "MY_ARGILLA"}
    monkeypatch.setenv("MY_ARGILLA", "key.of.nobody")
    with pytest.raises(ReviewServerFailed) as caught, started(ITEMS, tmp_path / "a", **more):
        pass
    assert "key.of.nobody" not in str(caught.value)
    monkeypatch.setenv("MY_ARGILLA", "key.of.owner")
    with pytest.raises(BadSetting, match="no workspace 'nowhere'"):  # noqa: SIM117
        with started(ITEMS, tmp_path / "b", workspace="nowhere", **more):
            pass
