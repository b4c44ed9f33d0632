"""Do draws made elsewhere belong to these answers and priors? Their log densities tell."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from maskedadv.engines import Chains, choose_engine
from maskedadv.errors import EngineFailed
from maskedadv.sampling.sample import Plan

Array = NDArray[np.float64]

_DRAWS = 12
_FEWEST_DIGITS = 6
"""What CmdStan wrote before it had a default of 8."""


def density_spread(chains: Chains, plan: Plan, digits: int = 0) -> tuple[float, float]:
    """How much log densities of a dozen draws depart from the plan's, and what rounding explains.

    Engines drop different constants, so only differences between draws can be compared. Under another table
    or other priors they vary from draw to draw as the log likelihoods do.

    Parameters
    ----------
    digits : significant digits of the files; 0 if not known

    Returns
    -------
    spread, rounding : largest difference between two of the excesses; infinite if a draw cannot be evaluated
    """
    engine = choose_engine("embedded")
    lp = chains.stats["lp"]
    places = np.unique(np.linspace(0, lp.size - 1, _DRAWS).astype(int))
    excess = []
    for chain, draw in zip(*np.unravel_index(places, lp.shape), strict=True):
        values = {name: _constrained(name, chains.variables[name][chain, draw]) for name in plan.inits[0]}
        try:
            density, _ = engine.log_density(plan.program, plan.data, values)
        except (EngineFailed, ValueError, RuntimeError):
            return np.inf, 0.0
        excess.append(lp[chain, draw] - density)
    rounding = np.abs(lp).max() * 10.0 ** (1 - (digits if digits > 0 else _FEWEST_DIGITS))
    return float(np.ptp(excess)), float(rounding)


def _constrained(name: str, value: Array) -> Array | float:
    """What rounding took off a constraint put back: Stan checks to 1e-8, files may hold six digits."""
    if name == "standard" or name.startswith("difficulty_"):
        return np.asarray(value - value.mean(axis=-1, keepdims=True))
    return np.asarray(value) if np.ndim(value) else float(value)
