"""The analyses that are run beside the first one, each with one choice made otherwise.

To add one, write its function and name it in `MAKERS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from maskedadv.design.accuracy_filter import filter_models
from maskedadv.design.answered import Answered
from maskedadv.design.blocks import choose_locales
from maskedadv.design.logits import rated_values
from maskedadv.design.options import chance_of_items
from maskedadv.errors import NothingLeft
from maskedadv.responses import Responses
from maskedadv.settings import Settings

Rows = NDArray[np.bool_]

LEVELS = (0.0, 0.1, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5)
"""Of the accuracy filter."""

FIRST = "first"
"""Kind of the analysis that all others are compared with."""

TWO_PARAMETER = "2pl"


@dataclass(frozen=True)
class Specification:
    """One analysis.

    Attributes
    ----------
    kind : which choice is made otherwise
    name : how
    responses, settings : what is fitted, and how
    bases : bases of the variants that are estimated; None: all; `2pl`: with discriminations
    """

    kind: str
    name: str
    responses: Responses
    settings: Settings
    bases: tuple[str, ...] | None = ("plain", "paired")


@dataclass(frozen=True)
class Known:
    """What the choices are made from.

    Attributes
    ----------
    families : of models, where known
    subjects : of items, where known
    others : the same study under another letter form, prompt or reading, by name
    """

    responses: Responses
    settings: Settings
    families: Mapping[str, str] = field(default_factory=dict)
    subjects: Mapping[str, str] = field(default_factory=dict)
    others: Mapping[str, Responses] = field(default_factory=dict)


def keep_rows(responses: Responses, rows: Rows) -> Responses:
    """Only these rows; ids and their codes stay."""
    part = {name: getattr(responses, name)[rows] for name in ("model", "language", "item")}
    for name in ("correct", "p_correct", "crm_logit", "n_options"):
        values = getattr(responses, name)
        part[name] = None if values is None else values[rows]
    return replace(responses, **part, extra=None)


def first(known: Known) -> list[Specification]:
    """The analysis as asked for, with all its variants."""
    return [Specification(FIRST, "as asked for", known.responses, known.settings, None)]


def estimators(known: Known) -> list[Specification]:
    """Other estimators, scopes and responses; items that differ in discrimination."""
    s = known.settings
    out: list[tuple[str, Settings, tuple[str, ...]]] = []
    binary = s.response == "binary"
    for estimator in ("joint", "marginal") if binary else ():
        if estimator != s.estimator:
            out.append((estimator, replace(s, estimator=estimator), ("plain",)))
    if s.scope == "locale" and len(choose_locales(known.responses, s.locale, s.pivot)) > 1:
        own = replace(s, scope="joint")
        out.append(("one CA difficulty in all languages", own, ("plain",)))
    if known.responses.p_correct is not None and known.responses.correct is not None:
        for response in (r for r in ("binary", "soft", "crm") if r != s.response):
            own = replace(s, response=response, estimator="joint", guessing="none")
            out.append((f"response {response}", own, ("plain", "paired")))
    if binary:
        bare = replace(s, guessing="none")
        out.append(("discriminations (2PL)", bare, (TWO_PARAMETER,)))
        if chance_of_items(known.responses, s.guessing, s.options) is not None:
            out.append(("discriminations and floor (2PL)", s, (TWO_PARAMETER, "floor")))
    return [Specification("estimator", name, known.responses, own, bases) for name, own, bases in out]


def without_models(known: Known) -> list[Specification]:
    """Each model left out."""
    r = known.responses
    present = np.unique(r.model)
    if len(present) < 2:
        return []
    return [_part(known, "model", f"without {r.models[j]}", r.model != j) for j in present]


def without_families(known: Known) -> list[Specification]:
    """Each family left out, where there are several."""
    r = known.responses
    family = np.array([known.families.get(str(m), "") for m in r.models], dtype=object)[r.model]
    names = sorted({str(f) for f in family if f})
    if len(names) < 2:
        return []
    return [_part(known, "family", f"without {name}", family != name) for name in names]


def without_subjects(known: Known) -> list[Specification]:
    """Each subject of the items left out."""
    r = known.responses
    subject = np.array([known.subjects.get(str(i), "") for i in r.items], dtype=object)[r.item]
    names = sorted({str(s) for s in subject if s})
    if len(names) < 2:
        return []
    return [_part(known, "subject", f"without {name}", subject != name) for name in names]


def accuracy_filters(known: Known) -> list[Specification]:
    """Other levels of the accuracy filter, those that leave out the same models together."""
    r, s = known.responses, known.settings
    locales = choose_locales(r, s.locale, s.pivot)
    rated = Answered(r, rated_values(r, s.response))

    def kept(level: float, on: str) -> bytes | None:
        try:
            return filter_models(rated, locales, s.pivot, level, on)[0].tobytes()
        except NothingLeft:
            return None

    own = kept(s.min_accuracy, s.min_accuracy_on)
    groups: dict[bytes, list[float]] = {}
    for level in LEVELS:
        found = kept(level, s.min_accuracy_on)
        if found is not None and found != own:
            groups.setdefault(found, []).append(level)
    out = [(_levels(levels), replace(s, min_accuracy=levels[0])) for levels in groups.values()]
    other = "pivot" if s.min_accuracy_on == "all" else "all"
    if kept(s.min_accuracy, other) not in (own, None):
        out.append((f"on {other} cells", replace(s, min_accuracy_on=other)))
    return [Specification("accuracy filter", name, r, settings) for name, settings in out]


def _levels(levels: list[float]) -> str:
    if len(levels) == 1:
        return f"above {levels[0]:g}" if levels[0] else "none"
    return f"{'none' if not levels[0] else f'above {levels[0]:g}'} to above {levels[-1]:g}"


def missing_as_wrong(known: Known) -> list[Specification]:
    """Missing answers of models to items that others were asked, counted as wrong."""
    r = known.responses
    if known.settings.response != "binary" or r.correct is None or known.settings.missing == "wrong":
        return []
    shape = len(r.languages), len(r.models), len(r.items)
    answered = np.zeros(shape, dtype=bool)
    seen = ~np.isnan(r.correct)
    answered[r.language[seen], r.model[seen], r.item[seen]] = True
    rows = Answered(r, r.correct)
    asked = np.stack([rows.asked(str(k)) for k in r.languages])
    at = np.stack([answered[:, :, r.item_subset == s].any(axis=2) for s in (0, 1)], axis=2)
    lacking = asked[:, None, :] & at[:, :, r.item_subset.astype(np.intp)] & ~answered
    if not lacking.any():
        return []
    name = f"counted as wrong ({int(lacking.sum()):,})"
    wrong = replace(known.settings, missing="wrong")
    return [Specification("missing answers", name, r, wrong)]


def other_tables(known: Known) -> list[Specification]:
    """The same study under another letter form, prompt or reading."""
    return [Specification("table", name, own, known.settings) for name, own in known.others.items()]


def _part(known: Known, kind: str, name: str, rows: Rows) -> Specification:
    return Specification(kind, name, keep_rows(known.responses, rows), known.settings)


MAKERS: tuple[Callable[[Known], list[Specification]], ...] = (
    first,
    estimators,
    accuracy_filters,
    missing_as_wrong,
    other_tables,
    without_families,
    without_models,
    without_subjects,
)


def make_specifications(known: Known) -> list[Specification]:
    """All that can be made, the first analysis first."""
    return [spec for make in MAKERS for spec in make(known)]


def guess_subjects(items: NDArray[np.object_]) -> dict[str, str]:
    """Subjects from ids such as `astronomy/test/107`: what stands before the first slash.

    Empty unless all ids have a slash and there are several subjects, with several items each on average.
    """
    if not all("/" in str(i) for i in items):
        return {}
    subjects = {str(i): str(i).split("/", 1)[0] for i in items}
    count = len(set(subjects.values()))
    return subjects if 2 <= count <= len(subjects) / 3 else {}
