"""A review in Label Studio: its server, its projects, and what people did there."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from maskedadv.errors import BadSetting, NothingToImport, ReviewServerFailed
from maskedadv.files.claims import claim
from maskedadv.scoring.item_sets.review import label_studio_api as api
from maskedadv.scoring.item_sets.review.environments import LABEL_STUDIO, bare_variables, environment
from maskedadv.scoring.item_sets.review.folder import Accounts, Review, accounts_of, token_in
from maskedadv.scoring.item_sets.review.label_studio_interface import GUIDE, interface
from maskedadv.scoring.item_sets.review.label_studio_work import rows_of, task_json
from maskedadv.scoring.item_sets.review.tasks import Task, by_language, direction_of

_SCRIPT = Path(__file__).with_name("label_studio_server.py")
_LOG = "server.log"
_READY = ".maskedadv-ready"
_SECONDS = 600  # until the server is there; making the database takes a minute on two cores


@contextmanager
def running(
    folder: Path, review: Review, accounts: Accounts, report: Callable[[str], None]
) -> Iterator[api.Server]:
    """Run Label Studio in a folder of ours, until the end of the block.

    Raises
    ------
    BadSetting
        The port is taken.
    OutputExists
        Another process runs it in this folder.
    ReviewServerFailed
    """
    url = f"http://127.0.0.1:{review.port}"
    if _taken(review.port):
        raise BadSetting(f"port {review.port} is taken by another program; give another one with --port.")
    data = folder / "label_studio"
    with claim(data):
        python = environment(LABEL_STUDIO, Path(review.environment) if review.environment else None, report)
        with _served(folder, data, python, review.port, accounts, report):
            yield api.Server(url, accounts.token)


@contextmanager
def _served(
    folder: Path, data: Path, python: Path, port: int, accounts: Accounts, report: Callable[[str], None]
) -> Iterator[None]:
    ready = data / _READY
    if not ready.exists():
        shutil.rmtree(data, ignore_errors=True)  # a database half made, in which nobody can have worked
    data.mkdir(mode=0o700, exist_ok=True)
    spec = {
        "folder": str(data.resolve()),
        "port": port,
        "token": accounts.token,
        "accounts": [asdict(x) for x in accounts.accounts],
    }
    with (folder / _LOG).open("wb") as log:
        process = subprocess.Popen(
            [str(python), "-I", str(_SCRIPT)],
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=data,
            env={**bare_variables(), "HOME": str(data.resolve())},
            start_new_session=True,  # Ctrl-C comes to us alone, and we end it
        )
        try:
            assert process.stdin is not None
            process.stdin.write(json.dumps(spec).encode() + b"\n")
            process.stdin.flush()
            report("Starting Label Studio" + ("" if ready.exists() else " (the first time a minute)"))
            _wait(process, f"http://127.0.0.1:{port}", folder / _LOG, accounts)
            ready.touch()
            yield
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait(process: subprocess.Popen[bytes], url: str, log: Path, accounts: Accounts) -> None:
    end = time.monotonic() + _SECONDS
    while not api.alive(url):
        if process.poll() is not None or time.monotonic() > end:
            lines = log.read_text("utf-8", "replace").strip().splitlines()
            said = lines[-1][:300] if lines else "no word"
            for secret in (accounts.token, *(x.password for x in accounts.accounts)):
                said = said.replace(secret, "[hidden]")
            raise ReviewServerFailed(f"Label Studio did not start ({said}); see {log}.")
        time.sleep(0.3)


def make_projects(
    server: api.Server,
    tasks: Sequence[Task],
    fingerprint: str,
    per_item: int,
    suggested: Mapping[tuple[str, str], Mapping[str, Any]],
    report: Callable[[str], None],
) -> dict[str, str]:
    """A project for every language, with its tasks, where they are not there yet; title to address for work.

    The address is that of one item after the other, where nobody sees what others answered.

    Raises
    ------
    ReviewServerFailed
    """
    pages = {}
    for (language, counterpart), some in by_language(tasks).items():
        title = f"{language}{'' if counterpart else ' without English'} · review {fingerprint[:8]}"
        config = interface(language, direction_of(some), counterpart=counterpart)
        found = api.projects(server, title)
        number = found[0]["id"] if found else api.make_project(server, title, config, GUIDE, per_item)
        there = api.task_keys(server, number) if found else set()
        missing = [x for x in some if (x.item, x.language) not in there]
        if missing:
            report(f"Adding items to {title!r}: {len(missing):,}")
        api.add_tasks(server, number, [task_json(x, suggested.get((x.item, x.language))) for x in missing])
        pages[title] = f"{server.url}/projects/{number}/data?labeling=1"
    return pages


def people_in(server: api.Server, titles: Sequence[str], accounts: Accounts | None) -> list[dict[str, Any]]:
    """Rows of `people.PEOPLE` of the projects with these titles.

    Raises
    ------
    NothingToImport
        A project is gone.
    ReviewServerFailed
    """
    names = api.annotators(server)
    if accounts is not None:
        ours = {x.email: x.name for x in accounts.accounts}
        names = {number: ours.get(email, email) for number, email in names.items()}
    rows = []
    for title in titles:
        found = api.projects(server, title)
        if not found:
            raise NothingToImport(f"Label Studio at {server.url} has no project {title!r} any more.")
        rows += rows_of(api.exported(server, found[0]["id"]), names, f"project {title!r}")
    return rows


@contextmanager
def server_of(
    folder: Path, review: Review, report: Callable[[str], None]
) -> Iterator[tuple[api.Server, Accounts | None]]:
    """The Label Studio of a review: the user's own, the one that runs, or else one started for the block."""
    if review.url:
        yield api.Server(review.url, token_in(review.token_variable)), None
        return
    accounts = accounts_of(folder, ())
    server = api.Server(f"http://127.0.0.1:{review.port}", accounts.token)
    if api.alive(server.url):
        yield server, accounts
        return
    with running(folder, review, accounts, report) as own:
        yield own, accounts


def free_port() -> int:
    """A port that no program listens on."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


def _taken(port: int) -> bool:
    with socket.socket() as s:
        if sys.platform != "win32":
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            s.bind(("127.0.0.1", port))
        except OSError:
            return True
    return False
