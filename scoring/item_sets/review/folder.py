"""The folder of a review: what it is of, where it runs, and who may sign in."""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from maskedadv.errors import BadSetting, NotAResult
from maskedadv.files.atomic import write_whole
from maskedadv.scoring.item_sets.review.tasks import Task

MARKER = "review.json"
_ACCOUNTS = "accounts.json"
_TASKS = "tasks.json"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,60}")
_HOST = "review.local"  # of the addresses that Label Studio wants; nothing is ever sent there


@dataclass(frozen=True)
class Account:
    """Somebody who may sign in."""

    role: str  # owner or reviewer
    name: str
    email: str
    password: str = field(repr=False)


@dataclass(frozen=True)
class Accounts:
    """Who may sign in to the Label Studio of a folder, and its token; in a file that only its owner reads."""

    accounts: tuple[Account, ...]
    token: str = field(repr=False)


@dataclass(frozen=True)
class Review:
    """What `review.json` holds.

    Attributes
    ----------
    fingerprint
        Of what people see.
    tool
        `label-studio` or `argilla`.
    url
        Address of the user's own server; '' where `review start` runs Label Studio.
    token_variable
        Environment variable with the token of the user's own server.
    port
        Where `review start` runs Label Studio.
    environment
        Folder of its environment, '' for the default.
    workspace
        Of Argilla.
    projects
        Names of the projects or data sets.
    """

    fingerprint: str
    tool: str
    url: str = ""
    token_variable: str = ""
    port: int = 0
    environment: str = ""
    workspace: str = ""
    projects: tuple[str, ...] = ()


def write_review(folder: Path, review: Review) -> None:
    """Write `review.json`, whole or not at all."""
    text = json.dumps(asdict(review), indent=1, ensure_ascii=False)
    write_whole(folder / MARKER, lambda partial: partial.write_text(text, "utf-8"))


def read_review(folder: Path) -> Review:
    """What a folder is a review of.

    Raises
    ------
    NotAResult
        It is none.
    """
    try:
        content = json.loads((folder / MARKER).read_text("utf-8"))
        review = Review(**{**content, "projects": _texts(content["projects"])})
        _texts([value for name, value in content.items() if name not in {"projects", "port"}])
        return review
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise NotAResult(
            f"{folder} is not a folder that maskedadv items review start made (no {MARKER} of ours)."
        ) from error


def write_tasks(folder: Path, tasks: Sequence[Task]) -> None:
    """Write what people see, for tools that do not give it back."""
    text = json.dumps([asdict(x) for x in tasks], ensure_ascii=False)
    write_whole(folder / _TASKS, lambda partial: partial.write_text(text, "utf-8"))


def read_tasks(folder: Path) -> list[Task]:
    """What people see.

    Raises
    ------
    NotAResult
    """
    try:
        rows = json.loads((folder / _TASKS).read_text("utf-8"))
        return [_task(x) for x in rows]
    except (OSError, ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise NotAResult(f"{folder / _TASKS} is not what maskedadv items review start wrote.") from error


def _task(row: dict[str, Any]) -> Task:
    english = row["english"]
    if english is not None:
        english = (*_texts(english[:1]), _texts(english[1]))
    task = Task(**{**row, "options": _texts(row["options"]), "english": english})
    _texts([task.item, task.language, task.question, task.about])
    return task


def _texts(values: list[Any]) -> tuple[str, ...]:
    """The values, which are all texts.

    Raises
    ------
    TypeError
    """
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise TypeError(f"{values!r} is no list of texts")
    return tuple(values)


def token_in(variable: str) -> str:
    """A token from an environment variable.

    Raises
    ------
    BadSetting
    """
    token = os.environ.get(variable, "").strip()
    if not token:
        raise BadSetting(
            f"the environment variable {variable} holds no token; put the server's API token there."
        )
    return token


def accounts_of(folder: Path, names: Sequence[str]) -> Accounts:
    """The accounts of a folder, with new ones for names that are new; passwords once made stay.

    Raises
    ------
    BadSetting
        A name that cannot be part of an address.
    """
    if bad := [name for name in names if not _NAME.fullmatch(name) or name == "owner"]:
        raise BadSetting(
            f"the reviewer {bad[0]!r}: a name has letters a-z, digits, dots and dashes, and is not owner."
        )
    path = folder / _ACCOUNTS
    if path.exists():
        content = json.loads(path.read_text("utf-8"))
        known = Accounts(tuple(Account(**x) for x in content["accounts"]), content["token"])
    else:
        known = Accounts((_account("owner", "owner"),), secrets.token_hex(20))
    there = {x.name for x in known.accounts}
    new = [_account("reviewer", name) for name in dict.fromkeys(names) if name not in there]
    found = Accounts((*known.accounts, *new), known.token)
    text = json.dumps(asdict(found), indent=1)

    def write(partial: Path) -> None:
        partial.touch()
        partial.chmod(0o600)
        partial.write_text(text, "utf-8")

    if new or not path.exists():
        write_whole(path, write)
    return found


def accounts_path(folder: Path) -> Path:
    """Where the accounts of a folder stand."""
    return folder / _ACCOUNTS


def _account(role: str, name: str) -> Account:
    return Account(role, name, f"{name}@{_HOST}", secrets.token_urlsafe(12))
