from ..gaps.joint import Joint
from .cells import abilities, ability_accuracy, sign_shares, variant_shares
from .facts import locale_facts, model_facts
from .groups import adapted_versus_general, by_family, by_kind, by_size, home_versus_others, size_slopes
from .means import locale_means, model_means, overall_means, variant_means
from .resources import by_resource_level, resource_trend
from .wrong_options import equal_wrong_options

__all__ = [
    "Joint",
    "abilities",
    "ability_accuracy",
    "adapted_versus_general",
    "by_family",
    "by_kind",
    "by_resource_level",
    "by_size",
    "equal_wrong_options",
    "home_versus_others",
    "locale_facts",
    "locale_means",
    "model_facts",
    "model_means",
    "overall_means",
    "resource_trend",
    "sign_shares",
    "size_slopes",
    "variant_means",
    "variant_shares",
]
