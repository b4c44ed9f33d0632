"""Change an input where a fuzzer that knows bytes only would break it before anything of ours reads it."""

from __future__ import annotations

import json
import random
from typing import Any

from tests.fuzzing.targets import CUT

ODD: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    1.5,
    2**70,
    1e400,
    float("nan"),
    "",
    " ",
    "x",
    "A",
    "1",
    "[{[]}]",
    "[0]",
    "{}",
    "\ud800",
    "\u202e\x1b[31m",
    "9" * 5000,
    "(" * 300,
    [],
    {},
    [[]],
    [{}],
    {"a": [1]},
)
TOKENS = (
    b"null",
    b"NaN",
    b"1e999",
    b'"',
    b"''",
    b'"""',
    b"\\ud800",
    b"\x00",
    b"\xff\xfe",
    b"9" * 30,
    b"[[",
    b"{",
    b"}",
    b"(?P<",
    b"*",
    b"\n",
    b"\r",
    b",",
    b";",
    b"=",
    b"1979-05-27",
    b"inf",
    b"{path.-9}",
    b"{doc}",
    "ا".encode(),
    "\u202e".encode(),
    b"\x1b[2J",
)


def mutate(data: bytes, kind: str, rng: random.Random) -> bytes:
    """An input that is a step away."""
    if kind == "json" and rng.random() < 0.75:
        parts = data.split(CUT)
        at = rng.randrange(len(parts))
        parts[at] = _mutate_json(parts[at], rng)
        return CUT.join(parts)
    if kind != "bytes" and rng.random() < 0.4:
        return _swap_pieces(data, rng)
    return _mutate_bytes(data, rng)


def _mutate_json(content: bytes, rng: random.Random) -> bytes:
    """Put an odd value into a document, or into one of several lines of them."""
    try:
        return _dumped(_with_odd_value(json.loads(content), rng))
    except (ValueError, RecursionError):
        pass
    lines = content.splitlines()
    if not lines:
        return _mutate_bytes(content, rng)
    at = rng.randrange(len(lines))
    try:
        lines[at] = _dumped(_with_odd_value(json.loads(lines[at]), rng))
    except (ValueError, RecursionError):
        return _mutate_bytes(content, rng)
    return b"\n".join(lines) + b"\n"


def _dumped(value: Any) -> bytes:
    return json.dumps(value).encode()


def _with_odd_value(document: Any, rng: random.Random) -> Any:
    node, top = document, [document]
    parent: Any = top
    key: Any = 0
    while isinstance(node, dict | list) and node and rng.random() < 0.8:
        parent, key = node, rng.choice(list(node)) if isinstance(node, dict) else rng.randrange(len(node))
        node = parent[key]
    kind = rng.random()
    if kind < 0.7:
        parent[key] = rng.choice(ODD)
    elif kind < 0.8:
        parent[key] = [node]
    elif kind < 0.9 and parent is not top:
        del parent[key]
    elif isinstance(parent, dict):
        parent[rng.choice(["", "x", *map(str, parent)])] = node
    return top[0]


def _swap_pieces(data: bytes, rng: random.Random) -> bytes:
    """Repeat, drop or exchange lines, and put tokens between them."""
    lines = data.split(b"\n")
    at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    kind = rng.random()
    if kind < 0.3:
        lines[at], lines[other] = lines[other], lines[at]
    elif kind < 0.6:
        lines.insert(at, lines[other])
    elif kind < 0.8:
        del lines[at]
    else:
        lines[at] = rng.choice(TOKENS)
    return b"\n".join(lines)


def _mutate_bytes(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 8])):
        at = rng.randrange(len(changed) + 1)
        kind = rng.random()
        if kind < 0.35 and at < len(changed):
            changed[at] = rng.randrange(256)
        elif kind < 0.55:
            del changed[at : at + rng.choice([1, 4, 50])]
        elif kind < 0.7:
            changed[at:at] = changed[at : at + rng.choice([1, 10, 100])]
        else:
            changed[at:at] = rng.choice(TOKENS)
    return bytes(changed)
