"""Figures, and the exhibits of a report made of them.

A file a figure: the function that draws a tidy table (a plotnine figure, to which layers can be added), the
words that go with it, and `make_*`, the exhibit: figure, tables, caption. To add one, write its file and name
it here.
"""

from __future__ import annotations

from collections.abc import Sequence

from maskedadv.reports.exhibit import Make
from maskedadv.reports.figures import differences, variants
from maskedadv.reports.figures.ability import ability_accuracy, make_ability
from maskedadv.reports.figures.advantage import make_advantage, masked_advantage
from maskedadv.reports.figures.checks import diagnostics, make_convergence, make_predictive, predictive_checks
from maskedadv.reports.figures.comparison import calibration_curves, make_comparison, prediction_scores
from maskedadv.reports.figures.forests import forest, make_locale_means, make_model_means, make_models
from maskedadv.reports.figures.heatmap import gap_heatmap, make_heatmap
from maskedadv.reports.figures.item_differences import item_differences, make_item_differences
from maskedadv.reports.figures.model_fit import make_model_fit, mean_squares
from maskedadv.reports.figures.populations import make_populations
from maskedadv.reports.figures.relatives import make_relatives, relatives_matrix
from maskedadv.reports.figures.resources import make_resources, resource_trend
from maskedadv.reports.figures.scale import make_sizes, scale_curves
from maskedadv.reports.figures.wright import make_wright, wright_map

__all__ = [
    "EXHIBITS",
    "ability_accuracy",
    "calibration_curves",
    "diagnostics",
    "forest",
    "gap_heatmap",
    "item_differences",
    "masked_advantage",
    "mean_squares",
    "prediction_scores",
    "predictive_checks",
    "relatives_matrix",
    "resource_trend",
    "scale_curves",
    "wright_map",
]

EXHIBITS: Sequence[tuple[str, Make]] = (
    ("Gaps by locale", make_locale_means),
    ("The masked advantage", make_advantage),
    ("Every model in every locale", make_heatmap),
    ("The gap under other assumptions", variants.make_variants),
    ("Do the models answer independently?", make_relatives),
    ("Models and locales like these", make_populations),
    ("Is an item equally difficult in both languages?", make_item_differences),
    ("Gaps by model", make_model_means),
    ("Models one by one", make_models),
    ("Resource level", make_resources),
    ("Home models against others", differences.make_home),
    ("Adapted models against general ones", differences.make_adapted),
    ("Model families", differences.make_families),
    ("Open and closed models", differences.make_kinds),
    ("Model size", make_sizes),
    ("Ability against accuracy", make_ability),
    ("Items and models on one scale", make_wright),
    ("Does the Rasch model fit?", make_model_fit),
    ("Predicting answers held out", make_comparison),
    ("Predictive checks", make_predictive),
    ("Convergence", make_convergence),
)
"""Titles and makers of the exhibits, in the order of the page."""
