"""What a fit gives back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr

from maskedadv.errors import BadSetting
from maskedadv.gaps.contrasts import Uncertainty
from maskedadv.gaps.headline import headline_of
from maskedadv.gaps.joint import Joint
from maskedadv.gaps.tipping import tipping_points
from maskedadv.result.draws import Posterior
from maskedadv.result.info import Info
from maskedadv.result.tables import chosen_ids, departure_rows, gap_rows, link_rows, relative_rows
from maskedadv.settings import Settings
from maskedadv.vocabulary import KNOWLEDGE, VARIANTS


@dataclass(frozen=True)
class Fit:
    """A fitted response table.

    Attributes
    ----------
    settings
        What was asked for.
    cube
        `xarray.Dataset` over variant, locale, model, subset, query and gap: `ability`, `ability_sd`,
        `accuracy`, `n_items`, `estimate`, `sd`, `lower`, `upper`, `p_positive`, `note`; each with its unit.
    items
        One row per locale, subset and item: difficulty, its sd, answers, right answers, informative.
    uncertainty
        Joint uncertainty of the gaps, by variant and locale.
    info
        Versions, engine, data fingerprint, warnings, dropped models and a line per block.
    posteriors
        NUTS: posteriors as ArviZ groups, in memory or in their files, by base (`plain`, `floor`) and locale;
        else empty.
    other
        The same with missing answers treated the other way (`Settings.missing`), where it was fitted.
    """

    settings: Settings
    cube: xr.Dataset
    items: pd.DataFrame
    uncertainty: Mapping[str, Mapping[str, Uncertainty]]
    info: Info
    posteriors: Mapping[str, Mapping[str, Posterior]] = field(default_factory=dict)
    other: Fit | None = None

    def __repr__(self) -> str:
        models, locales = self.cube.sizes["model"], ", ".join(map(str, self.cube["locale"].values))
        return (
            f"<maskedadv.Fit: {self.settings.method}, {self.settings.estimator}; {models} models, "
            f"locales {locales}; variants {', '.join(self.variants)}; headline {self.headline}>"
        )

    @property
    def warnings(self) -> list[str]:
        """What a reader of the numbers should know."""
        return [w.text for w in self.info.warnings]

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
            `plain` (the papers' definition) or another of `variants`.

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
        locales = chosen_ids("locale", locale, [str(v) for v in cube["locale"].values])
        models = chosen_ids("model", model, [str(v) for v in cube["model"].values])
        kinds = chosen_ids("gap", gap, [str(v) for v in cube["gap"].values])
        return gap_rows(cube, locales, models, kinds)

    def means(
        self,
        *,
        locale: str | Iterable[str] | None = None,
        model: str | Iterable[str] | None = None,
        gap: str | Iterable[str] | None = None,
        variant: str = "plain",
        models: str | Path | pd.DataFrame | None = None,
    ) -> pd.DataFrame:
        """Mean gap over the (chosen) models of each locale, with intervals from the joint uncertainty.

        Same columns as `gaps`; `model` is "(mean over models)" and `note` says how many models count. With a
        model table that has a column `family` also rows "(mean by family)", where there are five families
        or more: the same means, with intervals clustered by family as well as by item.
        """
        from maskedadv.result.means import mean_table

        return mean_table(self, locale, model, gap, variant, models)

    def populations(
        self,
        models: str | Path | pd.DataFrame | None = None,
        *,
        locale: str | Iterable[str] | None = None,
        model: str | Iterable[str] | None = None,
        gap: str | Iterable[str] | None = None,
        variant: str = "plain",
    ) -> pd.DataFrame:
        """Mean gaps of models like these, of which these are a sample, beside `means`, which are over these.

        Families (of the model table; else models that answer alike count as one, every other by itself),
        models in them, locales and cells are random effects on the gaps, whose estimates have a known
        covariance (REML; draw by draw under NUTS). Rows of a locale are there where they rest on five
        families or more; "(all locales)" and "(a new locale)", with the interval of the mean gap in a locale
        that is not among these, where there are five locales, too.

        Parameters
        ----------
        models : the model table (`models.csv`) with a column `family`
        locale, model, gap, variant : as for `means`

        Returns
        -------
        DataFrame with the columns locale, model, gap, estimate, sd, lower, upper, p_positive, df (of t),
        spread_models, spread_locales (sd over the population, logit), n_families, n_models, n_locales, note;
        its `attrs` hold `families`, what they are in words, and `n_families`.

        Raises
        ------
        BadSetting
            A locale, model or gap that the result does not hold.
        InputError
            The model table cannot be read.
        """
        from maskedadv.result.means import population_table

        return population_table(self, models, locale, model, gap, variant)

    def at_end(self, missing: str) -> Fit:
        """The result with missing answers `wrong`, or `left-out`.

        Raises
        ------
        BadSetting
            It was not fitted.
        """
        own = "wrong" if self.settings.missing == "wrong" else "left-out"
        if missing == own:
            return self
        if self.other is None:
            raise BadSetting(
                f"this result was fitted with missing answers {own} only; fit with --missing wrong to have "
                "both."
            )
        return self.other

    @property
    def headline(self) -> str:
        """The variant to speak of first: `plain`, or `paired` where it was asked for or the test says so.

        A test does not make gaps the headline that are infinite throughout.
        """
        return headline_of(self.settings.headline, self.info.departures, self._with_numbers())

    def _with_numbers(self) -> list[str]:
        """Variants that hold a finite gap, unless only they were asked for."""
        if self.settings.headline != "auto":
            return self.variants
        return [v for v in self.variants if np.isfinite(self.cube["estimate"].sel(variant=v).values).any()]

    def with_headline(self, headline: str) -> Fit:
        """The same result with `auto`, `plain` or `paired` as what to speak of first.

        Raises
        ------
        BadSetting
            Paired gaps are wanted and there are none.
        """
        headline_of(headline, self.info.departures, self.variants)
        return replace(self, settings=replace(self.settings, headline=headline))

    @property
    def variants(self) -> list[str]:
        """The variants that the result holds, `plain` first."""
        return [str(v) for v in self.cube["variant"].values]

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

    def departures(self) -> pd.DataFrame:
        """Hausman's test of plain against paired gaps, by locale and gap, the last row of everything.

        Returns
        -------
        DataFrame with the columns locale, gap, plain, paired (means over the same models, logit), n_models,
        shift (common step from plain to paired, weighted by precision, logit), sd, statistic, df, p; empty
        for a single model.
        """
        return departure_rows(self.info)

    def relatives(self) -> pd.DataFrame:
        """Residual correlation of every pair of models, the most alike first.

        What two models' answers in one language have in common beyond their abilities and the items'
        difficulties (told from each model's own answers in two languages); 1 for copies. `group` numbers the
        models that answer alike, 0 for none. Empty where it cannot be told.

        Returns
        -------
        DataFrame with the columns model, other, correlation, group.
        """
        return relative_rows(self.info)

    def tipping(self, *, variant: str = "plain", model: str | Iterable[str] | None = None) -> pd.DataFrame:
        """The ratio of scales at which the mean knowledge gap would vanish, by locale and over all.

        Parameters
        ----------
        variant : of the gaps
        model : the mean is over these; None takes all

        Returns
        -------
        DataFrame with the columns locale, ratio (mean local gap over mean global gap), lower, upper (Fieller;
        infinite where the global gap is not clear of zero), note.
        """
        joint = Joint.of(self, variant)
        return tipping_points(joint.only(joint.locales, chosen_ids("model", model, list(joint.models))))

    def links(self) -> pd.DataFrame:
        """The scale links, one row per locale and linked variant; empty where there are none.

        Returns
        -------
        DataFrame with the columns locale, variant, ratio (λ, of the spreads of the models' pivot-language
        abilities on CS and CA), lower, upper (95%), slope (orthogonal regression of CS on CA), correlation,
        models, common_ratio, common_lower, common_upper (λ if every model has one pivot-language ability for
        both pools), common_p (p-value of that assumption), note.
        """
        return link_rows(self.info)

    def _variant(self, name: str) -> xr.Dataset:
        chosen_ids("variant", name, self.variants)
        return self.cube.sel(variant=name, drop=True)

    def draws(self, name: str, *, variant: str = "plain") -> xr.DataArray:
        """Posterior draws of a gap or an ability, NUTS only.

        Parameters
        ----------
        name
            `global_gap`, `local_gap`, `knowledge_gap`: logit, dims (locale, chain, draw, model). `ability`:
            logit, dims (locale, chain, draw, model, subset, query). NaN where a model has no such draws.
            Everything else a posterior holds is in `posteriors[base][locale].tree()`.
        variant
            A variant that the result holds; gaps are transformed (linked) draw by draw.

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
        base, transformation = VARIANTS[variant]
        if base not in self.posteriors:
            raise BadSetting(
                f"the variant {variant!r} has no draws; there are of {', '.join(self.posteriors)}."
            )
        return stack_draws(
            self.posteriors[base], name, own, self.uncertainty[variant] if transformation else None
        )

    def save(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write the result folder (whole or not at all); see `maskedadv.load`.

        Raises
        ------
        OutputExists
            The folder exists and `overwrite` is not given, or holds something that is no result.
        """
        from maskedadv.result.save import save

        return save(self, Path(path), overwrite=overwrite)
