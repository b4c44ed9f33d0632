"""`maskedadv items page`: one page of an item set, to look at it."""

from __future__ import annotations

from pathlib import Path
from string import ascii_uppercase
from typing import TYPE_CHECKING

import click

from maskedadv.cli.say import say
from maskedadv.words.terminal import clean

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd

    from maskedadv.scoring.items.items import Item

_file = click.Path(path_type=Path, exists=True, dir_okay=False)


@click.command("page")
@click.argument("paths", metavar="ITEMS...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="File to write, .html.")
@click.option("--annotations", type=_file, help="Labels by models.")
@click.option("--translations", type=_file, help="Counterparts by a model, with its flags.")
@click.option("--people", type=_file, help="What people said in a review.")
@click.option("--decisions", type=_file, help="What the review decided.")
@click.option("--title", default="Item set", show_default=True, help="Heading of the page.")
@click.option("--pivot", default="en", show_default=True, help="Language beside which the others stand.")
@click.option("--overwrite", is_flag=True, help="Replace the file if it exists.")
def command(
    paths: tuple[Path, ...],
    output: Path,
    annotations: Path | None,
    translations: Path | None,
    people: Path | None,
    decisions: Path | None,
    title: str,
    pivot: str,
    overwrite: bool,
) -> None:
    """Write one page of ITEMS: counts, agreement, and every item beside its English.

    ITEMS are item files, or the folder of a build, whose annotations, translations and left-out items are
    then shown, too. The page is one file that loads nothing, with a filter.
    """
    import maskedadv.scoring.item_sets.tables as t
    from maskedadv.errors import BadSetting
    from maskedadv.reports import write_item_page
    from maskedadv.scoring.item_sets.review.people import PEOPLE
    from maskedadv.scoring.items.sources import read_items

    if output.suffix.lower() not in {".html", ".htm"}:
        raise BadSetting(f"{output}: the output ends in .html.")
    left_out = None
    if len(paths) == 1 and (build := paths[0] / "items.parquet").is_file():
        folder, paths = paths[0], (build,)
        annotations = annotations or _there(folder / "annotations.parquet")
        translations = translations or _there(folder / "translations.parquet")
        left_out = _there(folder / "left_out.parquet")
    found = read_items(paths)
    tables = {
        name: t.read_table(path, schema, f"the {name.replace('_', ' ')}").to_pandas()
        for name, path, schema in (
            ("annotations", annotations, t.ANNOTATIONS),
            ("translations", translations, t.TRANSLATIONS),
            ("people", people, PEOPLE),
            ("decisions", decisions, t.DECISIONS),
            ("left_out", left_out, t.LEFT_OUT),
        )
        if path is not None
    }
    write_item_page(_frame(found.items), output, title=title, pivot=pivot, overwrite=overwrite, **tables)
    say(f"{len(found.items):,} items (each language by itself) on {clean(str(output))}.")


def _there(path: Path) -> Path | None:
    return path if path.is_file() else None


def _frame(items: Iterable[Item]) -> pd.DataFrame:
    """Items as the table that pages take."""
    import pandas as pd

    return pd.DataFrame(
        {
            **x.extra,
            "item": x.item,
            "subset": x.subset,
            "language": x.language,
            "question": x.question,
            "options": list(x.options),
            "answer": "" if x.answer is None else ascii_uppercase[x.answer],
        }
        for x in items
    )
