"""`import table --guess`: look at tables and write the mapping that they suggest, to be read and edited."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from maskedadv.errors import BrokenLog, InputError
from maskedadv.files.alive import temporary_folder
from maskedadv.scoring.importers.guess_columns import Roles, find_roles, missing_words, odd_words
from maskedadv.scoring.importers.guess_names import AGNOSTIC, SPECIFIC, as_language, is_language
from maskedadv.scoring.importers.guess_paths import PathRoles, find_path_roles
from maskedadv.scoring.importers.json_documents import holds_records, is_document, load_document
from maskedadv.scoring.importers.mapping_draft import Draft
from maskedadv.scoring.importers.table import read_table
from maskedadv.scoring.importers.table_files import Layout, columns_of, read_pieces
from maskedadv.scoring.importers.table_mapping import read_table_mapping
from maskedadv.scoring.importers.table_sources import TableFile, find_tables
from maskedadv.words.lists import first_few

_ROWS = 2000  # of one file, for its columns
_FILES = 5  # that are looked into


def guess_mapping(paths: Sequence[Path], fixed: Mapping[str, str] | None = None) -> tuple[str, list[str]]:
    """Write a mapping for tables from their columns' names, what is in them, and their paths.

    Parameters
    ----------
    paths
        As for `read_table`.
    fixed
        model, language, subset: what is the same in all rows, where the user says so.

    Returns
    -------
    The text of a mapping file, with what each column was taken for, and notes on what could not be told.

    Raises
    ------
    maskedadv.errors.InputError
        The files cannot be read.
    """
    fixed = dict(fixed or {})
    with temporary_folder() as scratch:
        files, _ = find_tables(paths, scratch)
        draft = Draft()
        at = _records_at(files[0], draft)
        layout = Layout(at=at)
        columns = columns_of(files[0], layout)
        sample = pd.concat([_sample(file, layout, columns) for file in files[:_FILES]], ignore_index=True)
        first = sample.iloc[: min(len(sample), _ROWS)]
        named = [c for c in first if c in columns and not {"{", "}"} & set(c)]  # else it reads as a template
        roles = find_roles(first.loc[:, named], keyed=files[0].kind == "json")
        wanted = [
            name
            for name in ("model", "language")
            if name not in roles.columns
            and roles.wide != name
            and name not in fixed
            and name not in _hive(files)
        ]
        path_roles = find_path_roles(
            files, [n for n in wanted if not (n == "model" and _keyed_by_model(roles, at))]
        )
        _put_ids(draft, roles, path_roles, files, sample, fixed, at)
        _put_values(draft, roles, sample)
        _put_labels(draft, roles, sample, fixed)
        head = _head(files, columns, roles)
        text = draft.text(head)
        draft.missing += _trial(text, paths, scratch, labelled="subset" in {*roles.columns, *fixed})
    return text, draft.missing


def _hive(files: Sequence[TableFile]) -> set[str]:
    return {part.split("=")[0] for part in files[0].parts[:-1] if "=" in part}


def _keyed_by_model(roles: Roles, at: str) -> bool:
    """Whether patterns stand under the models' names: {"model-a": "0110", ...}."""
    return bool(at) and bool(roles.pattern) and roles.pattern == "value"


def _records_at(file: TableFile, draft: Draft) -> str:
    """Where in a JSON document the records are; '' for anything else."""
    if file.kind != "json" or file.path.suffix.lower() != ".json" or not is_document(file.path):
        return ""
    at, why = _search(load_document(file.path))
    draft.put("records", "at", at, why)
    return at


