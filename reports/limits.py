"""How much a page and its figures show one by one; beyond it they show the whole otherwise, and say so."""

from __future__ import annotations

ROWS_NAMED = 60
"""Rows of a forest, or columns of a heat map, that each have a name; with more the figure shows them all,
sorted and without names, and names the ends."""
ENDS = 10
"""How many are named at either end where there are too many to name all."""
CARDS = 30
"""Locales with a verdict of their own in words; more are counted, and stand in a table."""
CELLS = 400
"""Cells (models × locales) with a forest of every locale."""
NUMBERS = (8, 40)
"""Columns and rows of a heat map with a number in every cell."""
LABELS = 45
"""Points of the masked-advantage plot that have a label."""
WRIGHT = 24
"""Locales that all have a Wright map; of more the ends have one."""
PAGE_ROWS = 500
"""Rows of a table that stands on the page; longer ones are files only."""
MARKED_ROWS = 3000
"""The same of tables that tell what a figure's marks are."""


def on_page(rows: int, *, marked: bool) -> bool:
    """Whether a table stands on the page."""
    return rows <= (MARKED_ROWS if marked else PAGE_ROWS)


def only_as_file(name: str, rows: int) -> str:
    """What the page says of a table that is too long for it."""
    return f"The table {name} ({rows:,} rows) is too long for this page: tables/{name}.csv has it."
