"""The knowledge gap from accuracies under other assumptions: guessing floor, linked scale, both.

As in `maskedadv.gaps.variants`, with logits of accuracies in place of abilities: the floor takes lucky
answers out of an accuracy, (p − c)/(1 − c), and the link divides local gaps by λ, the ratio of the spreads of
the models' pivot-language logits on CS and CA.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from maskedadv.errors import NoOptions
from maskedadv.gaps.link import Link, find_link
from maskedadv.published_accuracies.gaps import AccuracyGaps
from maskedadv.vocabulary import MEAN, SUBSETS, VARIANTS
from maskedadv.words.numbers import plural

Array = NDArray[np.float64]


@dataclass(frozen=True)
class AccuracyVariants:
    """Knowledge gaps from accuracies under every variant.

    Attributes
    ----------
    gaps
        locale, variant (plain, floor, linked, floor+linked), model, estimate, sd, lower, upper, p_positive,
        note; logits. The model "(mean over models)" is the mean over those with a gap under every variant.
    links
        locale, variant, ratio (λ), lower, upper (95%), slope, correlation, models, note.
    """

    gaps: pd.DataFrame
    links: pd.DataFrame


def variants_from_accuracy(found: AccuracyGaps) -> AccuracyVariants:
    """Knowledge gaps of `gaps_from_accuracy` with the guessing floor and on the linked scale.

    Raises
    ------
    NoOptions
        Some cells have no known number of options.

    Notes
    -----
    Cells are taken as independent; λ's own uncertainty is carried by the delta method, and so is that the
    models are a sample (see `maskedadv.gaps.link`). A cell within two standard errors of chance, or
    below, has no logit under the floor.
    """
    cells = found.cells
    if cells["n_options"].isna().any():
        raise NoOptions(
            "variants need the number of options of every question: give --options, or a column n_options."
        )
    rows, links = [], []
    for locale in dict.fromkeys(found.gaps["locale"]):
        own = found.gaps[found.gaps["locale"] == locale]
        models = [str(m) for m in dict.fromkeys(own["model"])]
        parts = {}
        for base in ("plain", "floor"):
            theta, se = _cells(cells, models, locale, found.pivot, floor=base == "floor")
            link = find_link(theta[:, 0, 1], np.diag(se[:, 0, 1]), theta[:, 1, 1], np.diag(se[:, 1, 1]))
            parts[base] = _knowledge(theta, se, None)
            name = "linked" if base == "plain" else "floor+linked"
            links.append({"locale": locale, "variant": name, **_told(link)})
            if not link.reason:
                parts[name] = _knowledge(theta, se, link)
        parts = {v: parts[v] for v in VARIANTS if v in parts}
        rows += _rows(locale, models, parts, found.level)
    return AccuracyVariants(pd.DataFrame(rows), pd.DataFrame(links))


def _cells(
    cells: pd.DataFrame, models: list[str], locale: str, pivot: str, *, floor: bool
) -> tuple[Array, Array]:
    """Logits and their standard errors, shape (J, 2 subsets, 2 queries), NaN where there is none."""
    at = cells.set_index(["model", "subset", "language"])
    index = pd.MultiIndex.from_product([models, SUBSETS, [locale, pivot]])
    p, n, options = (
        at[name].reindex(index).to_numpy(np.float64) for name in ("accuracy", "n_items", "n_options")
    )
    c = 1.0 / options if floor else np.zeros(len(p))
    known = (p - c) / (1.0 - c)
    with np.errstate(divide="ignore", invalid="ignore"):
        theta = np.log(known / (1.0 - known))
        se = np.sqrt(p * (1.0 - p) / n) / ((1.0 - c) * known * (1.0 - known))
    near = at["near_chance"].reindex(index).to_numpy() == True  # noqa: E712 (missing cells are NaN)
    lost = ~np.isfinite(theta) | (near & floor)
    shape = (len(models), 2, 2)
    return np.where(lost, np.nan, theta).reshape(shape), np.where(lost, 0.0, se).reshape(shape)


def _knowledge(theta: Array, se: Array, link: Link | None) -> tuple[Array, Array]:
    """Knowledge gaps (J,), and rows (K, J) whose products sum to their covariance."""
    ratio = 1.0 if link is None else link.ratio
    gap = theta[..., 0] - theta[..., 1]
    local = gap[:, 1] / ratio
    rows = [np.diag(-se[:, 0, 0]), np.diag(se[:, 0, 1]), np.diag(se[:, 1, 0]) / ratio]
    rows.append(-np.diag(se[:, 1, 1]) / ratio)
    if link is not None:
        scaled = np.nan_to_num(local)
        for k, along in ((1, link.rows_ca), (3, link.rows_cs)):
            rows[k] = rows[k] - along[:, None] * scaled
        rows.append(-link.own_sd * scaled[None, :])
    return local - gap[:, 0], np.concatenate(rows)


def _rows(
    locale: str, models: list[str], parts: dict[str, tuple[Array, Array]], level: float
) -> list[dict[str, object]]:
    out: list[dict[str, object]] = []
    common = np.isfinite([estimate for estimate, _ in parts.values()]).all(axis=0)
    for variant, (estimate, rows) in parts.items():
        sd = np.where(np.isfinite(estimate), np.sqrt((rows**2).sum(axis=0)), np.nan)
        values, sds, names = list(estimate), list(sd), list(models)
        notes = ["" if np.isfinite(e) else "a cell is missing, 0, 1 or at chance" for e in estimate]
        if common.any():
            values.append(estimate[common].mean())
            sds.append(float(np.sqrt((rows[:, common].mean(axis=1) ** 2).sum())))
            names.append(MEAN)
            notes.append(plural(int(common.sum()), "model"))
        for name, value, one, note in zip(names, values, sds, notes, strict=True):
            half = ndtri(0.5 + level / 2) * one
            out.append(
                {
                    "locale": locale,
                    "variant": variant,
                    "model": name,
                    "estimate": value,
                    "sd": one,
                    "lower": value - half,
                    "upper": value + half,
                    "p_positive": float(ndtr(value / one)) if np.isfinite(value) else np.nan,
                    "note": note,
                }
            )
    return out


def _told(link: Link) -> dict[str, object]:
    names = ("ratio", "lower", "upper", "slope", "correlation", "models")
    return {n: getattr(link, n) for n in names} | {"note": link.reason}
