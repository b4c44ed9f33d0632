"""Gaps by what the models are: home or foreign, adapted, family, kind, size (arXiv 2606.07422, section 6)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from maskedadv.errors import MissingFacts
from maskedadv.gaps.joint import Array, Contrasts, Joint
from maskedadv.result.fit_result import Fit

DENSE, MIXTURE, REFERENCE = "dense", "mixture of experts", "size not known"
ALL_FAMILIES = "(within families)"


def home_versus_others(fit: Fit | Joint, models: pd.DataFrame, locales: pd.DataFrame) -> pd.DataFrame:
    """Mean gap of the models from a locale's home less that of all others, on that locale (Table 2).

    Models of unknown origin count on neither side.

    Returns
    -------
    DataFrame: locale, n_home, n_others, gap, home, others, estimate (home − others), sd, lower, upper,
    p_positive.

    Raises
    ------
    MissingFacts
        No locale has models on both sides.
    """
    joint = Joint.of(fit)
    origin = _text(joint, models, "origin")
    folded = np.array([v.casefold() for v in origin], dtype=object)
    homes = locales["home_origins"].reindex(list(joint.locales))
    at_home = np.zeros((len(joint.locales), len(joint.models)), dtype=bool)
    for row, places in enumerate(homes):
        if isinstance(places, tuple):
            at_home[row] = np.isin(folded, [p.casefold() for p in places])
    some = joint.some
    home, others = at_home & some, ~at_home & some & (origin != "")
    both = np.flatnonzero(home.any(axis=1) & others.any(axis=1))
    if not len(both):
        raise MissingFacts(
            "no locale has models from its home as well as others; give the origin of the models in "
            "models.csv (--models) and home_origins of the locales in a locales.toml (--locales)."
        )
    one = np.eye(len(joint.locales), dtype=bool)[both][:, :, None]
    ours, theirs = joint.average(one & home), joint.average(one & others)
    labels = {
        "locale": [joint.locales[k] for k in both],
        "n_home": (home[..., None] & joint.known)[both].sum(axis=1),
        "n_others": (others[..., None] & joint.known)[both].sum(axis=1),
    }
    frame = joint.contrast(ours - theirs).frame(labels)
    return _with_sides(frame, home=joint.contrast(ours), others=joint.contrast(theirs))


def adapted_versus_general(fit: Fit | Joint, models: pd.DataFrame) -> pd.DataFrame:
    """Each adapted model on its language less the mean of the general-purpose models there (Table 3).

    General purpose are the models of the table whose `adapted_for` is empty.

    Returns
    -------
    DataFrame: locale, model, n_general, gap, adapted, general, estimate (Δ), sd, lower, upper, p_positive.

    Raises
    ------
    MissingFacts
        No adapted model of the table has data in its language beside a general one.
    """
    joint = Joint.of(fit)
    adapted = _text(joint, models, "adapted_for")
    listed = np.isin(np.array(joint.models, dtype=object), models.index.to_numpy(dtype=object))
    some = joint.some
    general = some & (listed & (adapted == ""))[None]
    pairs = [
        (k, j)
        for j, codes in enumerate(adapted)
        for k, locale in enumerate(joint.locales)
        if locale in [c.strip() for c in codes.split(";")] and some[k, j] and general[k].any()
    ]
    if not pairs:
        raise MissingFacts(
            "no adapted model stands beside general ones in its language; give adapted_for (a locale code) "
            "in models.csv (--models)."
        )
    shape = (len(pairs), len(joint.locales), len(joint.models))
    single, rest = np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)
    for f, (k, j) in enumerate(pairs):
        single[f, k, j] = True
        rest[f, k] = general[k]
    ours, theirs = joint.average(single), joint.average(rest)
    labels = {
        "locale": [joint.locales[k] for k, _ in pairs],
        "model": [joint.models[j] for _, j in pairs],
        "n_general": np.stack([(general[k][:, None] & joint.known[k]).sum(axis=0) for k, _ in pairs]),
    }
    frame = joint.contrast(ours - theirs).frame(labels)
    return _with_sides(frame, adapted=joint.contrast(ours), general=joint.contrast(theirs))


def by_family(fit: Fit | Joint, models: pd.DataFrame) -> pd.DataFrame:
    """Mean of each gap over the models of a family, locale by locale, then over locales.

    Returns
    -------
    DataFrame: family, n_models, n_locales, gap, estimate, sd, lower, upper, p_positive.
    """
    return _by(Joint.of(fit), models, "family")


def by_kind(fit: Fit | Joint, models: pd.DataFrame) -> pd.DataFrame:
    """The same by `kind`, and `closed − open` where both are there.

    The difference is taken within each locale that has both and then averaged, so that it does not mix in
    which locales a model was asked in.
    """
    joint = Joint.of(fit)
    frame = _by(joint, models, "kind")
    kind = _text(joint, models, "kind")
    some = joint.some
    sides = [some & (kind == name) for name in ("closed", "open")]
    both = np.asarray(sides[0].any(axis=1) & sides[1].any(axis=1))
    if not both.any():
        return frame
    closed, opened = (joint.average((side & both[:, None])[None]) for side in sides)
    labels: dict[str, Any] = {
        "kind": ["closed − open"],
        "n_models": [int((sides[0] | sides[1])[both].any(axis=0).sum())],
        "n_locales": [int(both.sum())],
    }
    difference = joint.contrast(closed - opened).frame(labels)
    return pd.concat([frame, difference], ignore_index=True)


def by_size(fit: Fit | Joint, models: pd.DataFrame) -> pd.DataFrame:
    """Mean gaps of every model of the table over its locales, with its size (Figure 3).

    Returns
    -------
    DataFrame: model, family, parameters, active_parameters, architecture (dense, mixture of experts, size
    not known), n_locales, gap, estimate, sd, lower, upper, p_positive.

    Raises
    ------
    MissingFacts
        The number of parameters is known of no model.
    """
    from maskedadv.summaries.means import model_means

    joint = Joint.of(fit)
    size = _size(joint, models, "parameters")
    active = _size(joint, models, "active_parameters", needed=False)
    facts = pd.DataFrame(
        {
            "model": joint.models,
            "family": _text(joint, models, "family", needed=False),
            "parameters": size,
            "active_parameters": active,
            "architecture": _architecture(size, active),
        }
    )
    means = model_means(joint)
    listed = [m for m in joint.models if m in models.index]
    return facts[facts["model"].isin(listed)].merge(means, on="model", how="inner")


def size_slopes(fit: Fit | Joint, models: pd.DataFrame) -> pd.DataFrame:
    """Change of each gap for ten times the parameters, by family, dense models only.

    Least squares of the model means on log10(parameters) in every family of three sizes or more, and one
    slope within families over all that have two or more. A slope is a weighted sum of gaps; its interval
    comes from the joint uncertainty and is about these models.

    Returns
    -------
    DataFrame: family, n_models, gap, estimate (logit per factor ten), sd, lower, upper, p_positive; empty
    where no family has enough sizes.
    """
    joint = Joint.of(fit)
    size = _size(joint, models, "parameters")
    active = _size(joint, models, "active_parameters", needed=False)
    family = _text(joint, models, "family", needed=False)
    usable = (_architecture(size, active) == DENSE) & joint.known.all(axis=2).any(axis=0) & (family != "")
    x = np.where(usable, np.log10(np.where(usable, size, 1.0)), np.nan)
    eye = np.eye(len(joint.models), dtype=bool)[:, None, :]
    own = joint.average(np.broadcast_to(eye, (len(joint.models), len(joint.locales), len(joint.models))))
    names: list[str] = []
    counts: list[int] = []
    weights: list[Array] = []
    centred = np.zeros_like(x)
    for name in sorted(set(family[usable])):
        members = np.flatnonzero(usable & (family == name))
        d = x[members] - x[members].mean()
        if len(np.unique(x[members])) >= 2:
            centred[members] = d
        if len(np.unique(x[members])) >= 3:
            names.append(name)
            counts.append(len(members))
            weights.append(_sum(own, members, d / (d**2).sum()))
    within = np.flatnonzero(centred)
    if len(within):
        names.append(ALL_FAMILIES)
        counts.append(len(within))
        weights.append(_sum(own, within, centred[within] / (centred[within] ** 2).sum()))
    if not names:
        shape = (0, *joint.estimate.shape)
        return joint.contrast(np.zeros(shape)).frame({"family": [], "n_models": []})
    return joint.contrast(np.stack(weights)).frame({"family": names, "n_models": counts})


def _sum(own: Array, members: NDArray[np.intp], factor: Array) -> Array:
    total: Array = np.tensordot(factor, own[members], axes=(0, 0))
    return total


def _by(joint: Joint, models: pd.DataFrame, column: str) -> pd.DataFrame:
    value = _text(joint, models, column)
    some = joint.some
    groups = sorted({v for v in value[some.any(axis=0)] if v})
    members = np.stack([np.broadcast_to(value == name, some.shape) for name in groups])
    labels = {
        column: groups,
        "n_models": (members[..., None] & joint.known).any(axis=1).sum(axis=1),
        "n_locales": (members[..., None] & joint.known).any(axis=2).sum(axis=1),
    }
    return joint.contrast(joint.average(members)).frame(labels)


def _text(joint: Joint, models: pd.DataFrame, column: str, *, needed: bool = True) -> NDArray[np.object_]:
    """A text column of the model table by model of the result, '' where not known, shape (J,)."""
    out = np.full(len(joint.models), "", dtype=object)
    if column in models:
        out[:] = models[column].reindex(list(joint.models)).fillna("").to_numpy(dtype=object)
    if needed and not (out != "").any():
        raise MissingFacts(
            f"{column} is known of no model of this result; add the column to models.csv (--models)."
        )
    return out


def _size(joint: Joint, models: pd.DataFrame, column: str, *, needed: bool = True) -> Array:
    out = np.full(len(joint.models), np.nan)
    if column in models:
        out = models[column].reindex(list(joint.models)).to_numpy(dtype=np.float64)
    if needed and np.isnan(out).all():
        raise MissingFacts(
            f"{column} are known of no model of this result; add the column to models.csv (--models)."
        )
    return out


def _architecture(size: Array, active: Array) -> NDArray[np.object_]:
    with np.errstate(invalid="ignore"):
        names = np.where(active < size, MIXTURE, DENSE).astype(object)
    names[np.isnan(size)] = REFERENCE
    return names


def _with_sides(frame: pd.DataFrame, **sides: Contrasts) -> pd.DataFrame:
    """The means that a difference was made from, before the difference."""
    at = frame.columns.get_loc("gap")
    assert isinstance(at, int)
    for k, (name, side) in enumerate(sides.items(), 1):
        frame.insert(at + k, name, side.estimate.ravel())
    return frame
