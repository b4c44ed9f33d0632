"""A stand-in for a CmdStan installation, so that the CmdStan engine is tested where none can be built.

The real CmdStanPy finds it, "compiles" with its makefile, calls the executable with CmdStan's own command
line and reads the Stan CSV that it writes; only the numbers come from the embedded engine instead of
compiled C++. What it cannot show is that CmdStan itself agrees; a test that needs the real one does that
where it is installed.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
from pathlib import Path
from typing import Any


def install(folder: Path, version: str = "2.36.0") -> Path:
    """Lay out a folder that CmdStanPy takes for CmdStan."""
    home = folder / f"cmdstan-{version}"
    (home / "bin").mkdir(parents=True)
    here = Path(__file__).resolve()
    (home / "makefile").write_text(
        f"CMDSTAN_VERSION := {version}\n%: %.stan\n\t@'{sys.executable}' '{here}' build '{home}' $< $@\n"
    )
    stanc = home / "bin" / "stanc"
    stanc.write_text("#!/bin/sh\necho stanc3 v2.36.0\n")
    stanc.chmod(0o755)
    return home


def build(home: str, source: str, executable: str) -> None:
    """Keep the program and write an executable that runs it."""
    kept = Path(home) / f"{Path(executable).name}.program.stan"
    kept.write_text(Path(source).read_text("utf-8"), "utf-8")
    script = f"#!/bin/sh\nexec '{sys.executable}' '{Path(__file__).resolve()}' run '{kept}' \"$@\"\n"
    Path(executable).write_text(script)
    os.chmod(executable, 0o755)


def run(program: str, arguments: list[str]) -> int:
    """Answer one CmdStan command line."""
    import numpy as np
    import stanli

    if arguments[:1] == ["info"]:
        print("stan_version_major = 2\nstan_version_minor = 36\nstan_version_patch = 0\nSTAN_THREADS=true")
        return 0
    chosen = dict(a.split("=", 1) for a in arguments if "=" in a)
    files: dict[str, str] = {}
    for section, argument in itertools.pairwise(arguments):
        if argument.startswith("file="):
            files[section] = argument.removeprefix("file=")
    data = {k: np.asarray(v) for k, v in json.loads(Path(files["data"]).read_text()).items()}
    text = Path(program).read_text("utf-8")
    model = stanli.Model(stan_code=text, data=data)

    def point(path: str) -> list[float]:
        values = json.loads(Path(path).read_text())
        flat = {k: np.asarray(v).ravel(order="F").tolist() if np.ndim(v) else v for k, v in values.items()}
        return list(model.unconstrain(flat))

    if "log_prob" in arguments or chosen.get("method") == "log_prob":
        density, gradient = model.log_prob_grad(point(chosen["constrained_params"]))
        header = ["lp__", *(f"g_q.{k + 1}" for k in range(len(gradient)))]
        Path(files["output"]).write_text(
            ",".join(header) + "\n" + ",".join(repr(float(v)) for v in [density, *gradient])
        )
        return 0
    if chosen.get("method") == "sample":
        name = f"{Path(program).stem}_model"
        return sample(model, name, point(chosen["init"]), chosen, Path(files["output"]))
    result = model.optimize(init=point(chosen["init"]), seed=int(chosen["seed"]), iter=int(chosen["iter"]))
    columns: dict[str, float] = {}
    for name, dims in result.variables.items():
        values = np.asarray(result[name])
        if not dims:
            columns[name] = float(values)
        for index in np.ndindex(*values.shape) if dims else []:
            columns[".".join([name, *(str(i + 1) for i in index)])] = float(values[index])
    lines = [
        "# stan_version_major = 2",
        "# stan_version_minor = 36",
        "# stan_version_patch = 0",
        "# model = m",
    ]
    lines += [
        "# method = optimize",
        "#   optimize",
        "#     algorithm = lbfgs (Default)",
        "#     jacobian = 0",
    ]
    lines += ["# id = 1", ",".join(["lp__", *columns])]
    lines += [",".join(repr(v) for v in [float(result.lp), *columns.values()])]
    Path(files["output"]).write_text("\n".join(lines) + "\n")
    return int(os.environ.get("FAKE_CMDSTAN_EXIT", "0"))


def sample(model: Any, name: str, start: list[float], chosen: dict[str, str], output: Path) -> int:
    """One chain of NUTS: the random numbers are those of CmdStan's stream of this chain id."""
    import numpy as np
    import stanli

    chain, warmup, draws = int(chosen["id"]), int(chosen["num_warmup"]), int(chosen["num_samples"])
    adapt = {"delta": float(chosen["delta"]), "max_depth": int(chosen["max_depth"])}
    starts = np.tile(start, (chain, 1))
    fit = model.sample(
        chains=chain,
        inits=starts,
        seed=int(chosen["seed"]),
        warmup=warmup,
        samples=draws,
        metric=chosen["metric"],
        refresh=0,
        **adapt,
    )
    total = warmup + draws
    print(f"Iteration: {1:4d} / {total} [  0%]  (Warmup)")
    print(f"Iteration: {total:4d} / {total} [100%]  (Sampling)")
    names = [name.replace("[", ".").replace("]", "").replace(",", ".") for name in fit.names]
    lines = [
        "# stan_version_major = 2",
        "# stan_version_minor = 36",
        "# stan_version_patch = 0",
        f"# model = {name}",
    ]
    lines += ["# method = sample (Default)", "#   sample", f"#     num_samples = {draws}"]
    lines += [
        f"#     num_warmup = {warmup}",
        "#     save_warmup = false (Default)",
        "#     thin = 1 (Default)",
    ]
    lines += ["#     adapt", "#       engaged = true (Default)", f"#       delta = {adapt['delta']}"]
    lines += ["#     algorithm = hmc (Default)", "#       hmc", "#         engine = nuts (Default)"]
    lines += ["#           nuts", f"#             max_depth = {adapt['max_depth']}"]
    lines += [f"#         metric = {chosen['metric']}", f"# id = {chain}"]
    lines += [",".join([*stanli.SAMPLER_COLUMNS, *names]), "# Adaptation terminated"]
    lines += [f"# Step size = {float(fit.step_size[-1])!r}", "# Diagonal elements of inverse mass matrix:"]
    lines += ["# " + ", ".join(repr(float(v)) for v in np.ravel(fit.inv_metric[-1]))]
    stats, values = fit.sampler_stats[-1], fit.draws()[-1]
    whole = {3, 4, 5}  # tree depth, leapfrog steps and divergence are integers in CmdStan's files
    for k in range(draws):
        own = [repr(int(v)) if c in whole else repr(float(v)) for c, v in enumerate(stats[k])]
        lines.append(",".join([*own, *(repr(float(v)) for v in values[k])]))
    lines += ["# ", "#  Elapsed Time: 0.01 seconds (Warm-up)", "#                0.01 seconds (Sampling)"]
    lines += ["#                0.02 seconds (Total)", "# "]
    output.write_text("\n".join(lines) + "\n")
    return int(os.environ.get("FAKE_CMDSTAN_EXIT", "0"))


if __name__ == "__main__":
    if sys.argv[1] == "build":
        build(*sys.argv[2:])
    else:
        sys.exit(run(sys.argv[2], sys.argv[3:]))
