"""The arguments of a fit, each once: default, check and words; the command line and `maskedadv.fit` follow.

To add one, add a field to the group that it belongs to, and its type to `Arguments`.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, TypedDict

from maskedadv.checks import Check, Maybe, Number, OneOf, Whole, language_codes, text
from maskedadv.engines.table import ENGINES
from maskedadv.errors import BadSetting
from maskedadv.sampling.priors import Priors, make_priors
from maskedadv.vocabulary import HEADLINES

LEVEL = 0.95
"""Coverage of intervals, unless the user says otherwise."""


@dataclass(frozen=True)
class Option:
    """What is known of an argument beside its default.

    Attributes
    ----------
    check : gives the value in its one form, or raises `BadSetting`
    help : its words, in the command line's help and in the docstring of `maskedadv.fit`
    flag : on the command line; empty: the field's name
    metavar : on the command line, where the check does not say it
    several : whether the command line takes it several times
    """

    check: Check
    help: str
    flag: str = ""
    metavar: str = ""
    several: bool = False


def _option(default: Any, check: Check, help: str, **more: Any) -> Any:
    return field(default=default, metadata={"option": Option(check, help, **more)})


def _guessing(name: str, value: Any) -> str:
    """`auto`, `none`, `chance`, or a number from 0 to below 1 as text."""
    if str(value) in ("auto", "none", "chance"):
        return str(value)
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = -1.0
    if not 0.0 <= number < 1.0:
        raise BadSetting(
            f"{name} must be auto, none, chance or a number from 0 to less than 1 (is {str(value)!r})."
        )
    return repr(number)


@dataclass(frozen=True)
class Data:
    """Which part of the table is fitted."""

    locale: tuple[str, ...] | None = _option(
        None,
        language_codes,
        "Local language to take; may be several. Default: all but the pivot.",
        several=True,
    )
    pivot: str = _option("en", text, "Language to compare with.")
    min_accuracy: float = _option(
        0.35,
        Number(0.0, 1.0, lowest_allowed=True),
        "A model is left out of a locale unless its accuracy exceeds this in each of its cells; 0 keeps all.",
    )
    min_accuracy_on: str = _option(
        "all",
        OneOf("all", "pivot"),
        "Cells that the accuracy is taken from: all, as the papers do, which also selects on the gap itself; "
        "pivot, those in the pivot language alone, which does so a quarter as much.",
    )
    missing: str = _option(
        "auto",
        OneOf("auto", "left-out", "wrong"),
        "Answers that are missing, of models and items asked in that language: left out, or counted wrong. "
        "wrong fits left-out beside it (optimize); auto leaves them out, and fits wrong beside it where they "
        "are missing unevenly between the languages. `maskedadv gaps --missing` shows either.",
    )
    response: str = _option(
        "binary",
        OneOf("binary", "soft", "crm"),
        "binary: `correct`. soft: Bernoulli quasi-likelihood on `p_correct` (optimize only). crm: continuous "
        "response model, normal on `crm_logit` or the logit of `p_correct`.",
    )
    options: int | None = _option(
        None,
        Maybe(Whole(2, 1000)),
        "Number of options of the items that have none in a column `n_options`.",
    )


@dataclass(frozen=True)
class Likelihood:
    """What is maximised or sampled, and the variants beside it."""

    method: str = _option(
        "optimize", OneOf("optimize", "nuts"), "optimize: maximum likelihood. nuts: the full posterior."
    )
    estimator: str = _option(
        "",
        OneOf("joint", "marginal", "auto", unset=True),
        "optimize: joint (default), abilities and difficulties both free, the papers' estimator, for many "
        "models (inflates gaps by C/(C − 1) for C cells an item); marginal, difficulties integrated out, "
        "unbiased with few models too; auto, marginal below 40 cells an item. nuts: the same posterior "
        "either way; auto (default) takes the cheaper.",
    )
    scope: str = _option(
        "locale",
        OneOf("locale", "joint"),
        "locale: each locale on its own rows. joint: a CA item has one difficulty in all languages.",
    )
    guessing: str = _option(
        "auto",
        _guessing,
        "Floor of the variant `floor`: chance, 1/options of each item; a number for all items; none. auto "
        "takes chance where the options of every item are known. Binary responses only.",
        metavar="auto|none|chance|NUMBER",
    )
    link: str = _option(
        "auto",
        OneOf("auto", "none", "english"),
        "english: the variant `linked`, CS gaps on the CA scale by the spread of the models' pivot-language "
        "abilities; needs 8 models. auto gives it where it can; none does not.",
    )
    variants: str = _option(
        "auto", OneOf("auto", "none"), "none: the papers' gaps only, and what is asked for by name."
    )
    headline: str = _option(
        "auto",
        OneOf(*HEADLINES),
        "Gaps that commands and the report speak of first: the papers' (`plain`), every model by itself "
        "(`paired`), or paired where a test says that the plain ones lean on what models share (`auto`).",
    )


@dataclass(frozen=True)
class Intervals:
    """How uncertain the estimates are, and how that is told."""

    interval: str = _option(
        "",
        OneOf("robust", "information", "bootstrap", "posterior", unset=True),
        "optimize: robust (default), a sandwich clustered by item; information, from the information matrix, "
        "the model taken as true; bootstrap, items resampled, percentiles. nuts: posterior, equal tails.",
    )
    level: float = _option(LEVEL, Number(0.0, 1.0), "Coverage of the intervals.")
    replicates: int = _option(1000, Whole(10, 10**7), "Bootstrap replicates.")


@dataclass(frozen=True)
class Running:
    """How Stan is run."""

    engine: str = _option("auto", OneOf("auto", *ENGINES), "Stan engine.")
    seed: int = _option(1, Whole(0, 2**31 - 1), "Seed of the bootstrap and of Stan.")
    chains: int = _option(4, Whole(1, 64), "nuts: chains a locale.")
    log_likelihood: str = _option(
        "none",
        OneOf("none", "item"),
        "nuts: item keeps every item's log likelihood in every draw, its difficulty integrated out, for "
        "leave-one-item-out with arviz.loo and arviz.compare; files grow by 8 bytes a draw and item.",
    )


@dataclass(frozen=True)
class Sampler:
    """How NUTS is run; every engine is given these, by its words (`maskedadv.engines.table`)."""

    warmup: int = _option(1000, Whole(1, 10**6), "nuts: warmup iterations a chain.")
    draws: int = _option(1000, Whole(4, 10**6), "nuts: draws kept a chain.")
    adapt_delta: float = _option(0.9, Number(0.0, 1.0), "nuts: target acceptance.")
    max_treedepth: int = _option(10, Whole(1, 20), "nuts: longest trajectory, 2^N steps.")
    metric: str = _option("diag_e", OneOf("diag_e", "dense_e", "unit_e"), "nuts: form of the mass matrix.")


@dataclass(frozen=True)
class Beliefs:
    """What is believed beforehand."""

    priors: Mapping[str, float] | Priors | None = _option(  # noqa: RUF009
        None,
        lambda _, value: value,
        "nuts: names and numbers that replace priors; docs/explanation/priors.md.",
        flag="prior",
        metavar="NAME=NUMBER",
        several=True,
    )


GROUPS = (Data, Likelihood, Intervals, Running, Sampler, Beliefs)


@dataclass(frozen=True)
class Settings(Beliefs, Sampler, Running, Intervals, Likelihood, Data):
    """What a fit was asked to do: the groups together, checked when made.

    Raises
    ------
    BadSetting
        A value is outside its range, or two exclude each other.
    """

    def __post_init__(self) -> None:
        for name, option in OPTIONS.items():
            object.__setattr__(self, name, option.check(name, getattr(self, name)))
        nuts = self.method == "nuts"
        if not self.estimator:
            object.__setattr__(self, "estimator", "auto" if nuts else "joint")
        if not self.interval:
            object.__setattr__(self, "interval", "posterior" if nuts else "robust")
        object.__setattr__(self, "priors", asdict(make_priors(self.priors)) if nuts else None)
        self._agree()

    def _agree(self) -> None:
        """Refuse settings that exclude each other."""
        if self.missing == "wrong" and self.response == "crm":
            raise BadSetting("missing answers have no log-odds; missing 'wrong' goes with binary and soft.")
        floor = self.guessing not in ("auto", "none")
        if floor and self.response != "binary":
            raise BadSetting("a guessing floor goes with response 'binary' only.")
        if self.variants == "none" and self.headline == "paired":
            raise BadSetting("variants 'none' leaves no paired gaps to be the headline; leave one out.")
        if self.variants == "none" and (floor or self.link == "english"):
            raise BadSetting("variants 'none' excludes a guessing floor and a link; leave one of them out.")
        if self.method == "nuts":
            if self.response == "soft":
                raise BadSetting(
                    "response 'soft' is a quasi-likelihood and has no posterior; use binary, crm or "
                    "method 'optimize'."
                )
            if self.scope == "joint":
                raise BadSetting("scope 'joint' goes with method 'optimize' only; nuts fits each locale.")
            if self.interval != "posterior":
                raise BadSetting(f"interval '{self.interval}' goes with method 'optimize' only.")
        elif self.interval == "posterior":
            raise BadSetting("interval 'posterior' goes with method 'nuts' only.")
        if self.estimator == "marginal" and (why := _NO_MARGINAL.get(self.response)):
            raise BadSetting(why)

    @property
    def sampler(self) -> Sampler:
        """The settings of the sampler alone."""
        return Sampler(**{f.name: getattr(self, f.name) for f in fields(Sampler)})

    def as_json(self) -> dict[str, Any]:
        """Plain texts, numbers and lists; `Settings(**values)` gives the same settings again."""
        plain: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return plain


OPTIONS: dict[str, Option] = {f.name: f.metadata["option"] for group in GROUPS for f in fields(group)}
"""Every argument by name, in the order of the groups."""

_NO_MARGINAL = {
    "soft": "response 'soft' has no marginal estimator: the spread of difficulty is told from the noise "
    "of right and wrong, which soft answers lack, and gaps would shrink; use joint.",
    "crm": "response 'crm' has no marginal estimator; joint does not inflate its gaps, use that.",
}


class Arguments(TypedDict, total=False):
    """The types in which `maskedadv.fit` takes the settings."""

    locale: str | Sequence[str] | None
    pivot: str
    min_accuracy: float
    min_accuracy_on: str
    missing: str
    response: str
    options: int | None
    method: str
    estimator: str | None
    scope: str
    guessing: str | float
    link: str
    variants: str
    headline: str
    interval: str | None
    level: float
    replicates: int
    engine: str
    seed: int
    chains: int
    log_likelihood: str
    warmup: int
    draws: int
    adapt_delta: float
    max_treedepth: int
    metric: str
    priors: Mapping[str, float] | Priors | None


def option_docs() -> str:
    """The settings as parameters of a numpydoc docstring, with defaults."""
    parts = []
    for group in GROUPS:
        for f in fields(group):
            default = "" if f.default in ("", None) else f" : default {f.default!r}"
            words = textwrap.fill(
                f.metadata["option"].help, 100, initial_indent="    ", subsequent_indent="    "
            )
            parts.append(f"{f.name}{default}\n{words}")
    return "\n".join(parts)
