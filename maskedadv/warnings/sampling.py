"""What went wrong while sampling."""

from __future__ import annotations

from collections.abc import Iterable

from maskedadv.warnings.kinds import Facts, kind

SAMPLING = "sampling"
"""A kind that pages leave out where they give the verdicts in full."""


@kind(SAMPLING)
def _sampling(f: Facts) -> Iterable[str]:
    if not f.posteriors:
        return ()
    from maskedadv.diagnostics.check import sampling_warnings

    return [s for base, own in f.posteriors.items() for s in sampling_warnings(own, base)]
