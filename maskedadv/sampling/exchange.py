"""Sampling done elsewhere: write what CmdStan needs for a locale, read the Stan CSV files that it gave."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from maskedadv.design.prepare import Design, prepare
from maskedadv.engines.cmdstan import read_chains
from maskedadv.engines.protocol import Chains
from maskedadv.engines.stan_files import program_text
from maskedadv.engines.table import from_stan_csv
from maskedadv.errors import BadSetting, NotAResult, OutputExists
from maskedadv.files.alive import temporary_folder
from maskedadv.files.folders import whole_folder
from maskedadv.fitting import fit_design
from maskedadv.responses import Responses
from maskedadv.result.draws import Posterior, file_names
from maskedadv.result.fit_result import Fit
from maskedadv.result.unfinished import keep_tree
from maskedadv.sampling.layout import Layout, build_layout
from maskedadv.sampling.locales import floors_of, make_task
from maskedadv.sampling.pairs import pairs_only
from maskedadv.sampling.programs import PROGRAMS
from maskedadv.sampling.same_density import density_spread
from maskedadv.sampling.sample import Plan, finish, make_plan
from maskedadv.sampling.unfinished_chains import refuse_unfinished
from maskedadv.settings import Settings

Array = NDArray[np.float64]

PAIRED = "posterior_paired"


def write_stan(responses: Responses, settings: Settings, folder: Path) -> list[Path]:
    """Write program, data and starting values of every locale for CmdStan.

    Returns
    -------
    One folder per locale, with `<program>.stan` (self-contained), `data.json` and `inits_1.json`, ...; and
    where the settings give items a guessing floor, one more per locale for the program with it; and one (with
    a floor two) for the program of pairs.

    Raises
    ------
    OutputExists
        The place cannot be written.
    """
    design = prepare(responses, settings)
    stems = {k: Path(v).stem for k, v in file_names(list(design.locales)).items()}
    out = []
    for locale in design.locales:
        layout, floors = _layout(design, locale)
        task = make_task(layout, settings, "embedded")
        out.append(_write_plan(make_plan(task), folder / stems[locale]))
        if floors is not None:
            plan = make_plan(replace(task, chance=floors))
            out.append(_write_plan(plan, folder / f"{stems[locale]}-floor"))
        if settings.response != "binary" or settings.variants == "none":
            continue
        pairs = replace(task, layout=pairs_only(layout), paired=True)
        out.append(_write_plan(make_plan(pairs), folder / f"{stems[locale]}-paired"))
        if floors is not None:
            plan = make_plan(replace(pairs, chance=floors))
            out.append(_write_plan(plan, folder / f"{stems[locale]}-paired-floor"))
    return out


def _write_plan(plan: Plan, folder: Path) -> Path:
    import cmdstanpy

    if folder.is_file():
        raise OutputExists(f"{folder} is a file; give another folder.")
    with whole_folder(folder, _is_written) as partial:
        (partial / f"{plan.program}.stan").write_text(program_text(plan.program), "utf-8")
        cmdstanpy.write_stan_json(str(partial / "data.json"), plan.data)
        for k, values in enumerate(plan.inits, 1):
            cmdstanpy.write_stan_json(str(partial / f"inits_{k}.json"), values)
    return folder


def _is_written(name: str) -> bool:
    """Files of an export; those of an earlier one (a program, more chains) would be taken for this one's."""
    return name == "data.json" or bool(re.fullmatch(r"posterior_\w+\.stan|inits_\d+\.json", name))


def read_stan(
    responses: Responses,
    settings: Settings,
    files: Sequence[Path],
    floor_files: Sequence[Path] = (),
    paired_files: Sequence[Path] = (),
    paired_floor_files: Sequence[Path] = (),
) -> Fit:
    """A result from the Stan CSV files of one locale's chains, sampled from `write_stan`'s output.

    Parameters
    ----------
    settings : as they were for `write_stan`, with one locale
    files : chains of the plain program
    floor_files, paired_files, paired_floor_files : of the programs with a guessing floor, of pairs, and of
        pairs with a floor; without them the result does not have those variants

    Raises
    ------
    NotAResult
        A file is no Stan CSV, holds draws of another program, or of another table.
    """
    (locale,) = settings.locale or ("",)
    given = {
        "plain": files, "floor": floor_files, "paired": paired_files, "paired+floor": paired_floor_files
    }  # fmt: skip
    given = {base: own for base, own in given.items() if own}
    if "paired+floor" in given and "floor" not in given:
        raise BadSetting(
            "draws of pairs with the floor stand beside those with the floor: give --floor-csv, too."
        )
    if "floor" not in given:
        settings = replace(settings, guessing="none")
    design = prepare(responses, settings)
    if "floor" in given and not design.has_floor:
        raise BadSetting(
            "draws of the program with the floor need each item's number of options: give --options, "
            "--guessing, or a table with a column n_options."
        )
    layout, floors = _layout(design, locale)
    trees: dict[str, xr.DataTree] = {}
    with temporary_folder() as temporary:
        name = file_names([locale])[locale]
        for base, own in given.items():
            paired, with_floor = base.startswith("paired"), base.endswith("floor")
            rows = pairs_only(layout) if paired else layout
            told, trees[base] = _finished(rows, settings, own, floors if with_floor else None, paired=paired)
            settings = told if base == "plain" else settings
            keep_tree(trees[base], temporary / base / name)
        # What was not sampled there is not to be sampled here.
        result = fit_design(design, settings, folder=temporary, bases=tuple(given))
    # The engine is not the one at hand, which did not run.
    info = replace(result.info, engine=str(trees["plain"].attrs["inference_library"]))
    posteriors = {base: {locale: Posterior(tree)} for base, tree in trees.items()}
    return replace(result, posteriors=posteriors, info=info)


