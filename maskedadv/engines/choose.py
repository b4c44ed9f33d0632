"""Pick an engine by name."""

from __future__ import annotations

import importlib

from maskedadv.engines.protocol import Engine
from maskedadv.engines.table import ENGINES
from maskedadv.errors import BadSetting, EngineMissing


def choose_engine(name: str = "auto") -> Engine:
    """The engine of that name; `auto` is the first of the table, the fastest, that is installed.

    Raises
    ------
    EngineMissing
        What was named is not installed or too old.
    BadSetting
        Another name.
    """
    if name not in ("auto", *ENGINES):
        raise BadSetting(
            f"engine {name!r} is unknown; use {', '.join(['auto', *ENGINES][:-1])} or {[*ENGINES][-1]}."
        )
    missing: EngineMissing | None = None
    for each in ENGINES if name == "auto" else [name]:
        module, _, kind = ENGINES[each].place.partition(":")
        engine: Engine = getattr(importlib.import_module(module), kind)()
        try:
            engine.require()
        except EngineMissing as error:
            missing = error
            continue
        return engine
    assert missing is not None
    raise missing
