"""All that there is to warn of, in order."""

from __future__ import annotations

from maskedadv.warnings import doubts, estimates, losses, sampling, variants
from maskedadv.warnings.kinds import ENTERED, Facts, Tell, Warned

FILES = (doubts, estimates, losses, variants, sampling)
"""What a reader needs first comes first; within a file, in its order."""

KINDS: dict[str, Tell] = {
    name: tell for file in FILES for name, tell in ENTERED.items() if tell.__module__ == file.__name__
}
"""Every kind by name, in the order in which warnings are given."""


def find_warnings(facts: Facts) -> list[Warned]:
    """What is to be known of a fit: what the preparation found first."""
    out: list[Warned] = []
    for name, tell in KINDS.items():
        told = tell(facts) or ()
        out += [Warned(name, text) for text in ([told] if isinstance(told, str) else told)]
    kinds = {w.kind for w in out}
    # What the table says of empty answers, the blocks say of those that are fitted.
    first = [
        n
        for n in facts.design.notes
        if not (n.kind == "uneven missing" and "uneven missing answers" in kinds)
    ]
    return first + out