def _finished(
    layout: Layout,
    settings: Settings,
    files: Sequence[Path],
    floors: tuple[Array, Array] | None,
    *,
    paired: bool = False,
) -> tuple[Settings, xr.DataTree]:
    """The settings as the files tell them, and the posterior."""
    chains, fit = _read(files)
    config = fit.metadata.cmdstan_config
    named = str(config.get("model", "")).removesuffix("_model")
    if named in PROGRAMS and (named == PAIRED) != paired:
        which = "of" if named == PAIRED else "without"
        raise NotAResult(
            f"{files[0]} holds draws of the program {which} pairs; files of the program of pairs go to "
            "--paired-csv (with the guessing floor: --paired-floor-csv), and only those."
        )
    if named in PROGRAMS and not paired and PROGRAMS[named].with_floor != (floors is not None):
        which = "without" if floors is not None else "with"
        raise NotAResult(
            f"{files[0]} holds draws of the program {which} the guessing floor; files of the program with it "
            "go to --floor-csv, and only those."
        )
    fitting = (p for p in PROGRAMS.values() if p.with_floor == (floors is not None) and p.name != PAIRED)
    own = [PROGRAMS[PAIRED]] if paired else [p for p in fitting if p.tells in chains.variables]
    if not own:
        raise NotAResult(f"{files[0]} holds draws of another program (no ability, no difficulty).")
    program, estimator = (
        own[0].name,
        own[0].estimator if floors is None and not paired else settings.estimator,
    )
    if (program == "posterior_continuous") != (settings.response == "crm"):
        raise NotAResult(f"{files[0]} holds draws of the program {program}; give the --response of the run.")
    n_chains, n_draws = chains.stats["lp"].shape
    told = from_stan_csv(config, settings.sampler) | {"draws": n_draws}
    settings = replace(settings, chains=n_chains, estimator=estimator, **told)
    task = replace(
        make_task(layout, settings, "cmdstan"),
        marginal_at_any_cost=estimator == "marginal",
        chance=floors,
        paired=paired,
    )
    plan = make_plan(task)
    _must_match(chains, plan, program, layout, files)
    _must_agree(chains, plan, files, int(config.get("sig_figs", 0)))
    version = ".".join(str(config.get(f"stan_version_{k}", "?")) for k in ("major", "minor", "patch"))
    return settings, finish(task, plan, chains, f"CmdStan {version}, imported")


def _layout(design: Design, locale: str) -> tuple[Layout, tuple[Array, Array] | None]:
    """A locale's layout, and the floors of its items."""
    blocks = design.of_locale(locale)
    return build_layout(blocks, locale, design.pivot), floors_of(blocks) if design.has_floor else None


def _read(files: Sequence[Path]) -> tuple[Chains, Any]:
    import cmdstanpy

    refuse_unfinished(files)
    logger = logging.getLogger("cmdstanpy")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        fit = cmdstanpy.from_csv([str(f) for f in files], method="sample")
        return read_chains(fit), fit
    except (ValueError, OSError, RuntimeError, AttributeError, KeyError) as error:
        raise NotAResult(f"{files[0]}: not Stan CSV files of one sampler run ({error}).") from error
    finally:
        logger.setLevel(before)


def _must_match(chains: Chains, plan: Plan, program: str, layout: Layout, files: Sequence[Path]) -> None:
    """Refuse arrays of other shapes, and the same chain given twice."""
    wanted: dict[str, tuple[int, ...]] = {"ability": (len(layout.models), 4)}
    if program in ("posterior_joint", "posterior_continuous"):
        wanted |= {"difficulty_ca": (plan.data["I_ca"],), "difficulty_cs": (plan.data["I_cs"],)}
    for name, shape in wanted.items():
        got = chains.variables[name].shape[2:] if name in chains.variables else None
        if got != shape:
            raise NotAResult(
                f"{files[0]} holds draws of another table: '{name}' has the shape {got}, these answers need "
                f"{shape}; give the table, --min-accuracy and --locale of the run."
            )
    if not np.isfinite(chains.stats["lp"]).all():
        raise NotAResult(f"{files[0]}: some draws have no finite log density; the run is damaged.")
    lp = chains.stats["lp"]
    twice = [k for k in range(1, len(lp)) if (lp[:k] == lp[k]).all(axis=1).any()]
    if twice:
        raise NotAResult(f"chain {twice[0] + 1} has the same draws as one before it; give every chain once.")


def _must_agree(chains: Chains, plan: Plan, files: Sequence[Path], digits: int) -> None:
    """Refuse draws whose log densities, but for a constant, are not those of these answers and priors."""
    spread, rounding = density_spread(chains, plan, digits)
    if not spread <= 0.01 + rounding:
        raise NotAResult(
            f"{files[0]} holds draws of another table or of other options: their log densities differ from "
            f"those of these answers by amounts that vary by {spread:.3g}; give the table, --locale, "
            "--min-accuracy, --prior, --response and --options of the run (chains of the program of pairs "
            "go to --paired-csv)."
        )
