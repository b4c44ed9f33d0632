"""Take a sample of items: so many of each locale at most, in proportion to the subjects of their source."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from maskedadv.errors import BadSetting, MissingColumn
from maskedadv.scoring.item_sets.allocation import allocate
from maskedadv.scoring.items.items import Item


@dataclass(frozen=True)
class Stratum:
    """Items of one subject in one locale: how many there were, and how many were taken."""

    language: str
    subject: str
    available: int
    taken: int


@dataclass(frozen=True)
class Sample:
    """Items that were taken, in their order; those that were not; the counts by locale and subject."""

    items: tuple[Item, ...]
    left_out: tuple[Item, ...]
    strata: tuple[Stratum, ...]


def sample_items(
    items: Sequence[Item],
    cap: int,
    *,
    subject: str | None = "subject",
    subset: str | None = None,
    pivot: str = "en",
    seed: int = 1,
) -> Sample:
    """At most `cap` items of each locale, proportional over subjects and at least one of each.

    The order in which a subject's items are taken depends on the seed and their ids alone, so an item that is
    asked in several locales comes early in all of them or in none. Rows in the pivot language follow the
    local ones; those without a local row stay.

    Parameters
    ----------
    cap
        1 or more; "The Masked Advantage" (arXiv:2606.07422) took 1,000.
    subject
        The items' column with the subject in their source; None takes no heed of subjects.
    subset
        CA or CS: only these are sampled, and the others stay. None samples both together.
    pivot
        Its rows are no locale.

    Raises
    ------
    BadSetting
        A cap below 1 or below the number of subjects.
    MissingColumn
        Items that are to be sampled lack the subject's column.
    """
    if cap < 1:
        raise BadSetting(f"--cap is at least 1, not {cap}.")
    if subset not in {None, "CA", "CS"}:
        raise BadSetting(f"--subset is CA or CS, not {subset!r}.")
    sampled = [x for x in items if x.language != pivot and subset in {None, x.subset}]
    if subject is not None:
        refuse_without(subject, sampled)
    groups: dict[str, dict[str, list[Item]]] = defaultdict(lambda: defaultdict(list))
    for x in sampled:
        groups[x.language][x.extra[subject] if subject is not None else ""].append(x)
    out: set[tuple[str, str]] = set()
    strata = []
    for language, by_subject in sorted(groups.items()):
        taken = allocate({name: len(some) for name, some in by_subject.items()}, cap)
        for name, some in sorted(by_subject.items()):
            ordered = sorted(some, key=lambda x: _place(x, seed))
            out |= {(x.language, x.item) for x in ordered[taken[name] :]}
            strata.append(Stratum(language, name, len(some), taken[name]))
    local = {x.item for x in items if x.language != pivot}
    stays = {x.item for x in items if x.language != pivot and (x.language, x.item) not in out}
    kept: list[Item] = []
    left: list[Item] = []
    for x in items:
        gone = x.item in local - stays if x.language == pivot else (x.language, x.item) in out
        (left if gone else kept).append(x)
    return Sample(tuple(kept), tuple(left), tuple(strata))


def refuse_without(subject: str, items: Sequence[Item]) -> None:
    """Refuse items that are to be sampled by a subject that they do not have.

    Raises
    ------
    MissingColumn
    """
    lacking = [x for x in items if not x.extra.get(subject)]
    if lacking:
        known = ", ".join(sorted({name for x in items for name in x.extra})) or "none"
        raise MissingColumn(
            f"{len(lacking)} items have no {subject!r} ({lacking[0].where or lacking[0].item}); name the "
            f"column with --subject (there are {known}), or give --no-subject; in a build file, subject "
            "of the source and by_subject = false."
        )


def _place(item: Item, seed: int) -> bytes:
    """A random number of the item's own, by which a subject's items are ordered."""
    return hashlib.sha256(f"{seed}\0{item.item}".encode()).digest()
