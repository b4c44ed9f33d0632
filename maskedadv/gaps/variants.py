"""The gaps under every variant: each base as it is, and each under every transformation that it allows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from maskedadv.gaps.assemble import GapPart, assemble
from maskedadv.gaps.bases import Based, Run
from maskedadv.gaps.contrasts import Uncertainty
from maskedadv.gaps.linked import Transformed, link_all, without_link
from maskedadv.gaps.subset_gaps import LocaleGaps
from maskedadv.settings import Settings
from maskedadv.vocabulary import VARIANTS

Transform = Callable[[Run, str, Mapping[str, LocaleGaps]], Transformed]

TRANSFORMATIONS: Mapping[str, Transform] = {"linked": link_all}
"""By the name that they have in `maskedadv.vocabulary`."""


@dataclass(frozen=True)
class Variants:
    """The gaps of every variant that there is, in the order of `VARIANTS`.

    Attributes
    ----------
    gaps : of every variant and locale
    uncertainty : the same
    links : what is to be told of the scale links, a plain dictionary each
    """

    gaps: dict[str, dict[str, GapPart]]
    uncertainty: dict[str, dict[str, Uncertainty]]
    links: tuple[dict[str, Any], ...]


def make_variants(run: Run, bases: Mapping[str, Based]) -> Variants:
    """Every variant of every base that can be had in some locale.

    Raises
    ------
    NotEstimable
        A link was asked for and can be found in no locale.
    """
    return join_variants([variants_of(run, bases)], run.settings)


def join_variants(parts: Sequence[Variants], settings: Settings) -> Variants:
    """The variants of all locales, from those of some locales each; without those that none can have.

    Raises
    ------
    NotEstimable
        A link was asked for and can be found in no locale.
    """
    links = [link for name in VARIANTS for part in parts for link in part.links if link["variant"] == name]
    lost = without_link(links, settings)
    names = [name for name in parts[0].gaps if name not in lost]
    return Variants(
        gaps={name: {k: v for part in parts for k, v in part.gaps[name].items()} for name in names},
        uncertainty={
            name: {k: v for part in parts for k, v in part.uncertainty[name].items()} for name in names
        },
        links=tuple(links),
    )


def variants_of(run: Run, bases: Mapping[str, Based]) -> Variants:
    """Every variant of every base; where a link cannot be found its gaps are unknown."""
    gaps: dict[str, dict[str, GapPart]] = {}
    uncertainty: dict[str, dict[str, Uncertainty]] = {}
    links: list[dict[str, Any]] = []
    for name, (base, transformation) in VARIANTS.items():
        if base not in bases:
            continue
        own: Mapping[str, LocaleGaps] | None = bases[base].gaps
        if transformation:
            found = TRANSFORMATIONS[transformation](run, name, bases[base].gaps)
            links += found.told
            own = found.gaps
        if own is not None:
            parts = {k: assemble(run.design, run.settings, k, own[k]) for k in run.design.locales}
            gaps[name] = {k: part for k, (part, _) in parts.items()}
            uncertainty[name] = {k: spread for k, (_, spread) in parts.items()}
    return Variants(gaps, uncertainty, tuple(links))
