"""What is simulated, in plain numbers; the command line follows.

To add one, add a field, and its part in `maskedadv.simulation.world` or `maskedadv.simulation.answers`.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from maskedadv.checks import Check, Maybe, Number, Whole, language_codes, text
from maskedadv.errors import BadSetting
from maskedadv.settings import Option

_LOGITS = Number(-20.0, 20.0)
_SPREAD = Number(0.0, 10.0, lowest_allowed=True)
_SHARE = Number(0.0, 1.0, lowest_allowed=True)


def _option(default: Any, check: Check, help: str, **more: Any) -> Any:
    return field(default=default, metadata={"option": Option(check, help, **more)})


@dataclass(frozen=True)
class Plan:
    """A study in plain numbers, checked when made: P = c + (1 − c)·logit⁻¹(a(θ − b + u + f)).

    θ is a model's ability on a subset in a language, b an item's difficulty (with DIF, another in the local
    language), a its discrimination, c its floor, u what the model, f what its family knows of this very item.

    Raises
    ------
    BadSetting
        A value is outside its range.
    """

    models: int = _option(12, Whole(1, 10_000), "Models.")
    families: int | None = _option(
        None,
        Maybe(Whole(1, 10_000)),
        "Families that the models fall into; see --family-sd. Default: all differ.",
    )
    items_ca: int = _option(200, Whole(1, 1_000_000), "Culture-agnostic items, asked in every language.")
    items_cs: int = _option(200, Whole(1, 1_000_000), "Culture-specific items of every locale.")
    locale: tuple[str, ...] = _option(
        ("zh",), language_codes, "Local language; may be several.", several=True
    )
    pivot: str = _option("en", text, "Language to compare with.")
    global_gap: float = _option(-1.0, _LOGITS, "Mean global gap, logit.")
    knowledge_gap: float = _option(0.3, _LOGITS, "Mean knowledge gap, logit.")
    gap_sd: float = _option(0.0, _SPREAD, "Spread over models of the global and of the knowledge gap, logit.")
    ability: float = _option(
        1.0, _LOGITS, "Mean ability in the pivot, above the mean difficulty of CA items."
    )
    ability_sd: float = _option(0.8, _SPREAD, "Spread of the models' abilities, logit.")
    harder: float = _option(0.0, _LOGITS, "How much harder CS items are, logit.")
    difficulty_sd: float = _option(1.2, _SPREAD, "Spread of the items' difficulties, logit.")
    discrimination_cs: float = _option(
        1.0, Number(0.0, 10.0), "Median discrimination of CS items; that of CA items is 1."
    )
    discrimination_sd: float = _option(0.0, _SPREAD, "Spread of the log discrimination of items.")
    options: int | None = _option(
        None,
        Maybe(Whole(2, 1000)),
        "Options of every question: who does not know guesses, right in 1 of so many.",
    )
    pair_sd_ca: float = _option(0.0, _SPREAD, "Spread of what a model knows of single CA items, logit.")
    pair_sd_cs: float = _option(0.0, _SPREAD, "Spread of what a model knows of single CS items, logit.")
    family_sd: float = _option(0.0, _SPREAD, "Spread of what a family knows of single items, logit.")
    dif_share: float = _option(
        0.0,
        Number(0.0, 1.0 + 1e-9, lowest_allowed=True),
        "Share of items whose difficulty is another in the local language (DIF), up or down by chance.",
    )
    dif_size: float = _option(0.5, _SPREAD, "By how much, logit.")
    missing: float = _option(0.0, _SHARE, "Share of answers that are missing, by chance.")
    seed: int = _option(1, Whole(0, 2**31 - 1), "Seed of all random numbers.")

    def __post_init__(self) -> None:
        for name, option in PLAN_OPTIONS.items():
            object.__setattr__(self, name, option.check(name, getattr(self, name)))
        if not self.locale:
            raise BadSetting("locale: name at least one local language.")
        twice = len({*self.locale, self.pivot}) < 1 + len(self.locale)
        if twice or not all(code.strip() for code in (*self.locale, self.pivot)):
            raise BadSetting("locale and pivot must be languages that differ, none of them empty.")
        if self.families is not None and self.families > self.models:
            raise BadSetting(f"families ({self.families}) must not be more than models ({self.models}).")

    @property
    def chance(self) -> float:
        """The guessing floor, 0 where nobody guesses."""
        return 0.0 if self.options is None else 1.0 / self.options

    @property
    def n_items(self) -> tuple[int, int]:
        """Items of a locale, CA and CS."""
        return self.items_ca, self.items_cs

    @property
    def pair_sd(self) -> tuple[float, float]:
        """Spread of what a model knows of single items, CA and CS, logit."""
        return self.pair_sd_ca, self.pair_sd_cs

    @property
    def slopes(self) -> tuple[float, float]:
        """Median discrimination of CA and CS items."""
        return 1.0, self.discrimination_cs

    @property
    def gaps(self) -> tuple[float, float]:
        """Mean difference local less pivot on CA and on CS, logit."""
        return self.global_gap, self.global_gap + self.knowledge_gap

    def as_json(self) -> dict[str, Any]:
        """Plain texts, numbers and lists; `Plan(**values)` gives the same plan again."""
        plain: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return plain


PLAN_OPTIONS: Mapping[str, Option] = {f.name: f.metadata["option"] for f in fields(Plan)}
"""Every number of a plan by name."""


def plan_docs() -> str:
    """The numbers of a plan as parameters of a numpydoc docstring, with defaults."""
    parts = []
    for f in fields(Plan):
        default = "" if f.default is None else f" : default {f.default!r}"
        words = textwrap.fill(f.metadata["option"].help, 100, initial_indent="    ", subsequent_indent="    ")
        parts.append(f"{f.name}{default}\n{words}")
    return "\n".join(parts)
