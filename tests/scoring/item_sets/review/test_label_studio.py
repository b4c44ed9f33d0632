"""A review in a real Label Studio: set up by the command, worked on by three people, taken home, decided.

Slow: installs Label Studio into the user's cache the first time, and makes its database.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pyarrow.parquet
import pytest

from tests.chromium import CHROMIUM, Browser

pytestmark = pytest.mark.slow

AR = "ما هي عاصمة دولة الإمارات العربية المتحدة؟ 😀 (UAE, 1971)"
ITEMS = [
    {"item": "ar-1", "subset": "CA", "language": "ar", "question": AR,
     "options": ["دبي", "أبو ظبي", "الشارقة 3", "<img src=x onerror=alert(1)>"], "answer": "B"},
    {"item": "ar-1", "subset": "CA", "language": "en", "question": "What is the capital of the UAE? (1971)",
     "options": ["Dubai", "Abu Dhabi", "Sharjah 3", "<img src=x onerror=alert(1)>"], "answer": "B"},
    {"item": "zh-1", "subset": "CS", "language": "zh", "question": "𠮷野家的端午节吃什么？",
     "options": ["粽子", "月饼"], "answer": "A"},
    {"item": "zh-1", "subset": "CS", "language": "en", "question": "What is eaten?",
     "options": ["Zongzi", "Mooncakes"], "answer": "A"},
    {"item": "sw-1", "subset": "CS", "language": "sw", "question": "2 + 2 ni ngapi?", "options": ["4", "5"],
     "answer": "A"},
]  # fmt: skip
WHO = ("ana", "ben", "chi")
# What each person answers: knowledge, label, time-sensitive, subject, sound, translation.
WORK = {
    ("ar-1", "ana"): ("regional", "CS", "no", "humanities", "yes", "good"),
    ("ar-1", "ben"): ("regional", "CS", "no", "social sciences", "yes", "good"),
    ("ar-1", "chi"): ("none", "CA", "yes", "other", "yes", "bad"),
    ("zh-1", "ana"): ("cultural", "CS", "no", "humanities", "yes", "bad"),
    ("zh-1", "ben"): ("cultural", "CS", "no", "humanities", "yes", "bad"),
    ("zh-1", "chi"): ("cultural", "CS", "no", "humanities", "yes", "good"),
    ("sw-1", "ana"): ("none", "CA", "no", "STEM", "no"),
    ("sw-1", "ben"): ("none", "CA", "no", "STEM", "no"),
    ("sw-1", "chi"): ("none", "CA", "no", "STEM", "yes"),
}
FIELDS = (
    "required_knowledge",
    "cultural_sensitivity_label",
    "time_sensitive",
    "subject_category",
    "sound",
    "translation",
)


def command(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "maskedadv", "items", "review", *words],
        capture_output=True, text=True, check=False,
    )  # fmt: skip


@contextmanager
def served(items: Path, folder: Path, port: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """`review start` until it says where it runs; the process and the address."""
    words = [
        "start",
        str(items),
        "-o",
        str(folder),
        "--port",
        port,
        *(x for w in WHO for x in ("--reviewer", w)),
    ]
    process = subprocess.Popen(
        [sys.executable, "-m", "maskedadv", "items", "review", *words], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        said = ""
        for line in process.stdout:
            said += line
            if found := re.search(r"runs at (http://127\.0\.0\.1:\d+);", line):
                yield process, found[1]
                return
        raise AssertionError(f"it did not start: {said}")
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        process.wait(60)


class Person:
    """Somebody who signs in with a password, as in a browser."""

    def __init__(self, url: str, email: str, password: str) -> None:
        self.url, self.cookies = url, CookieJar()
        self._open = urllib.request.build_opener(
            urllib.request.HTTPCookieProcessor(self.cookies), urllib.request.ProxyHandler({})
        ).open
        self._open(f"{url}/user/login/").read()
        form = {"email": email, "password": password, "csrfmiddlewaretoken": self._csrf()}
        request = urllib.request.Request(f"{url}/user/login/", urlencode(form).encode())
        request.add_header("Referer", f"{url}/user/login/")
        assert "login" not in self._open(request).url, "the password was not accepted"

    def _csrf(self) -> str:
        return next(str(c.value) for c in self.cookies if c.name == "csrftoken")

    def ask(self, path: str, body: Any = None) -> Any:
        request = urllib.request.Request(self.url + path, None if body is None else json.dumps(body).encode())
        request.add_header("Content-Type", "application/json")
        request.add_header("X-CSRFToken", self._csrf())
        request.add_header("Referer", self.url)
        return json.loads(self._open(request).read())


def result(
    answers: tuple[str, ...], spans: list[dict[str, Any]], texts: dict[str, str]
) -> list[dict[str, Any]]:
    """An annotation as Label Studio's page sends it."""
    found: list[dict[str, Any]] = [
        {"from_name": name, "type": "choices", "value": {"choices": [answer]}}
        for name, answer in zip(FIELDS, answers, strict=False)
    ]
    found += [
        {"from_name": "trigger_spans", "type": "labels", "value": {**span, "labels": ["Trigger"]}}
        for span in spans
    ]
    found += [{"from_name": k, "type": "textarea", "value": {"text": [v]}} for k, v in texts.items()]
    return [{**one, "to_name": "sheet", "id": f"r{n}", "origin": "manual"} for n, one in enumerate(found)]


