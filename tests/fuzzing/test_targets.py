"""The fuzzer's targets over their seeds and steps away from them: a few, the same on every run."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzzing.mutate import mutate
from tests.fuzzing.targets import TARGETS

NEED = {"lighteval": 10, "lm_eval": 25, "task_map": 25}
"""How many steps, where one takes longer."""


@pytest.mark.parametrize("name", TARGETS)
def test_steps_away_from_the_seeds(name: str) -> None:
    target = TARGETS[name]
    rng = random.Random(name)
    for seed in target.seeds():
        target.run(seed)
        data = seed
        for _ in range(NEED.get(name, 50) // len(target.seeds()) + 1):
            data = mutate(data if rng.random() < 0.6 else seed, target.kind, rng)[:20_000]
            target.run(data)


CELLS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.sampled_from(
    ["CA", "CS", "en", "zh", "0", "1", "0.5", "NA", "", "m", "1e5", "001", '"', "a,b", "'"]
)


@settings(max_examples=60)
@given(rows=st.lists(st.lists(CELLS, min_size=2, max_size=6), min_size=1, max_size=5), data=st.data())
def test_tables_of_any_cells(rows: list[list[str]], data: st.DataObject) -> None:
    """Columns of ours in any order, with any cells, quoted or not."""
    names = ["model", "subset", "language", "item", "correct", "p_correct"]
    header = data.draw(st.permutations(names))
    stop = data.draw(st.sampled_from([",", ";", "\t"]))
    quote = data.draw(st.booleans())
    cells = [['"' + c.replace('"', '""') + '"' if quote else c for c in row] for row in rows]
    text = "\n".join([stop.join(header), *(stop.join(row) for row in cells)])
    for name in ("table", "guess"):
        TARGETS[name].run(text.encode())


TOML = st.recursive(
    st.booleans()
    | st.integers()
    | st.text(max_size=6)
    | st.sampled_from(["{a}", "{path.9}", "(?P<m>x)", "["]),
    lambda inner: st.lists(inner, max_size=2),
    max_leaves=3,
)
SECTIONS = (
    "columns",
    "fixed",
    "wide",
    "answers",
    "values",
    "records",
    "path",
    "models",
    "languages",
    "subsets",
)
KEYS = (
    "item",
    "model",
    "language",
    "subset",
    "correct",
    "key",
    "given",
    "missing",
    "pattern",
    "columns",
    "at",
    "x",
)


def toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    if isinstance(value, int):
        return str(max(-(2**62), min(2**62, value)))
    return "'" + "".join(c for c in str(value) if c.isprintable() and c != "'") + "'"


@settings(max_examples=60)
@given(st.dictionaries(st.sampled_from(SECTIONS), st.dictionaries(st.sampled_from(KEYS), TOML, max_size=3)))
def test_mappings_of_any_content(sections: dict[str, dict[str, object]]) -> None:
    """Known sections and keys with values of any kind: read, or refused by name."""
    text = "".join(
        f"[{name}]\n" + "".join(f"{key} = {toml(value)}\n" for key, value in keys.items())
        for name, keys in sections.items()
    )
    TARGETS["table_map"].run(text.encode() + b"\n%%%\nitem,model,x\na,m,1\nb,m,0\n")
    tasks = "[[task]]\npattern = '.*'\n" + "".join(
        f"{key} = {toml(value)}\n" for keys in sections.values() for key, value in [*keys.items()][:1]
    )
    TARGETS["task_map"].run(
        tasks.encode() + TARGETS["task_map"].seeds()[0].partition(b"\n%%%\n")[2].join([b"\n%%%\n", b""])
    )


@settings(max_examples=40)
@given(
    st.lists(
        st.fixed_dictionaries(
            {},
            optional={
                "item": CELLS | st.integers(),
                "subset": CELLS,
                "language": CELLS,
                "question": CELLS,
                "options": st.lists(CELLS, max_size=4) | CELLS | st.none(),
                "answer": CELLS | st.integers(-2, 5) | st.none() | st.floats(),
            },
        ),
        min_size=1,
        max_size=4,
    )
)
def test_items_of_any_content(records: list[dict[str, object]]) -> None:
    import json

    TARGETS["items"].run("\n".join(map(json.dumps, records)).encode())
