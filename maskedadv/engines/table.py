"""The engines: which there are, where each stands, and its words for the sampler's settings.

To add one, write its file and enter it here. An engine is imported when it is first used, so that the command
line can name them all at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from maskedadv.settings import Sampler


@dataclass(frozen=True)
class Entry:
    """One engine.

    Attributes
    ----------
    place : `module:class`
    words : what it calls settings of the sampler that it does not call as `maskedadv.settings.Sampler` does
    """

    place: str
    words: Mapping[str, str] = field(default_factory=dict)


STAN_CSV = {
    "warmup": "num_warmup",
    "draws": "num_samples",
    "adapt_delta": "delta",
    "max_treedepth": "max_depth",
}
"""What the sampler's settings are called on CmdStan's command line and at the head of its files, where not as
here."""


ENGINES = {
    "embedded": Entry(
        "maskedadv.engines.embedded:Embedded",
        {"draws": "samples", "adapt_delta": "delta", "max_treedepth": "max_depth"},
    ),
    "cmdstan": Entry("maskedadv.engines.cmdstan:CmdStan", STAN_CSV),
}
"""By name, in the order in which `auto` takes the first that is there.

Per step of NUTS the embedded engine takes half the processor time of CmdStan or less, in every program
(docs/explanation/nuts.md)."""


def in_words_of(engine: str, sampler: Sampler) -> dict[str, Any]:
    """The sampler's settings by the engine's names."""
    words = ENGINES[engine].words
    return {words.get(f.name, f.name): getattr(sampler, f.name) for f in fields(sampler)}


def from_stan_csv(config: Mapping[str, Any], otherwise: Sampler) -> dict[str, Any]:
    """The sampler's settings by our names from the head of CmdStan's files.

    Parameters
    ----------
    config : CmdStan's settings by its own names
    otherwise : what holds where the files do not say
    """
    out = {}
    for f in fields(otherwise):
        known = getattr(otherwise, f.name)
        told = config.get(STAN_CSV.get(f.name, f.name), known)
        out[f.name] = str(told) in ("1", "true", "True") if isinstance(known, bool) else type(known)(told)
    return out