def processes_say(secrets: list[str]) -> list[str]:
    """Command lines and environments of processes that hold a secret."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        for name in ("cmdline", "environ"):
            try:
                text = (process / name).read_bytes().decode("utf-8", "replace")
            except OSError:
                continue
            found += [f"{process.name} {name}" for secret in secrets if secret in text]
    return found


def listens_on(port: int) -> set[str]:
    """Addresses on which a program listens on a port, as Linux writes them."""
    found = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            local, state = line.split()[1], line.split()[3]
            if state == "0A" and int(local.rsplit(":", 1)[1], 16) == port:
                found.add(local.rsplit(":", 1)[0])
    return found


def in_the_browser(person: Person, project: int, task: int, work: tuple[str, ...], folder: Path) -> None:
    """Mark words and fill in the form as a person would; what the page looks like goes to `folder`."""
    with Browser(folder / "profile", 1400, 1700) as page:
        for c in person.cookies:
            page.send("Network.setCookie", name=c.name, value=c.value, url=person.url)
        page.open(f"{person.url}/projects/{project}/data?labeling=1")
        # The page draws the item twice; what is the same after a while stays.
        page.wait_for(
            f"new Promise(r => {{ const e = {EDITOR} && {SHEET};"
            " setTimeout(() => r(e && e.isConnected), 1500); })"
        )
        shown = page.run(
            f"(() => {{ const e = {SHEET}; const s = getComputedStyle(e.parentElement);"
            " return [s.direction, s.textAlign, document.querySelectorAll('img[src=x]').length]; })()"
        )
        assert shown == ["rtl", "right", 0], "the item runs from right to left, and its text is no HTML"
        page.wait_for("document.body.innerText.includes('Labeling Instructions')")
        page.press("Escape")
        page.wait_for("!document.body.innerText.includes('Labeling Instructions')")
        x, y = page.wait_for(LABEL)
        page.click(x, y)
        left, right, y = page.wait_for(PLACE)
        page.drag(left + 1, y, right - 1, y)
        page.wait_for("document.querySelectorAll('.rtl .htx-highlight').length > 0")
        for field, answer in zip(FIELDS, work, strict=True):
            n = 1 if field == "sound" else 0  # "yes" and "no" are answers of an earlier question, too
            boxes = f"document.querySelectorAll('input[type=checkbox][name={json.dumps(answer)}]')"
            page.run(f"{boxes}[{n}].click()")
        page.run(
            "[...document.querySelectorAll('textarea')].find(e => e.name.includes('explanation')).focus()"
        )
        page.write("About <b>the UAE</b>")
        page.picture(folder / "label-studio.png", whole=False)
        page.run(
            "[...document.querySelectorAll('button')].find(e => e.textContent.trim() === 'Submit').click()"
        )
        page.wait_for(
            f"fetch('/api/tasks/{task}').then(r => r.json()).then(t => "
            "t.annotations.some(a => a.result.some(r => r.from_name === 'explanation')))"
        )
        assert page.outside == [], "the page asks nobody else for anything"
        assert page.console == []


EDITOR = "document.querySelectorAll('input[type=checkbox][name=dialect]').length > 0"
SHEET = """[...document.querySelectorAll('.rtl *')].filter(e => !e.children.length || e.querySelector('br'))
  .find(e => e.textContent.includes('1971'))"""
LABEL = """(() => {
  const own = (e) => [...e.childNodes].some(c => c.nodeType === 3 && c.data.trim() === 'Trigger');
  const box = [...document.querySelectorAll('span, div')].find(own).getBoundingClientRect();
  return [box.left + 4, (box.top + box.bottom) / 2];
})()"""
PLACE = """(() => {
  const walk = document.createTreeWalker(document.querySelector('.rtl'), NodeFilter.SHOW_TEXT);
  for (let node; (node = walk.nextNode()); ) {
    const k = node.data.indexOf('UAE');
    if (k < 0) continue;
    const range = document.createRange();
    range.setStart(node, k);
    range.setEnd(node, k + 3);
    const box = range.getBoundingClientRect();
    return [box.left, box.right, (box.top + box.bottom) / 2];
  }
})()"""


def test_three_people_review_items_in_label_studio(tmp_path: Path) -> None:
    items, folder = tmp_path / "items.jsonl", tmp_path / "review"
    items.write_text("".join(json.dumps(x, ensure_ascii=False) + "\n" for x in ITEMS), "utf-8")

    # Killed without a word, it leaves no server behind, and the same command goes on.
    with served(items, folder, "0") as (process, url):
        port = url.rsplit(":", 1)[1]
        process.kill()
        process.wait()
    end = time.monotonic() + 60
    while listens_on(int(port)) and time.monotonic() < end:
        time.sleep(0.2)
    assert not listens_on(int(port))

    with served(items, folder, port) as (process, url):
        content = json.loads((folder / "accounts.json").read_text("utf-8"))
        accounts = {x["name"]: x for x in content["accounts"]}
        assert set(accounts) == {"owner", *WHO}
        secrets = [content["token"], *(x["password"] for x in accounts.values())]
        assert listens_on(int(port)) == {"0100007F"}, "on 127.0.0.1 alone"
        people = {who: Person(url, accounts[who]["email"], accounts[who]["password"]) for who in WHO}
        projects = {x["title"].split()[0]: x["id"] for x in people["ana"].ask("/api/projects")["results"]}
        assert sorted(projects) == ["ar", "sw", "zh"], "one project a language, none of them twice"
        tasks = {}
        for language, number in projects.items():
            listed = people["ana"].ask(f"/api/tasks?project={number}&fields=all")
            assert listed["total"] == 1
            tasks[f"{language}-1"] = listed["tasks"][0]["id"]
        sheet = people["ana"].ask(f"/api/tasks/{tasks['zh-1']}")["data"]["sheet"]
        festival = sheet.index("端午节")  # counted in code points, as the page does: see the browser's below
        spans = {"zh-1": [{"start": festival, "end": festival + 3, "text": "端午节"}]}
        mended = {"mended": "What is eaten at the Dragon Boat Festival?\n\nA. Zongzi\nB. Mooncakes"}
        for (item, who), work in WORK.items():
            if (item, who) == ("ar-1", "ana") and CHROMIUM is not None:
                continue
            texts = mended if item == "zh-1" and work[-1] == "bad" else {}
            texts = {**texts, "note": "too easy"} if (item, who) == ("sw-1", "ana") else texts
            body = {
                "result": result(work, spans.get(item, []) if who != "chi" else [], texts),
                "lead_time": 3,
            }
            people[who].ask(f"/api/tasks/{tasks[item]}/annotations/", body)
        if CHROMIUM is not None:
            pictures = Path(os.environ.get("MASKEDADV_PICTURES", str(tmp_path)))
            in_the_browser(people["ana"], projects["ar"], tasks["ar-1"], WORK["ar-1", "ana"], pictures)
        assert processes_say(secrets) == []
        assert not [s for s in secrets if s in (folder / "server.log").read_text("utf-8")]
    for path in (folder / "accounts.json", folder / "label_studio" / "label_studio.sqlite3"):
        assert path.stat().st_mode & 0o077 == 0, "nobody else reads it"
    assert folder.stat().st_mode & 0o077 == 0

    # Nobody serves it now: the export does, for as long as it takes.
    done = command("export", str(folder), "-o", str(tmp_path / "people.parquet"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("9 answers of 3 people on 3 items")
    assert not [s for s in secrets if s in done.stdout + done.stderr]
    assert not listens_on(int(port))
    rows = {
        (x["item"], x["annotator"]): x
        for x in pyarrow.parquet.read_table(tmp_path / "people.parquet").to_pylist()
    }
    assert set(rows) == set(WORK)
    for key, work in WORK.items():
        assert tuple(rows[key][field] for field in FIELDS if rows[key][field]) == work, key
    mark = {"text": "端午节", "part": "question", "start": 4, "end": 7}
    assert rows["zh-1", "ana"]["trigger_spans"] == [mark]
    if CHROMIUM is not None:
        start = AR.index("UAE")
        assert rows["ar-1", "ana"]["trigger_spans"] == [
            {"text": "UAE", "part": "question", "start": start, "end": start + 3}
        ]
        assert rows["ar-1", "ana"]["explanation"] == "About <b>the UAE</b>"

    done = command("import", str(tmp_path / "people.parquet"), "-o", str(tmp_path / "decisions.parquet"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("2 of 3 items stay")
    found = {x["item"]: x for x in pyarrow.parquet.read_table(tmp_path / "decisions.parquet").to_pylist()}
    # By hand from WORK: two of three say CS, regional, no, good; the subjects are three, so a tie.
    arabic = found["ar-1"]
    assert [arabic[f] for f in FIELDS] == ["regional", "CS", "no", "", "yes", "good"]
    assert (arabic["keep"], arabic["ties"], arabic["n_people"]) == (True, ["subject_category"], 3)
    # Two of three call the English bad and mended it alike.
    chinese = found["zh-1"]
    assert (chinese["keep"], chinese["translated_question"]) == (
        True,
        "What is eaten at the Dragon Boat Festival?",
    )
    assert chinese["translated_options"] == ["Zongzi", "Mooncakes"]
    assert chinese["trigger_spans"] == [mark]
    # Two of three say that it is not sound.
    assert (found["sw-1"]["keep"], found["sw-1"]["reason"]) == (False, "not sound: 2 to 1 (ana: too easy)")
