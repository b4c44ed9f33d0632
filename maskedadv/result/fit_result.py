"""What a fit gives back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from maskedadv.errors import BadSetting
from maskedadv.gaps.contrasts import Uncertainty, mean_over_models
from maskedadv.result.draws import Posterior
from maskedadv.settings import Settings
from maskedadv.vocabulary import GAPS, KNOWLEDGE

COLUMNS = (
    "locale",
    "model",
    "gap",
    "estimate",
    "sd",
    "lower",
    "upper",
    "p_positive",
    "n_items_ca",
    "n_items_cs",
    "note",
)
LINK_COLUMNS = (
    "locale",
    "variant",
    "ratio",
    "lower",
    "upper",
    "slope",
    "correlation",
    "models",
    "common_ratio",
    "common_lower",
    "common_upper",
    "common_p",
    "note",
)
MEAN = "(mean over models)"


@dataclass(frozen=True)
class Fit:
    """A fitted response table.

    Attributes
    ----------
    settings
        What was asked for.
    cube
        `xarray.Dataset` over locale × model × subset × query and gap: `ability`, `ability_sd`, `accuracy`,
        `n_items`, `estimate`, `sd`, `lower`, `upper`, `p_positive`, `note`; logits where it says so.
    items
        One row per locale, subset and item: difficulty, its sd, answers, right answers, informative.
    uncertainty
        Joint uncertainty of the gaps of every locale.
    info
        Versions, engine, seed, data fingerprint, warnings, dropped models and a line per block.
    posteriors
        NUTS: the posterior of every locale as ArviZ groups, in memory or in its file; else empty.
    variant_uncertainty
        As `uncertainty`, for every variant but `plain`.
    floor_posteriors
        As `posteriors`, of the model with the guessing floor; empty where it was not fitted.
    """

    settings: Settings
    cube: xr.Dataset
    items: pd.DataFrame
    uncertainty: dict[str, Uncertainty]
    info: dict[str, Any]
    posteriors: dict[str, Posterior] = field(default_factory=dict)
    variant_uncertainty: dict[str, dict[str, Uncertainty]] = field(default_factory=dict)
    floor_posteriors: dict[str, Posterior] = field(default_factory=dict)

    @property
    def warnings(self) -> list[str]:
        """What a reader of the numbers should know."""
        return list(self.info["warnings"])

    def gaps(
        self,
        *,
        locale: str | Iterable[str] | None = None,
        model: str | Iterable[str] | None = None,
        gap: str | Iterable[str] | None = None,
        variant: str = "plain",
    ) -> pd.DataFrame:
        """The gaps as a tidy table.

        Parameters
        ----------
        locale, model, gap
            Keep only these; None keeps all.
        variant
            `plain` (the papers' definition), `floor`, `linked` or `floor+linked`, where the result has it.

        Returns
        -------
        DataFrame with the columns locale, model, gap, estimate, sd, lower, upper, p_positive (logits and
        probabilities), n_items_ca, n_items_cs (items the model answered in both languages), note.

        Raises
        ------
        BadSetting
            A locale, model or gap that the result does not hold.
        """
        cube = self._variant(variant)
        locales = _chosen("locale", locale, [str(v) for v in cube["locale"].values])
        models = _chosen("model", model, [str(v) for v in cube["model"].values])
        kinds = _chosen("gap", gap, [str(v) for v in cube["gap"].values])
        part = cube.sel(locale=locales, model=models, gap=kinds)
        shape = part["estimate"].shape
        index = np.indices(shape).reshape(3, -1)
        paired = part["n_paired"].values
        frame = pd.DataFrame(
            {
                "locale": np.array(locales, dtype=object)[index[0]],
                "model": np.array(models, dtype=object)[index[1]],
                "gap": np.array(kinds, dtype=object)[index[2]],
                **{
                    name: part[name].values.ravel()
                    for name in ("estimate", "sd", "lower", "upper", "p_positive")
                },
                "n_items_ca": paired[index[0], index[1], 0],
                "n_items_cs": paired[index[0], index[1], 1],
                "note": part["note"].values.ravel().astype(object),
            }
        )
        present = np.asarray((part["n_items"].values[..., 0] > 0).any(axis=-1))
        return frame[present[index[0], index[1]]].reset_index(drop=True)

    def means(
        self,
        *,
        locale: str | Iterable[str] | None = None,
        model: str | Iterable[str] | None = None,
        gap: str | Iterable[str] | None = None,
        variant: str = "plain",
    ) -> pd.DataFrame:
        """Mean gap over the (chosen) models of each locale, with intervals from the joint uncertainty.

        Same columns as `gaps`; `model` is "(mean over models)" and `note` says how many models count.
        """
        cube = self._variant(variant)
        uncertainty = self.uncertainty if variant == "plain" else self.variant_uncertainty[variant]
        locales = _chosen("locale", locale, [str(v) for v in cube["locale"].values])
        names = [str(v) for v in cube["model"].values]
        chosen = [names.index(m) for m in _chosen("model", model, names)]
        kinds = _chosen("gap", gap, list(GAPS))
        rows: list[dict[str, Any]] = []
        for name in locales:
            part = cube.sel(locale=name)
            estimate = part["estimate"].values[chosen]
            own = uncertainty[name]
            mean, spread = mean_over_models(own.kind, own.gaps()[..., chosen], estimate, self.settings.level)
            counted, paired = ~np.isnan(estimate), part["n_paired"].values[chosen]
            for kind in kinds:
                g = GAPS.index(kind)
                known = int(counted[:, g].sum())
                rows.append(
                    {
                        "locale": name,
                        "model": MEAN,
                        "gap": kind,
                        "estimate": mean[g],
                        "sd": spread.sd[g],
                        "lower": spread.lower[g],
                        "upper": spread.upper[g],
                        "p_positive": spread.p_positive[g],
                        "n_items_ca": int(paired[counted[:, g], 0].max(initial=0)),
                        "n_items_cs": int(paired[counted[:, g], 1].max(initial=0)),
                        "note": f"{known} models",
                    }
                )
        return pd.DataFrame(rows, columns=list(COLUMNS))

    @property
    def variants(self) -> list[str]:
        """The variants that the result holds, `plain` first."""
        return [str(v) for v in self.cube["variant"].values] if "variant" in self.cube.dims else ["plain"]

    def variant_gaps(self, *, gap: str = KNOWLEDGE, mean: bool = True) -> pd.DataFrame:
        """One gap under every variant, per model and as mean over models; `variant` is the first column."""
        parts = []
        for name in self.variants:
            frames = [self.gaps(gap=gap, variant=name)]
            frames += [self.means(gap=gap, variant=name)] if mean else []
            for frame in frames:
                frame.insert(0, "variant", name)
                parts.append(frame)
        return pd.concat(parts, ignore_index=True)

    def links(self) -> pd.DataFrame:
        """The scale links, one row per locale and linked variant; empty where there are none.

        Returns
        -------
        DataFrame with the columns locale, variant, ratio (λ, of the spreads of the models' pivot-language
        abilities on CS and CA), lower, upper (95%), slope (orthogonal regression of CS on CA), correlation,
        models, common_ratio, common_lower, common_upper (λ if every model has one pivot-language ability for
        both pools), common_p (p-value of that assumption), note.
        """
        rows = [{**v, "note": v["reason"] or v.get("common_reason", "")} for v in self.info.get("links", [])]
        return pd.DataFrame(rows, columns=list(LINK_COLUMNS))

    def _variant(self, name: str) -> xr.Dataset:
        _chosen("variant", name, self.variants)
        return self.cube.sel(variant=name, drop=True) if "variant" in self.cube.dims else self.cube

    def draws(self, name: str, *, variant: str = "plain") -> xr.DataArray:
        """Posterior draws of a gap or an ability, NUTS only.

        Parameters
        ----------
        name
            `global_gap`, `local_gap`, `knowledge_gap`: logit, dims (locale, chain, draw, model). `ability`:
            logit, dims (locale, chain, draw, model, subset, query). NaN where a model has no such draws.
            Everything else a locale's posterior holds is in `posteriors[locale].tree()`.
        variant
            A variant that the result holds; linked gaps are linked draw by draw.

        Raises
        ------
        BadSetting
            The result has no draws, or there is no such name.
        """
        from maskedadv.result.draws import stack_draws

        if not self.posteriors:
            raise BadSetting(
                f"a result of method '{self.settings.method}' has no draws; fit with method 'nuts'."
            )
        own = self._variant(variant)
        source = self.floor_posteriors if variant.startswith("floor") else self.posteriors
        return stack_draws(source, name, own, linked="linked" in variant)

    def save(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write the result folder (whole or not at all); see `maskedadv.load`.

        Raises
        ------
        OutputExists
            The folder exists and `overwrite` is not given, or holds something that is no result.
        """
        from maskedadv.result.save import save

        return save(self, Path(path), overwrite=overwrite)


def _chosen(name: str, wanted: str | Iterable[str] | None, have: list[str]) -> list[str]:
    if wanted is None:
        return have
    listed = [wanted] if isinstance(wanted, str) else list(wanted)
    for value in listed:
        if value not in have:
            shown = ", ".join(have[:12]) + (", ..." if len(have) > 12 else "")
            raise BadSetting(f"{name} {value!r} is not in this result; it has {shown}.")
    return [value for value in have if value in listed]
