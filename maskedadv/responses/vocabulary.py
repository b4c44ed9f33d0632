"""The ids of a column, numbered as they come, batch after batch."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from maskedadv.responses.columns import encode_ids, refuse_kept_names
from maskedadv.responses.marks import Marks, id_marks

Codes = NDArray[np.int32]

_RECENT = 16
"""So many dictionaries are kept: files of one table mostly repeat those of the file before."""


class Vocabulary:
    """Ids of one column and their numbers.

    Parameters
    ----------
    column : its name
    ids : that are there already, in the order of their numbers
    closed : whether another id is a `KeyError`, not a new one

    Attributes
    ----------
    ids : in the order of their numbers
    """

    def __init__(self, column: str, ids: Iterable[str] = (), *, closed: bool = False) -> None:
        self.column, self.closed = column, closed
        self.ids: list[str] = list(ids)
        self._code = {text: code for code, text in enumerate(self.ids)}
        self._marks: Marks = id_marks(column, self.ids)
        self._recent: deque[tuple[pa.Array, Codes, str, str]] = deque(maxlen=_RECENT)

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def marks(self) -> Marks:
        """Of every id, for the fingerprint."""
        if len(self._marks) < len(self.ids):
            self._marks = np.concatenate([self._marks, id_marks(self.column, self.ids[len(self._marks) :])])
        return self._marks

    def number(self, text: str) -> int:
        """Of one id.

        Raises
        ------
        KeyError
            It is new and the vocabulary is closed.
        """
        if text not in self._code:
            if self.closed:
                raise KeyError(text)
            if self.column == "model":
                refuse_kept_names([text])
            self._code[text] = len(self.ids)
            self.ids.append(text)
        return self._code[text]

    def encode(self, column: pa.ChunkedArray) -> tuple[Codes, str, str]:
        """Numbers of a column's ids, shape (N,), and the bounds between which, as text, all of them lie.

        Raises
        ------
        MissingId, BadId
            As `encode_ids` does.
        KeyError
            An id is new and the vocabulary is closed.
        """
        parts = [self._encode(chunk) for chunk in column.chunks if len(chunk)]
        if len(parts) == 1:
            return parts[0]
        if not parts:
            return np.zeros(0, dtype=np.int32), "", ""
        return (
            np.concatenate([codes for codes, _, _ in parts]),
            min(low for _, low, _ in parts),
            max(high for _, _, high in parts),
        )

    def encode_one(self, text: str | None) -> tuple[int, str, str]:
        """`encode` of a single id, which all rows of a file share."""
        if text is not None and text in self._code:
            return self._code[text], text, text
        codes, low, high = self.encode(pa.chunked_array([pa.array([text], pa.string())]))
        return int(codes[0]), low, high

    def _encode(self, chunk: pa.Array) -> tuple[Codes, str, str]:
        plain = isinstance(chunk, pa.DictionaryArray) and chunk.null_count == 0
        if plain and pa.types.is_string(chunk.type.value_type):
            indices = chunk.indices.to_numpy()
            for known, lookup, low, high in self._recent:
                if known.equals(chunk.dictionary):
                    return lookup[indices], low, high
            try:
                texts = chunk.dictionary.to_pylist()
            except UnicodeDecodeError:
                texts = [""]  # told below
            if all(t and not any(sign in t for sign in "\0\r\n") for t in texts):
                lookup = np.array([self.number(t) for t in texts], dtype=np.int32)
                self._recent.appendleft((chunk.dictionary, lookup, min(texts), max(texts)))
                return lookup[indices], min(texts), max(texts)
        codes, ids = encode_ids(self.column, pa.chunked_array([chunk]))
        lookup = np.array([self.number(t) for t in ids], dtype=np.int32)
        return lookup[codes], str(ids[0]), str(ids[-1])