def _search(document: Any) -> tuple[str, str]:
    """The path to the most records in a document, and what was seen there."""
    if not isinstance(document, Mapping):
        return ".", "a list of records"
    found: list[tuple[int, str, str]] = []

    def look(value: Any, path: tuple[str, ...]) -> None:
        members = list(value.values())
        if members and all(isinstance(each, Mapping) for each in members):
            if all(holds_records(each) for each in members) and len(path) < 3:
                look_inside = members[0]
                inner = list(look_inside.values())
                if all(isinstance(each, Mapping) for each in inner):
                    found.append(
                        (len(members) * len(inner), ".".join([*path, "*"]), "records under two keys")
                    )
            found.append((len(members), ".".join(path) or ".", "records by key"))
        elif (
            members
            and not path
            and all(not isinstance(each, Mapping) for each in members)
            and len(members) > 1
        ):
            lists = [
                each for each in members if isinstance(each, list) and each and isinstance(each[0], Mapping)
            ]
            if not lists:
                found.append((1, ".", "one value by key"))
        for name, each in value.items():
            if isinstance(each, list) and each and isinstance(each[0], Mapping):
                found.append((len(each), ".".join([*path, str(name)]), "a list of records"))
            elif isinstance(each, Mapping) and each and len(path) < 2 and "." not in str(name):
                look(each, (*path, str(name)))

    look(document, ())
    _, at, why = max(found, default=(0, ".", "nothing that looks like records"), key=lambda f: f[0])
    return at, why


def _sample(file: TableFile, layout: Layout, columns: list[str]) -> pd.DataFrame:
    """The first rows of a file; columns that hold no cells are left out."""
    if file.kind != "json":
        frame = next(read_pieces(file, None, layout), pd.DataFrame()).head(_ROWS)
        return frame.reindex(columns=columns).fillna("").astype("str")  # numbers, where there are no rows
    cells: dict[Any, Any] = {}
    for name in [*columns, "key"]:
        try:
            cells |= dict(next(read_pieces(file, [name], layout), pd.DataFrame()).head(_ROWS).items())
        except BrokenLog:
            continue
    return pd.DataFrame(cells).fillna("")


def _put_ids(
    draft: Draft,
    roles: Roles,
    path: PathRoles,
    files: Sequence[TableFile],
    sample: pd.DataFrame,
    fixed: Mapping[str, str],
    at: str,
) -> None:
    if path.pattern:
        draft.put("path", "pattern", path.pattern, path.why.get("model", ""))
    for name in ("model", "language"):
        if name in fixed:
            draft.put("fixed", name, fixed[name], "as you said")
        elif name in roles.columns:
            draft.put("columns", name, roles.columns[name], _seen(sample[roles.columns[name]]))
        elif path.fields.get(name):
            draft.put("columns", name, path.fields[name], f"from the path: {path.why[name]}")
        elif name in path.fields or name == roles.wide or name in _hive(files):
            continue
        elif name == "model" and _keyed_by_model(roles, at):
            draft.put("columns", "model", "{key}", "the key of each record")
        elif name == "language":
            draft.put("fixed", "language", "und", "NOT FOUND: write the code of the language, such as eu")
            draft.missing.append(
                "nothing says which language this is; write it under [fixed] in place of und"
            )
    for section, names in (("models", path.models), ("languages", path.languages)):
        for theirs, ours in names.items():
            draft.put(section, theirs, ours)
    if roles.wide == "item":
        return
    item = roles.columns.get("item")
    if item is None and (roles.pattern or roles.wide == "item"):
        return
    own = f"{{{item}}}" if item else "{key}" if files[0].kind == "json" else "{row}"
    seen = _seen(sample[item]) if item else "the record's key, or its place from 0"
    seen = "no column of ids: the row's number, from 1" if own == "{row}" else seen
    if path.others:
        own, seen = "/".join([*path.others, own]), "the path and " + seen
    draft.put("columns", "item", item if item and not path.others else own, seen)


