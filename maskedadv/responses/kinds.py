"""One Arrow type for ids and one for numbers, so that files written by different tools fit together."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

IDS = ("model", "subset", "language", "item")
VALUES = ("correct", "p_correct", "crm_logit", "n_options")
_ENCODED = pa.dictionary(pa.int32(), pa.string())


def normal_kinds(table: pa.Table) -> pa.Table:
    """Ids as dictionaries of text, numbers as float64, text as plain text, in the known columns.

    Raises
    ------
    pyarrow.ArrowException
        Bytes that are not UTF-8.
    """
    for k, name in enumerate(table.column_names):
        if name in IDS and table.schema.field(k).type == _ENCODED:
            continue
        column = _decoded(table[name])
        if name in IDS and (pa.types.is_string(column.type) or pa.types.is_integer(column.type)):
            column = pc.dictionary_encode(pc.cast(column, pa.string()))
        elif name in VALUES and _is_number(column.type):
            column = pc.cast(column, pa.float64(), safe=False)
        elif name in VALUES and (pa.types.is_decimal(column.type) or pa.types.is_boolean(column.type)):
            column = pc.cast(column, pa.float64())
        elif name not in IDS + VALUES:
            continue
        table = table.set_column(k, name, column)
    return table


def same_kinds(tables: list[pa.Table]) -> list[pa.Table]:
    """The tables, with a value column that is text in one of them as text in all."""
    for name in VALUES:
        kinds = {table.schema.field(name).type for table in tables if name in table.column_names}
        if pa.string() in kinds and len(kinds) > 1:
            tables = [_as_text(table, name) for table in tables]
    return tables


def _as_text(table: pa.Table, name: str) -> pa.Table:
    column = pc.cast(table[name], pa.string())
    return table.set_column(table.column_names.index(name), name, column)


def _decoded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Without dictionaries of anything but plain text; views, large text and bytes as plain text."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _decoded(pc.cast(column, kind.value_type))
    text = ("string_view", "large_string", "binary", "large_binary", "binary_view")
    return pc.cast(column, pa.string()) if str(kind) in text else column


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))
