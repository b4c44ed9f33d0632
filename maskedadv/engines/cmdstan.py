"""The CmdStan engine: compiled programs through CmdStanPy."""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import platformdirs
from numpy.typing import NDArray

from maskedadv.engines.cmdstan_chains import sample_chains, will_not_start
from maskedadv.engines.console import make_cause_in
from maskedadv.engines.processes import run_all
from maskedadv.engines.protocol import STATS, Chains, Data, Optimum, Values
from maskedadv.engines.stan_files import program_text
from maskedadv.engines.table import in_words_of
from maskedadv.errors import EngineFailed, EngineMissing, NotConverged
from maskedadv.files.alive import temporary_folder
from maskedadv.files.atomic import write_whole
from maskedadv.settings import Sampler

INSTALL = (
    "install it with `python -m cmdstanpy.install_cmdstan --version 2.36.0` (needs a C++ compiler and make)"
)
_MINIMUM = (2, 36)
_FLAGS = {"STAN_THREADS": "TRUE"}

log = logging.getLogger("maskedadv")

_TOLERANCES: dict[str, Any] = {
    "algorithm": "lbfgs",
    "tol_obj": 1e-14,
    "tol_rel_obj": 10.0,
    "tol_grad": 1e-9,
    "tol_rel_grad": 100.0,
    "tol_param": 1e-10,
}
"""Stan's defaults stop up to 2e-3 logit before the maximum in a flat direction."""


def cache_folder() -> Path:
    """Where executables are kept: never beside the programs, which may be read-only."""
    return Path(os.environ.get("MASKEDADV_CACHE") or platformdirs.user_cache_dir("maskedadv"))


@dataclass(frozen=True)
class CmdStan:
    """Runs programs as compiled executables."""

    name: str = "cmdstan"

    @property
    def version(self) -> str:
        """Version of CmdStan."""
        return f"CmdStan {'.'.join(map(str, installed_version()))}"

    def require(self) -> None:
        """See `Engine.require`."""
        installed_version()

    def optimize(self, program: str, data: Data, inits: Values, *, seed: int) -> Optimum:
        """Maximise by L-BFGS without Jacobian.

        A stop with a line-search error is a stop at the limit of precision: the point is used, and
        whoever called checks the gradient.
        """
        model = _model(program)
        with _quiet(), temporary_folder() as folder:
            try:
                fit = model.optimize(
                    data=_write(folder, "data.json", data),
                    inits=_write(folder, "inits.json", inits),
                    seed=seed,
                    iter=5000,
                    jacobian=False,
                    require_converged=False,
                    **_TOLERANCES,
                    sig_figs=18,
                    output_dir=str(folder),
                )
                variables = {k: np.asarray(v, dtype=np.float64) for k, v in fit.stan_variables().items()}
                density = float(fit.optimized_params_dict["lp__"])
            except (RuntimeError, ValueError, OSError) as error:
                raise EngineFailed(f"CmdStan could not optimise '{program}': {error}") from error
        if not np.isfinite(density):
            raise NotConverged(f"CmdStan found no finite log density for '{program}'.")
        return Optimum(variables, density)

    def log_density(self, program: str, data: Data, values: Values) -> tuple[float, NDArray[np.float64]]:
        """Log density and gradient on the unconstrained scale."""
        model = _model(program)
        with _quiet(), temporary_folder() as folder:
            try:
                table = model.log_prob(
                    _write(folder, "values.json", values),
                    data=_write(folder, "data.json", data),
                    jacobian=True,
                    sig_figs=18,
                )
            except (RuntimeError, ValueError, OSError) as error:
                raise EngineFailed(f"CmdStan could not evaluate '{program}': {error}") from error
        row = table.iloc[0].to_numpy(dtype=np.float64)
        return float(row[0]), row[1:]

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
        """NUTS; one process a chain. See `Engine.sample`."""
        executable = _executable(program)
        with _quiet(), temporary_folder() as folder:
            data_file = _write(folder, "data.json", data)
            starts = [_write(folder, f"inits_{k}.json", v) for k, v in enumerate(inits)]
            found = sample_chains(
                executable,
                data_file,
                starts,
                settings=in_words_of(self.name, sampler),
                seed=seed,
                at_once=min(threads or os.cpu_count() or 1, len(inits)),
                progress=progress,
                folder=folder,
            )
            return read_chains(found)


