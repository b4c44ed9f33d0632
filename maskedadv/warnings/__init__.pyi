from .find import KINDS, find_warnings
from .kinds import Facts, Warned, kind
from .sampling import SAMPLING

__all__ = ["KINDS", "SAMPLING", "Facts", "Warned", "find_warnings", "kind"]
