"""One thread for NumPy's and SciPy's linear algebra while our matrices, which are small, are worked on.

A second thread of OpenBLAS waits more than it works there, and does so at full load: a fit of 80 models in 13
locales took half as long again with two threads as with one, and four times as long on a busy machine. It
also adds up in another order, so that last digits would hang on the machine.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

_ASKED = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
"""Environment variables by which a user says how many; then there are so many."""


def one_thread(function: Callable[P, R]) -> Callable[P, R]:
    """The same function, with linear algebra in one thread while it runs; afterwards as it was."""

    @wraps(function)
    def alone(*arguments: P.args, **named: P.kwargs) -> R:
        if any(os.environ.get(name) for name in _ASKED):
            return function(*arguments, **named)
        from threadpoolctl import threadpool_limits  # it looks at every library that is loaded by now

        with threadpool_limits(1, user_api="blas"):
            return function(*arguments, **named)

    return alone
