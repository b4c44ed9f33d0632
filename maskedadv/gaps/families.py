"""Which models count as one family: as the model table says, else those that answer alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def families_of(
    models: Sequence[str], family: Mapping[str, str] | None, groups: Sequence[Sequence[str]]
) -> tuple[list[str], str]:
    """The family of every model, and in words where they come from.

    Parameters
    ----------
    family : by model, as in a model table; '' or absent is not known
    groups : ids of models that answer alike, which stand for a family where none is given
    """
    given = {m: f for m, f in (family or {}).items() if f}
    alike = {m: k for k, group in enumerate(groups) for m in group}
    labels, told = [], []
    for m in models:
        if m in given:
            labels.append(f"family {given[m]}")
        else:
            labels.append(f"group {alike[m]}" if m in alike else f"model {m}")
    if any(m in given for m in models):
        told.append("families of the model table")
    if any(label.startswith("group") for label in labels):
        told.append("models that answer alike taken for one family")
    if any(label.startswith("model") for label in labels):
        told.append("every model" + (" else" if told else "") + " for a family by itself")
    return labels, ", ".join(told)
