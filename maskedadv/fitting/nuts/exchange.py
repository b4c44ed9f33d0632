"""Sampling done elsewhere: write what CmdStan needs for a locale, read the Stan CSV files that it gave."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from maskedadv.design.blocks import Block, build_block, observed_values, require_shared_items
from maskedadv.design.floor import apply_floor
from maskedadv.design.logits import rated_values
from maskedadv.engines import Chains
from maskedadv.engines.cmdstan import read_chains
from maskedadv.errors import NotAResult
from maskedadv.fitting.nuts.layout import Layout, build_layout
from maskedadv.fitting.nuts.run import make_task
from maskedadv.fitting.nuts.sample import Plan, finish, make_plan
from maskedadv.fitting.run import run
from maskedadv.fitting.settings import Settings
from maskedadv.posterior import file_names, write_tree
from maskedadv.programs import program_text
from maskedadv.responses import Responses
from maskedadv.results import Fit

_PROGRAM_OF = (
    ("noise", "facet_crm", "joint"),
    ("difficulty_ca", "facet_binary", "joint"),
    ("ability", "facet_binary_marginal", "marginal"),
)


def write_stan(responses: Responses, settings: Settings, folder: Path) -> list[Path]:
    """Write program, data and starting values of every locale for CmdStan.

    Returns
    -------
    One folder per locale, with `<program>.stan` (self-contained), `data.json` and `inits_1.json`, ...
    """
    import cmdstanpy

    locales = list(settings.locale or [])
    stems = {k: Path(v).stem for k, v in file_names(locales).items()}
    out = []
    for locale in locales:
        plan = make_plan(make_task(_layout(responses, settings, locale), settings, "embedded"))
        own = folder / stems[locale]
        own.mkdir(parents=True, exist_ok=True)
        (own / f"{plan.program}.stan").write_text(program_text(plan.program), "utf-8")
        cmdstanpy.write_stan_json(str(own / "data.json"), plan.data)
        for k, values in enumerate(plan.inits, 1):
            cmdstanpy.write_stan_json(str(own / f"inits_{k}.json"), values)
        out.append(own)
    return out


def read_stan(responses: Responses, settings: Settings, files: Sequence[Path]) -> Fit:
    """A result from the Stan CSV files of one locale's chains, sampled from `write_stan`'s output.

    Parameters
    ----------
    settings : as they were for `write_stan`, with one locale

    Raises
    ------
    NotAResult
        A file is no Stan CSV, holds draws of another program, or of another table.
    """
    (locale,) = settings.locale or ("",)
    chains, fit = _read(files)
    found = [(p, e) for column, p, e in _PROGRAM_OF if column in chains.variables]
    if not found:
        raise NotAResult(f"{files[0]} holds draws of another program (no ability, no difficulty).")
    program, estimator = found[0]
    n_chains, n_draws = chains.stats["lp"].shape
    config = fit.metadata.cmdstan_config
    settings = replace(
        settings,
        chains=n_chains,
        draws=n_draws,
        warmup=int(config.get("num_warmup", settings.warmup)),
        adapt_delta=float(config.get("delta", settings.adapt_delta)),
        max_treedepth=int(config.get("max_depth", settings.max_treedepth)),
        estimator=estimator,
    )
    layout = _layout(responses, settings, locale)
    task = replace(make_task(layout, settings, "cmdstan"), marginal_at_any_cost=estimator == "marginal")
    plan = make_plan(task)
    _must_match(chains, plan, program, layout, files)
    version = ".".join(str(config.get(f"stan_version_{k}", "?")) for k in ("major", "minor", "patch"))
    with tempfile.TemporaryDirectory(prefix="maskedadv-") as temporary:
        kept = Path(temporary) / file_names([locale])[locale]
        tree = finish(task, plan, chains, f"CmdStan {version}, imported")
        write_tree(tree, kept)
        result = run(responses, settings, folder=Path(temporary))
        posterior = replace(result.posteriors[locale], source=tree)
    return replace(result, posteriors={locale: posterior})


def _layout(responses: Responses, settings: Settings, locale: str) -> Layout:
    values = observed_values(responses, settings.response)
    require_shared_items(responses, values, [locale], settings.pivot)
    rated = rated_values(responses, settings.response)
    keep, _ = apply_floor(responses, rated, [locale], settings.pivot, settings.min_accuracy)
    blocks: dict[int, Block] = {}
    for subset in (0, 1):
        block = build_block(
            responses, values, subset=subset, locales=[locale], pivot=settings.pivot, keep_model=keep
        )
        if block is not None:
            blocks[subset] = block
    return build_layout(responses, blocks, locale, settings.pivot)


def _read(files: Sequence[Path]) -> tuple[Chains, Any]:
    import cmdstanpy

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
    wanted: dict[str, tuple[int, ...]] = {"ability": (len(layout.models), 4)}
    if program != "facet_binary_marginal":
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
