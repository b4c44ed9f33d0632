"""The plan of a comparison: candidates, designs of the table, and folds, before anything is fitted."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskedadv import __version__
from maskedadv.checks import OneOf, Whole
from maskedadv.cross_validation.arguments import SHARED
from maskedadv.cross_validation.candidates import BY_NAME, DRAWS, NAMES
from maskedadv.cross_validation.choosing import Chosen, choose_candidates
from maskedadv.cross_validation.folds import SCHEMES, Folds, assign_folds
from maskedadv.cross_validation.training import Training
from maskedadv.design.prepare import Design, prepare
from maskedadv.errors import BadSetting
from maskedadv.files.digests import fingerprint_of
from maskedadv.responses import Responses
from maskedadv.settings import Settings

Array = NDArray[np.float64]

SHORT = {"chains": 2, "warmup": 300, "draws": 300}
"""Chains of a comparison are shorter than those of a fit: a prediction is a mean over draws, whose Monte
Carlo error is far below the differences between candidates."""


@dataclass(frozen=True)
class Plan:
    """Everything that a comparison needs of a table.

    Attributes
    ----------
    chosen : candidates, and why others are not among them
    settings : of every candidate's fits, by name
    designs : of the table, by kind of response; all hold the same answers
    target : the design whose right and wrong answers are predicted
    folds : of the whole table
    fold : of every block's answers, by locale and subset, shape (C, I)
    common : arguments that all fits share
    fingerprint : of the table
    """

    chosen: Chosen
    settings: Mapping[str, Settings]
    designs: Mapping[str, Design]
    target: Design
    folds: Folds
    fold: Mapping[tuple[str, int], Array]
    common: Mapping[str, Any]
    fingerprint: str

    @property
    def locales(self) -> list[str]:
        """Those that are fitted."""
        return list(self.target.locales)

    def describe(self) -> dict[str, Any]:
        """What tells this comparison from others, with `fingerprint`, its hash."""
        own: dict[str, Any] = {
            "maskedadv": __version__,
            "table": self.fingerprint,
            "scheme": self.folds.scheme,
            "folds": self.folds.count,
            "candidates": [c.name for c in self.chosen.candidates],
            "settings": {k: v for k, v in sorted(self.common.items()) if v is not None},
        }
        own = json.loads(json.dumps(own, default=str))
        return own | {"fingerprint": fingerprint_of(own)}

    def training(self, response: str, locale: str, fold: int) -> dict[int, Training]:
        """What a fold leaves of the locale's blocks, by subset."""
        design = self.designs.get(response, self.target)
        blocks = design.of_locale(locale)
        return {s: Training.without(b, self.fold[locale, s], fold) for s, b in blocks.items()}


def make_plan(
    table: Responses,
    *,
    scheme: str = "block",
    folds: int = 5,
    candidates: Sequence[str] | None = None,
    nuts: bool = False,
    **arguments: Any,
) -> Plan:
    """Check arguments and choose candidates; see `compare`."""
    unknown = [name for name in arguments if name not in SHARED]
    if unknown:
        raise TypeError(f"compare() got an unexpected keyword argument {unknown[0]!r}")
    OneOf(*SCHEMES)("scheme", scheme)
    Whole(2, 100)("folds", folds)
    if scheme == "block" and folds < 3:
        raise BadSetting(
            "scheme 'block' needs 3 folds or more: of two by two squares, what is left falls into two halves "
            "that share neither models nor items."
        )
    if isinstance(candidates, str):
        candidates = [candidates]
    for name in candidates or ():
        if name not in BY_NAME:
            raise BadSetting(f"candidate {name!r} is unknown; there are {', '.join(NAMES)}.")
    common = SHORT | arguments
    Settings(**(common | {"method": DRAWS}))  # checked, whether or not a candidate will use them
    chosen = choose_candidates(table, candidates, scheme=scheme, nuts=nuts, common=common)
    fingerprint = table.fingerprint
    table = chosen.observed(table)
    settings = {c.name: c.settings(common) for c in chosen.candidates}
    designs: dict[str, Design] = {}
    for c in chosen.candidates:
        # Blocks hold the floors of their items where these are known; candidates that want none look away.
        own = replace(settings[c.name], method="optimize", estimator="joint", interval="robust", priors=None)
        designs.setdefault(c.response, prepare(table, own))
    target = prepare(table, Settings(**_target(common)))
    assert table.correct is not None
    of_table = assign_folds(
        table, ~np.isnan(table.correct), scheme, folds, next(iter(settings.values())).seed
    )
    fold = {(b.locale, b.subset): of_table.of_block(b) for b in target.blocks}
    return Plan(chosen, settings, designs, target, of_table, fold, common, fingerprint)


def _target(common: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of the design whose answers are to be predicted."""
    return {k: v for k, v in common.items() if k in ("locale", "pivot", "min_accuracy")} | {
        "variants": "none"
    }