def read_chains(fit: Any) -> Chains:
    """Draws of a `CmdStanMCMC` with the chains first."""
    variables = {}
    for name, values in fit.stan_variables().items():
        # CmdStanPy gives chains one after the other, and drops the axis of containers of length one.
        shape = fit.metadata.stan_vars[name].dimensions
        variables[name] = np.asarray(values, dtype=np.float64).reshape(fit.chains, -1, *shape)
    # Stan's sampler columns stand first, in the order of STATS.
    stats = {name: fit.draws()[:, :, k].T for k, name in enumerate(STATS)}
    return Chains(variables, stats)


def installed_version() -> tuple[int, int]:
    """Version of the CmdStan that CmdStanPy finds.

    Raises
    ------
    EngineMissing
        None is installed, or it is older than the programs need.
    """
    with _quiet():
        try:
            import cmdstanpy

            cmdstanpy.cmdstan_path()
            found = cmdstanpy.utils.cmdstan_version()
        except (ValueError, ImportError) as error:
            raise EngineMissing(f"CmdStan is not installed; {INSTALL}, or use --engine embedded.") from error
    if found is None:
        raise EngineMissing(f"the CmdStan folder that CmdStanPy found is damaged; {INSTALL}.")
    version = (int(found[0]), int(found[1]))
    if version < _MINIMUM:
        raise EngineMissing(
            f"CmdStan {version[0]}.{version[1]} is too old (the programs need 2.36); {INSTALL}."
        )
    return version


def _model(program: str) -> Any:
    """The compiled program, for CmdStanPy."""
    import cmdstanpy

    executable = _executable(program)
    with _quiet():
        try:
            return cmdstanpy.CmdStanModel(exe_file=str(executable))
        except (ValueError, RuntimeError, OSError) as error:
            raise EngineFailed(will_not_start(executable, str(error))) from error


def _executable(program: str) -> Path:
    """Where the compiled program lies; compiled in a temporary folder and moved there when whole."""
    import cmdstanpy

    text = program_text(program)
    version = ".".join(map(str, installed_version()))
    home = Path(cmdstanpy.cmdstan_path())
    # Two CmdStans of one version may differ in their patches, flags and compilers: the path tells them apart,
    # and at one path what its makefiles say: the whole version, and flags of the user's.
    files = [home / "makefile", home / "make" / "local"]
    made = [file.read_text("utf-8", "replace") if file.is_file() else "" for file in files]
    made_by = (text, version, str(home), *made, str(sorted(_FLAGS.items())))
    key = hashlib.sha256("\0".join(made_by).encode()).hexdigest()[:16]
    suffix = ".exe" if os.name == "nt" else ""
    kept = cache_folder() / f"cmdstan-{version}" / f"{program}-{key}{suffix}"
    if not kept.exists():
        _compile(program, text, kept)
    return kept


def _compile(program: str, text: str, kept: Path) -> None:
    import cmdstanpy

    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EngineMissing(
            f"the cache folder {kept.parent} cannot be written ({error}); set MASKEDADV_CACHE to another."
        ) from error
    log.info("compiling '%s' for CmdStan (once; it is kept in %s)", program, kept.parent)
    with temporary_folder() as folder:
        (folder / f"{program}.stan").write_text(text, "utf-8")
        built, console = folder / f"{program}{kept.suffix}", folder / "make.txt"
        make = os.environ.get("MAKE") or ("mingw32-make" if os.name == "nt" else "make")
        flags = [f"{name}={value}" for name, value in _FLAGS.items()]
        try:
            home = Path(cmdstanpy.cmdstan_path())
            (code,) = run_all([[make, *flags, built.as_posix()]], [console], at_once=1, cwd=home)
        except OSError as error:
            raise EngineFailed(_cannot_compile(program, f"{make}: {error.strerror}")) from error
        if code or not built.exists():
            told = make_cause_in(console.read_text("utf-8", "replace"), code or 0)
            raise EngineFailed(_cannot_compile(program, told))
        write_whole(kept, lambda partial: shutil.copy2(built, partial))


def _cannot_compile(program: str, cause: str) -> str:
    import cmdstanpy

    return (
        f"CmdStan ({cmdstanpy.cmdstan_path()}) could not compile '{program}': {cause.rstrip('.')}; mend its "
        "installation, or use --engine embedded."
    )


def _write(folder: Path, name: str, values: Data | Values) -> str:
    import cmdstanpy

    path = str(folder / name)
    cmdstanpy.write_stan_json(path, dict(values))
    return path


@contextmanager
def _quiet() -> Iterator[None]:
    """CmdStanPy's own log lines are for its developers; errors reach the user as exceptions."""
    logger = logging.getLogger("cmdstanpy")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(before)