def _put_values(draft: Draft, roles: Roles, sample: pd.DataFrame) -> None:
    columns = roles.columns
    cells = [cell for name in roles.wide_columns for cell in sample[name]]
    spread = pd.Series(cells, dtype="str")
    for name in ("correct", "p_correct", "n_options"):
        if name in columns:
            draft.put("columns", name, columns[name], _seen(sample[columns[name]]))
    if roles.wide:
        draft.put("wide", "columns", roles.wide, f"{len(roles.wide_columns)} columns, a {roles.wide} each")
        if roles.wide_given:
            draft.put("wide", "value", "given", "the cells are given answers")
        if len(roles.wide_columns) < len(sample.columns) - len(roles.taken()) + len(roles.wide_columns):
            draft.put("wide", "only", roles.wide_columns)
    if roles.pattern:
        draft.put("patterns", "column", roles.pattern, "one sign an item: 1 right, 0 wrong")
    if roles.logprobs and "correct" not in columns:
        for key, name in zip(("right", "wrong"), roles.logprobs, strict=True):
            draft.put("options", key, name, "log-probabilities")
        return
    if "key" in columns and ("given" in columns or roles.wide_given):
        draft.put("answers", "key", columns["key"], _seen(sample[columns["key"]]))
        given = spread
        if "given" in columns:
            given = sample[columns["given"]]
            draft.put("answers", "given", columns["given"], _seen(given))
        if words := missing_words(given):
            draft.put("answers", "missing", words, "taken for no answer")
        if roles.options:
            shown = roles.options[0] if len(roles.options) == 1 else roles.options
            draft.put("answers", "options", shown, "the options' texts")
    elif "correct" in columns or (roles.wide and not roles.wide_given):
        odd = odd_words(spread if roles.wide else sample[columns["correct"]])
        for word, value in odd.items():
            if value == "?":
                draft.ask("values", f'{json.dumps(word, ensure_ascii=False)} = ""  # WHAT IS IT? 1, 0 or ""')
            else:
                meaning = {"1": "right", "0": "wrong", "": "not observed"}[value]
                draft.put("values", word, int(value) if value else "", meaning)
    elif "p_correct" not in columns and not roles.pattern:
        draft.ask("answers", 'key = ""    # NOT FOUND: the column of right answers')
        draft.ask("answers", 'given = ""  # NOT FOUND: the column of given answers')
        draft.missing.append("no column says right or wrong, or holds key and given answer; see [answers]")


def _put_labels(draft: Draft, roles: Roles, sample: pd.DataFrame, fixed: Mapping[str, str]) -> None:
    if "subset" in fixed:
        draft.put("fixed", "subset", fixed["subset"], "as you said")
    elif "subset" in roles.columns:
        column = sample[roles.columns["subset"]]
        draft.put("columns", "subset", roles.columns["subset"], _seen(column))
        for word in sorted(set(column) - {"", "-", "CA", "CS"}):
            low = word.casefold()
            draft.put("subsets", word, "CA" if low in AGNOSTIC else "CS" if low in SPECIFIC else "")
    else:
        draft.missing.append(
            "nothing says which items are CA and which CS; give --subset or --subset-from when importing"
        )
    if "language" in roles.columns:
        for word in sorted(set(sample[roles.columns["language"]])):
            if word and not is_language(word) and as_language(word):
                draft.put("languages", word, as_language(word))


def _seen(column: pd.Series) -> str:
    values = [v for v in column.unique() if v][:3]
    return "such as " + ", ".join(" ".join(v.split())[:24] for v in values) if values else "empty"


def _head(files: Sequence[TableFile], columns: Sequence[str], roles: Roles) -> list[str]:
    left = [name for name in columns if name not in roles.taken()]
    head = [
        f"Guessed from {files[0].shown}" + (f" and {len(files) - 1} more" if len(files) > 1 else "") + "."
    ]
    head += ["Read it and edit it: a column taken for the wrong thing gives wrong numbers."]
    if left:
        head.append(f"Not used: {first_few(left, 20)}")
    return [" ".join(line.split()) for line in head]


def _trial(text: str, paths: Sequence[Path], scratch: Path, *, labelled: bool) -> list[str]:
    """What an import with the mapping as it stands would refuse."""
    place = scratch / "guess.toml"
    place.write_text(text, encoding="utf-8")
    try:
        read_table(paths, mapping=read_table_mapping(place), subset=None if labelled else "CA")
    except InputError as error:
        return [f"as it stands, import says: {str(error).rstrip('.')}"]
    return []
