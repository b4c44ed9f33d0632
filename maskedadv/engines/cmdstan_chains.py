"""Chains of a compiled program as processes of ours: ended with us, and with a reason when they fail.

CmdStanPy waits for its chains in threads, where neither an interrupt nor a polite kill reaches them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from maskedadv.engines.console import cause_in, progress_line
from maskedadv.engines.processes import run_all
from maskedadv.errors import EngineFailed

_NO_FILE = "it ended well but wrote no file; make room for temporary files, or set TMPDIR to another place"


def sample_chains(
    executable: Path,
    data: str,
    inits: Sequence[str],
    *,
    settings: Mapping[str, Any],
    seed: int,
    at_once: int,
    progress: Callable[[str], None] | None,
    folder: Path,
) -> Any:
    """Run NUTS from every file of inits and read what the chains wrote.

    Parameters
    ----------
    settings : of the sampler, in CmdStan's words
    folder : takes the files

    Returns
    -------
    cmdstanpy.CmdStanMCMC

    Raises
    ------
    EngineFailed
        A chain did not start or ended early; says which, and why.
    """
    import cmdstanpy

    total = int(settings["num_warmup"]) + int(settings["num_samples"])
    refresh = max(1, total // 5) if progress else total
    csvs = [folder / f"chain_{k + 1}.csv" for k in range(len(inits))]
    consoles = [folder / f"chain_{k + 1}.txt" for k in range(len(inits))]
    commands = [
        chain_command(executable, data, start, csvs[k], k + 1, settings, seed=seed, refresh=refresh)
        for k, start in enumerate(inits)
    ]

    def watch(chain: int, line: str) -> None:
        told = progress_line(chain + 1, line)
        if told and progress is not None:
            progress(told)

    try:
        codes = run_all(commands, consoles, at_once=at_once, env={"STAN_NUM_THREADS": "1"}, watch=watch)
    except OSError as error:
        raise EngineFailed(will_not_start(executable, str(error.strerror))) from error
    for k, code in enumerate(codes):
        if code == 0 and csvs[k].exists():
            continue
        if code is None:
            continue  # ended by us, because another one failed
        cause = cause_in(consoles[k].read_text("utf-8", "replace"), code) if code else _NO_FILE
        if code in (126, 127):
            raise EngineFailed(will_not_start(executable, cause))
        name = executable.name.split("-")[0]
        raise EngineFailed(f"CmdStan could not sample '{name}', chain {k + 1}: {cause}")
    try:
        return cmdstanpy.from_csv([str(path) for path in csvs], method="sample")
    except (RuntimeError, ValueError, OSError) as error:
        raise EngineFailed(f"the draws that CmdStan wrote cannot be read: {error}") from error


def will_not_start(executable: Path, cause: str) -> str:
    """The sentence for a compiled program that was kept and no longer runs."""
    return (
        f"the compiled program {executable} does not start ({cause.rstrip('.')}); delete that file, so that "
        "it is compiled anew, or use --engine embedded."
    )


def chain_command(
    executable: Path,
    data: str,
    start: str,
    csv: Path,
    chain: int,
    settings: Mapping[str, Any],
    *,
    seed: int,
    refresh: int,
) -> list[str]:
    """CmdStan's command line, in the order that its grammar asks for."""
    known = dict(settings)
    line = [str(executable), f"id={chain}", "random", f"seed={seed}", "data", f"file={data}", f"init={start}"]
    line += ["output", f"file={csv}", "sig_figs=12", f"refresh={refresh}", "method=sample"]
    line += [f"{name}={known.pop(name)}" for name in ("num_samples", "num_warmup")]
    delta = known.pop("delta")
    line += ["algorithm=hmc", f"metric={known.pop('metric')}", "engine=nuts"]
    line += [f"max_depth={known.pop('max_depth')}", "adapt", "engaged=1", f"delta={delta}"]
    return line + [f"{name}={_plain(value)}" for name, value in known.items()]  # what belongs to `adapt`


def _plain(value: Any) -> Any:
    return int(value) if isinstance(value, bool) else value
