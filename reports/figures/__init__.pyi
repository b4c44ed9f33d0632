from .ability import ability_accuracy
from .advantage import masked_advantage
from .checks import diagnostics, predictive_checks
from .crossval import cross_validation
from .forests import forest
from .heatmap import gap_heatmap
from .resources import resource_trend
from .scale import scale_curves
from .wright import wright_map

__all__ = [
    "ability_accuracy",
    "cross_validation",
    "diagnostics",
    "forest",
    "gap_heatmap",
    "masked_advantage",
    "predictive_checks",
    "resource_trend",
    "scale_curves",
    "wright_map",
]
