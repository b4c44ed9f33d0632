from . import gaps, variants
from .gaps import gaps_from_accuracy
from .variants import variants_from_accuracy

__all__ = ["gaps", "gaps_from_accuracy", "variants", "variants_from_accuracy"]
