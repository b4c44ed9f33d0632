"""Where `maskedadv import` writes: a file, or a folder partitioned by language and model, piece by piece."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from maskedadv.cli.say import remark, say
from maskedadv.words.terminal import clean, to_json

if TYPE_CHECKING:
    from maskedadv.scoring.importers.table import Streamed


def is_folder(output: Path) -> bool:
    """Whether the table goes into a folder: its name has no ending, or such a folder is there."""
    return output.suffix == "" or output.is_dir()


def refuse_output(output: Path, *, overwrite: bool) -> None:
    """Refuse a place for a table, file or folder, before any work is done."""
    from maskedadv.errors import BadSetting
    from maskedadv.files.atomic import check_table_output
    from maskedadv.responses.partitions import check_partitioned

    if is_folder(output):
        check_partitioned(output, overwrite=overwrite)
    elif output.suffix.lower() not in {".parquet", ".csv"}:
        raise BadSetting(f"{output}: the output ends in .parquet or .csv, or is a folder, without an ending.")
    else:
        check_table_output(output, overwrite=overwrite)


def stream(
    read: Callable[..., Streamed], read_map: Callable[[Path], dict[str, Any]], options: dict[str, Any]
) -> None:
    """Read and write piece by piece, so that tables may be larger than memory; report."""
    from maskedadv.responses.partitions import write_partitioned
    from maskedadv.scoring.importers.labels import read_labels

    output, as_json, overwrite = (options.pop(name) for name in ("output", "as_json", "overwrite"))
    refuse_output(output, overwrite=overwrite)
    mapping, labels = options.pop("mapping"), options.pop("subset_from")
    options.pop("unread")
    refuse_own_input(output, [p for p in (*options["paths"], mapping, labels) if p is not None])
    if mapping is not None:
        options |= read_map(mapping)
    if labels is not None:
        options["labels"] = read_labels(labels)
    pieces = read(options.pop("paths"), **options)
    written = write_partitioned(pieces, output, overwrite=overwrite)
    if as_json:
        report = {"output": str(output), "answers": written.rows, "files": written.files}
        report |= {"models": written.models, "languages": written.languages}
        report |= {"repeated": written.repeated, "unlabelled": pieces.unlabelled, "notes": pieces.notes}
        say(to_json(report))
        return
    say(
        f"{written.rows:,} answers of {written.models:,} models in {written.languages:,} languages, written "
        f"to {clean(str(output))} ({written.files:,} files)"
    )
    for count, what in ((written.repeated, "logged again"), (pieces.unlabelled, "not annotated CA or CS")):
        if count:
            say(f"Left out: {count:,} {what}")
    for note in pieces.notes:
        remark(f"Note: {clean(note)}.")


def refuse_own_input(output: Path, inputs: Sequence[Path]) -> None:
    """Refuse to replace what is read."""
    from maskedadv.errors import OutputExists

    for path in inputs:
        inside = os.path.isdir(path) and output.resolve().is_relative_to(path.resolve())
        there = os.path.exists(output)
        if (inside and (there or is_folder(output))) or (
            there and os.path.exists(path) and path.samefile(output)
        ):
            raise OutputExists(
                f"{output} is one of the files that are read, and is not replaced; choose another name."
            )
