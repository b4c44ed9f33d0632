"""From numbers to a verdict, with the reason and the remedy in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from maskedadv.diagnostics.measures import Measures

FINE, LOOK, DO_NOT_USE = "fine", "look", "do not use"
_ORDER = (FINE, LOOK, DO_NOT_USE)

RHAT_LOOK, RHAT_STOP = 1.01, 1.05
ESS_LOOK, ESS_STOP = 400.0, 100.0
DIVERGENT_STOP = 0.01
BFMI_LOOK = 0.3
DEEP_LOOK = 0.01
LIKENESS_LOOK = 4.0
"""Standard deviations of the replicated largest residual correlation."""


@dataclass(frozen=True)
class Finding:
    """One thing to know: how bad, why, what to do."""

    level: str
    reason: str
    remedy: str


def judge(m: Measures) -> list[Finding]:
    """Findings, worst first; none means fine.

    `do not use`: chains disagree about a gap (R-hat over 1.05), a gap has fewer than 100 effective draws, a
    chain never moved, or over 1% of transitions diverged. `look`: R-hat over 1.01, fewer than 400 effective
    draws, any divergence, E-BFMI under 0.3, over 1% of trajectories cut off, one chain, totals that the model
    cannot give, models that answer more alike than it can replicate, no known gap.
    """
    found = [*_convergence(m), *_sampler(m), *_predictive(m)]
    return sorted(found, key=lambda f: -_ORDER.index(f.level))


def verdict(findings: Sequence[Finding]) -> str:
    """The worst level found."""
    return max((f.level for f in findings), key=_ORDER.index, default=FINE)


def _convergence(m: Measures) -> list[Finding]:
    longer = "run more iterations (--warmup 2000 --draws 2000)"
    out = []
    if m.chains < 2:
        out.append(Finding(LOOK, "one chain: agreement between chains cannot be judged", "use --chains 4"))
    if not m.gaps:
        return [*out, *_no_gaps(m)]
    if m.still:
        reason = f"{m.still} of {m.chains} chains never moved: these are no draws of the posterior"
        remedy = "give more warmup (--warmup 1000) and the default --adapt-delta; look at the priors given"
        return [*out, Finding(DO_NOT_USE, reason, remedy)]
    if math.isnan(m.ess_bulk_gaps):
        out.append(Finding(DO_NOT_USE, "too few draws for any diagnostic", "use --draws 1000"))
        return out
    if m.rhat_gaps > RHAT_STOP:
        reason = f"chains disagree about a gap: R-hat {m.rhat_gaps:.3f} ({m.worst_gap})"
        out.append(
            Finding(DO_NOT_USE, reason, f"{longer}; if it stays, the model does not fit these answers")
        )
    elif m.rhat_gaps > RHAT_LOOK:
        out.append(Finding(LOOK, f"R-hat of {m.worst_gap} is {m.rhat_gaps:.4f}, above {RHAT_LOOK}", longer))
    elif m.rhat_all > RHAT_LOOK:
        reason = f"R-hat of {m.worst} is {m.rhat_all:.3f}; the gaps are at {m.rhat_gaps:.3f}"
        out.append(Finding(LOOK, reason, f"{longer} before using that quantity"))
    least = min(m.ess_bulk_gaps, m.ess_tail_gaps)
    if least < ESS_STOP:
        reason = f"a gap has only {least:.0f} effective draws (mean off by up to {m.mcse_ratio:.2f} sd)"
        out.append(Finding(DO_NOT_USE, reason, longer))
    elif least < ESS_LOOK:
        reason = f"a gap has {least:.0f} effective draws, fewer than {ESS_LOOK:.0f}: interval ends are rough"
        out.append(Finding(LOOK, reason, longer))
    elif min(m.ess_bulk_all, m.ess_tail_all) < ESS_LOOK:
        worst = min(m.ess_bulk_all, m.ess_tail_all)
        reason = f"some quantity other than a gap has only {worst:.0f} effective draws"
        out.append(Finding(LOOK, reason, f"{longer} before using it"))
    return out


def _no_gaps(m: Measures) -> list[Finding]:
    """No gap is known in the locale; what was sampled may still say something of abilities."""
    out = [Finding(LOOK, "no gap is known in this locale", "see the notes of `maskedadv gaps`")]
    if m.rhat_all > RHAT_LOOK:
        reason = f"R-hat of {m.worst} is {m.rhat_all:.3f}"
        out.append(Finding(LOOK, reason, "run more iterations (--warmup 2000 --draws 2000) before using it"))
    return out


def _sampler(m: Measures) -> list[Finding]:
    out = []
    total = m.chains * m.draws
    if m.divergences:
        level = DO_NOT_USE if m.divergences > DIVERGENT_STOP * total else LOOK
        reason = f"{m.divergences} of {total} transitions diverged: part of the posterior may be missing"
        remedy = "use --adapt-delta 0.99; if it stays, a tighter prior (--prior spread_log_sd=0.5)"
        out.append(Finding(level, reason, remedy))
    if m.bfmi < BFMI_LOOK:
        reason = f"E-BFMI is {m.bfmi:.2f}, under {BFMI_LOOK}: the tails are explored slowly"
        out.append(Finding(LOOK, reason, "run more iterations; look at the energy plot (--plots)"))
    if m.deepest > DEEP_LOOK * total:
        reason = f"{m.deepest} of {total} trajectories were cut off at the largest tree (slow, not wrong)"
        out.append(Finding(LOOK, reason, "use --max-treedepth 12"))
    return out


def _predictive(m: Measures) -> list[Finding]:
    out = []
    for name, n, extreme, p in (
        ("cells", m.cells, m.cells_extreme, m.cell_p),
        ("items", m.items, m.items_extreme, m.item_p),
    ):
        # One per cent is what chance alone would give, at most.
        if extreme > max(1.0, 0.03 * n):
            reason = (
                f"the totals of {extreme} of {n} {name} are unlikely under the model (smallest p {p:.3f})"
            )
            out.append(
                Finding(LOOK, reason, "the Rasch model misfits there: look at these before concluding")
            )
    if m.likeness > m.likeness_rep + LIKENESS_LOOK * m.likeness_sd:
        reason = (
            f"two models answer more alike than the program can replicate: residual correlation "
            f"{m.likeness:.2f}, replicated {m.likeness_rep:.2f} (sd {m.likeness_sd:.2f}, p "
            f"{m.likeness_p:.3f})"
        )
        out.append(
            Finding(LOOK, reason, "take the paired gaps; the relatives are named in the warnings of the fit")
        )
    return out
