"""The embedded engine: Stan in a wheel (`stanli`); needs no compiler and no CmdStan."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from types import FrameType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskedadv.engines.console import console_lines
from maskedadv.engines.data_text import json_text
from maskedadv.engines.protocol import STATS, Chains, Data, Optimum, Values
from maskedadv.engines.stan_files import program_text
from maskedadv.engines.table import in_words_of
from maskedadv.errors import EngineFailed, EngineMissing, NotConverged
from maskedadv.settings import Sampler

_ITERATIONS = 5000
"""Steps of L-BFGS at most."""


@dataclass(frozen=True)
class Embedded:
    """Runs programs in this process.

    Call it from the thread that imported the library: with stanli 0.24 a gradient in any other Python thread
    ends the process (its autodiff stack exists per thread). Parallel work goes into processes, or its threads
    ask that one (`maskedadv.maximum_likelihood.side_by_side`).
    """

    name: str = "embedded"

    @property
    def version(self) -> str:
        """Version of stanli."""
        import stanli

        return f"stanli {stanli.__version__}"

    def require(self) -> None:
        """See `Engine.require`."""
        if find_spec("stanli") is None:
            raise EngineMissing("the embedded engine needs the package stanli; install it with pip.")

    def optimize(self, program: str, data: Data, inits: Values, *, seed: int) -> Optimum:
        """Maximise by Stan's L-BFGS.

        Adds the Jacobian of constrained parameters, as this engine always does; programs that are
        optimised therefore have none but linear constraints.
        """
        _require_main_thread()
        try:
            model = _model(program, data)
            start = model.unconstrain(_plain(inits))
        except (RuntimeError, ValueError) as error:
            raise EngineFailed(f"the embedded engine could not optimise '{program}': {error}") from error
        result = _climb(program, model, start, seed)
        variables = {name: np.asarray(result[name], dtype=np.float64) for name in result.variables}
        if not np.isfinite(result.lp):
            raise NotConverged(f"the embedded engine found no finite log density for '{program}'.")
        return Optimum(variables, float(result.lp))

    def log_density(self, program: str, data: Data, values: Values) -> tuple[float, NDArray[np.float64]]:
        """Log density and gradient on the unconstrained scale."""
        _require_main_thread()
        model = _model(program, data)
        density, gradient = model.log_prob_grad(model.unconstrain(_plain(values)))
        return float(density), np.asarray(gradient)

    def sample(
        self,
        program: str,
        data: Data,
        inits: Sequence[Values],
        sampler: Sampler,
        *,
        seed: int,
        threads: int | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> Chains:
        """NUTS; the same seed gives other draws than CmdStan's. See `Engine.sample`."""
        total = sampler.warmup + sampler.draws
        try:
            model = _model(program, data)
            with console_lines(progress), _ended_politely():
                fit = model.sample(
                    chains=len(inits),
                    inits=np.stack([model.unconstrain(_plain(values)) for values in inits]),
                    seed=seed,
                    **in_words_of(self.name, sampler),
                    parallel_chains=threads,
                    refresh=max(1, total // 5) if progress else 0,
                )
        except (RuntimeError, ValueError) as error:
            raise EngineFailed(f"the embedded engine could not sample '{program}': {error}") from error
        variables = {name: np.asarray(fit.draws(name), dtype=np.float64) for name in fit.variables}
        stats = {name: fit.sampler_stats[:, :, k] for k, name in enumerate(STATS)}
        return Chains(variables, stats)


def _climb(program: str, model: Any, start: NDArray[np.float64], seed: int) -> Any:
    """L-BFGS, whose failure at the start may mean started there: at a maximum no step leads up.

    Stan's defaults stop where the density rises by less than 2e-12 of itself, which may be 2e-3 logit before
    the maximum in a flat direction, and this engine takes no others: who asks for an optimum goes on from it
    by Newton's method, and compares.
    """
    try:
        return model.optimize(init=start, seed=seed, iter=_ITERATIONS)
    except (RuntimeError, ValueError):
        beside = start + 0.01 * np.random.default_rng(seed).standard_normal(start.shape)
        try:
            return model.optimize(init=beside, seed=seed, iter=_ITERATIONS)
        except (RuntimeError, ValueError) as error:
            raise NotConverged(f"the embedded engine could not optimise '{program}': {error}") from error


@contextmanager
def _ended_politely() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end a native call as Ctrl-C does, then do what their handlers do elsewhere.

    Handlers run in stanli's poll, a foreign callback where an exception would be swallowed and the sampling
    go on; stanli's own handler of SIGINT makes a note there, and the call returns.
    """
    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {number: handler for number in numbers if callable(handler := signal.getsignal(number))}
    if threading.current_thread() is not threading.main_thread() or not before:
        yield
        return
    caught: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        caught.append(number)
        interrupt = signal.getsignal(signal.SIGINT)
        (interrupt if callable(interrupt) else before[number])(number, frame)

    for number in before:
        signal.signal(number, note)
    try:
        yield
    except KeyboardInterrupt:
        if not caught:
            raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if caught:
        before[caught[0]](caught[0], None)


def _require_main_thread() -> None:
    """A sentence instead of a segmentation fault."""
    if threading.current_thread() is not threading.main_thread():
        raise EngineFailed(
            "the embedded engine runs in the main thread only; call it there, give --jobs for parallel work, "
            "or use the cmdstan engine."
        )


@lru_cache
def _compiled(program: str) -> str:
    """The program in the runtime's own form: parsed once a process."""
    text = program_text(program)
    if not _GREEDY.isdisjoint(sys.modules):
        return _compiled_elsewhere(program, text)
    import stanli

    return str(stanli.stan_to_mir(text))


_GREEDY = frozenset({"torch", "tensorflow"})
"""Libraries that may ask the kernel for matrix registers (AMX). It then wants larger stacks for signals than
the compiler of Stan takes, whose start would end this process."""


def _compiled_elsewhere(program: str, text: str) -> str:
    """The same from a process of its own."""
    code = "import sys, stanli; sys.stdout.buffer.write(str(stanli.stan_to_mir(sys.stdin.read())).encode())"
    found = subprocess.run(
        [sys.executable, "-c", code],
        input=text.encode(),
        capture_output=True,
        env={**os.environ, "PYTHONUTF8": "1"},
        check=False,
    )
    if found.returncode:
        told = found.stderr.decode("utf-8", "replace").strip().splitlines()
        raise RuntimeError(f"'{program}' was not compiled ({told[-1] if told else found.returncode})")
    return found.stdout.decode()


def _model(program: str, data: Data) -> Any:
    import stanli

    return stanli.Model(mir=_compiled(program), data=json_text(data))


def _plain(values: Values) -> dict[str, Any]:
    """stanli wants containers flat with the first index fastest (Stan's own order)."""
    return {
        name: np.asarray(v).ravel(order="F").tolist() if np.ndim(v) else float(v)
        for name, v in values.items()
    }
