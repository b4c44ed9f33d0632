"""How alike two texts are in any language: the character n-gram F-score."""

from __future__ import annotations

from collections import Counter

_ORDERS = range(1, 7)
_BETA = 2.0


def chrf(hypothesis: str, reference: str) -> float:
    """chrF (Popović 2015, doi:10.18653/v1/W15-3049), from 0 to 1: n-grams of 1 to 6, blanks left out, β = 2.

    Precision and recall are means over the orders that both texts have n-grams of.
    """
    one, two = ("".join(text.split()) for text in (hypothesis, reference))
    precision = recall = 0.0
    orders = 0
    for n in _ORDERS:
        a, b = (Counter(text[k : k + n] for k in range(len(text) - n + 1)) for text in (one, two))
        if not a or not b:
            continue
        shared = (a & b).total()
        precision, recall, orders = precision + shared / a.total(), recall + shared / b.total(), orders + 1
    if not orders or not precision + recall:
        return 0.0
    precision, recall = precision / orders, recall / orders
    return (1 + _BETA**2) * precision * recall / (_BETA**2 * precision + recall)
