"""The doors of a review: begin it, take home what people did, decide."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from maskedadv.checks import Whole
from maskedadv.errors import BadSetting, NothingToImport, UnreadableFile, WrongFormat
from maskedadv.files.folders import check_folder
from maskedadv.scoring.item_sets.review import argilla, label_studio
from maskedadv.scoring.item_sets.review import label_studio_api as api
from maskedadv.scoring.item_sets.review.folder import (
    MARKER,
    Review,
    accounts_of,
    read_review,
    read_tasks,
    token_in,
    write_review,
    write_tasks,
)
from maskedadv.scoring.item_sets.review.label_studio_work import rows_of
from maskedadv.scoring.item_sets.review.people import people_table
from maskedadv.scoring.item_sets.review.tasks import Task, fingerprint, make_tasks
from maskedadv.scoring.items.items import Item

TOOLS = ("label-studio", "argilla")


@dataclass(frozen=True)
class Started:
    """A review that people can work on.

    Attributes
    ----------
    url
        Where.
    pages
        Addresses where people work, by the names of projects or data sets, one per language.
    n_tasks
        Items to look at.
    """

    url: str
    pages: Mapping[str, str]
    n_tasks: int


@contextmanager
def started(
    items: Sequence[Item],
    folder: Path,
    *,
    translations: pa.Table | None = None,
    suggest: pa.Table | None = None,
    tool: str = "label-studio",
    reviewers: Sequence[str] = (),
    per_item: int = 3,
    port: int = 8080,
    environment: Path | None = None,
    url: str = "",
    token_variable: str = "",
    workspace: str = "",
    report: Callable[[str], None] = lambda _: None,
) -> Iterator[Started]:
    """Make a review, or go on with it, for the time of the block.

    Label Studio runs on 127.0.0.1 until the end of the block, unless `url` names a server of the user's own.
    Calling this again with the same items goes on where people are.

    Parameters
    ----------
    items
        Local items and, where there are any, their counterparts.
    folder
        Where the review lives: accounts, the database of Label Studio, `review.json`.
    translations
        `tables.TRANSLATIONS`: counterparts, and remarks on them.
    suggest
        `tables.ANNOTATIONS` of a model, shown as a start; then agreement with that model says little.
    reviewers
        Names of people who get an account in the folder's own Label Studio.
    per_item
        How many people look at an item.
    environment
        Folder of the environment of Label Studio or Argilla's client; the user's cache by default.
    url, token_variable
        A server of the user's own, and the environment variable with its token.
    workspace
        Of Argilla; its first by default.
    report
        Told in words what takes long.

    Raises
    ------
    InputError, ReviewServerFailed
    """
    if tool not in TOOLS:
        raise BadSetting(f"there is no tool {tool!r}; known: {', '.join(TOOLS)}.")
    if tool == "argilla" and not url:
        raise BadSetting("Argilla is a server of your own: give its address with --url.")
    Whole(1, 100)("per_item", per_item)
    tasks = make_tasks(items, translations)
    suggested = _suggestions(suggest, tasks)
    review = Review(
        fingerprint(tasks),
        tool,
        url=api.check_url(url) if url else "",
        token_variable=token_variable or {"argilla": "ARGILLA_API_KEY"}.get(tool, "LABEL_STUDIO_API_KEY")
        if url
        else "",
        port=0 if url else port or label_studio.free_port(),
        environment=str(environment.absolute()) if environment else "",
        workspace=workspace,
    )
    check_folder(folder, MARKER, review.fingerprint, overwrite=False)
    if url:
        token_in(review.token_variable)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not (folder / MARKER).exists():
        write_review(folder, review)
    if tool == "argilla":
        write_tasks(folder, tasks)
    with _server(
        folder, review, reviewers or [f"reviewer-{k}" for k in range(1, per_item + 1)], report
    ) as server:
        if tool == "argilla":
            names = argilla.make_datasets(review, tasks, per_item, suggested, report)
            pages = dict.fromkeys(names, review.url)
        else:
            assert server is not None
            pages = label_studio.make_projects(server, tasks, review.fingerprint, per_item, suggested, report)
        review = dataclasses.replace(review, projects=tuple(pages))
        write_review(folder, review)
        yield Started(review.url or f"http://127.0.0.1:{review.port}", pages, len(tasks))


def export(source: Path, *, report: Callable[[str], None] = lambda _: None) -> pa.Table:
    """What people did: a table of `people.PEOPLE`, which `maskedadv annotation evaluate` takes, too.

    Parameters
    ----------
    source
        The folder of a review, or a file that Label Studio exported as JSON.

    Raises
    ------
    InputError, ReviewServerFailed
    NothingToImport
        Nobody has submitted anything.
    """
    if source.is_dir():
        review = read_review(source)
        if not review.projects:
            raise NothingToImport(f"{source}: the review has not been set up to its end; start it again.")
        if review.tool == "argilla":
            rows = argilla.people_in(review, read_tasks(source), report)
        else:
            with label_studio.server_of(source, review, report) as (server, accounts):
                rows = label_studio.people_in(server, review.projects, accounts)
    else:
        rows = rows_of(_json(source), {}, str(source))
    if not rows:
        raise NothingToImport("nobody has submitted anything yet.")
    return people_table(rows)


@contextmanager
def _server(
    folder: Path, review: Review, reviewers: Sequence[str], report: Callable[[str], None]
) -> Iterator[api.Server | None]:
    if review.tool == "argilla":
        yield None
    elif review.url:
        yield api.Server(review.url, token_in(review.token_variable))
    else:
        with label_studio.running(folder, review, accounts_of(folder, reviewers), report) as server:
            yield server


def _suggestions(
    table: pa.Table | None, tasks: Sequence[Task]
) -> Mapping[tuple[str, str], Mapping[str, Any]]:
    """The first annotator's row of each item that has fields."""
    found: dict[tuple[str, str], Mapping[str, Any]] = {}
    for row in () if table is None else table.to_pylist():
        if not row["reason"]:
            found.setdefault((row["item"], row["language"]), row)
    if table is not None and not any((x.item, x.language) in found for x in tasks):
        raise BadSetting("the labels to start from are of other items: no item and language is in both.")
    return found


def _json(path: Path) -> list[Mapping[str, Any]]:
    try:
        content = json.loads(path.read_text("utf-8-sig"))
        json.dumps(content, ensure_ascii=False).encode()  # refuses halves of characters, which no table holds
    except OSError as error:
        raise UnreadableFile(f"{path} cannot be read ({error.strerror}).") from error
    except (ValueError, RecursionError) as error:
        raise WrongFormat(
            f"{path} is no JSON ({error}); export the project from Label Studio as JSON."
        ) from error
    if not isinstance(content, list):
        raise WrongFormat(f"{path} is no list of tasks; export the project from Label Studio as JSON.")
    return content
