"""ArviZ without its messages, on machines where its cache folder cannot be written too."""

from __future__ import annotations

import logging
import os
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np


def import_arviz() -> Any:
    """The module `arviz`.

    ArviZ 0.23 notes in the user's cache folder that it has announced ArviZ 1 today, and fails to be imported
    where that folder cannot be made (a container without a home); the announcement is for developers.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            import arviz
        except OSError:
            for name in [n for n in sys.modules if n == "arviz" or n.startswith("arviz.")]:
                del sys.modules[name]
            with tempfile.TemporaryDirectory(prefix="maskedadv-") as folder, _cache_in(folder):
                import arviz
    return arviz


@contextmanager
def quiet_arviz() -> Iterator[Any]:
    """ArviZ that does not warn of constants and short chains: numbers are NaN there, which verdicts read."""
    arviz = import_arviz()
    # ArviZ 0.2x logs to an object of its own, which the logging module does not know by name.
    loggers = [logging.getLogger(name) for name in ("arviz", "arviz_stats", "arviz_base")]
    loggers += [own] if isinstance(own := getattr(arviz, "_log", None), logging.Logger) else []
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            yield arviz
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


@contextmanager
def _cache_in(folder: str) -> Iterator[None]:
    before = os.environ.get("XDG_CACHE_HOME")
    os.environ["XDG_CACHE_HOME"] = folder
    try:
        yield
    finally:
        if before is None:
            del os.environ["XDG_CACHE_HOME"]
        else:
            os.environ["XDG_CACHE_HOME"] = before
