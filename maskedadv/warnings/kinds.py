"""What a kind of warning is: a function of `Facts` under a name.

`@kind("its name")` enters a function that gives a sentence, several, or none. Whoever wants some warnings
picks them by kind, never by words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import xarray as xr

    from maskedadv.design.missing import UnevenCell
    from maskedadv.design.prepare import Design
    from maskedadv.gaps.headline import Departure
    from maskedadv.gaps.kinship import Kinship
    from maskedadv.maximum_likelihood.block_facts import BlockFacts
    from maskedadv.result.draws import Posterior
    from maskedadv.settings import Settings


@dataclass(frozen=True)
class Warned:
    """A sentence and its kind."""

    kind: str
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Facts:
    """What warnings are told from.

    Attributes
    ----------
    design : of all locales; its answers need not be there any more
    blocks : of every base that has such, `plain` first
    cube : with its `variant` dimension
    links, departures, relatives : as in `Info`
    posteriors : by base and locale
    inflation : how many times those of `marginal` the gaps of `joint_of_few` are; None where not measured
    uneven : cells whose answers are missing unevenly, the worst first
    otherwise : whether there is a fit with missing answers treated the other way
    """

    design: Design
    settings: Settings
    blocks: Mapping[str, Sequence[BlockFacts]]
    cube: xr.Dataset
    links: Sequence[Mapping[str, Any]] = ()
    departures: Sequence[Departure] = ()
    relatives: Kinship | None = None
    posteriors: Mapping[str, Mapping[str, Posterior]] = field(default_factory=dict)
    inflation: float | None = None
    uneven: Sequence[UnevenCell] = ()
    otherwise: bool = False

    @property
    def plain(self) -> Sequence[BlockFacts]:
        """The plain blocks."""
        return self.blocks["plain"]

    @property
    def joint_of_few(self) -> list[BlockFacts]:
        """Blocks whose gaps joint maximum likelihood inflates."""
        from maskedadv.maximum_likelihood.block_facts import joint_of_few  # a reader needs nothing that fits

        return [b for b in self.plain if joint_of_few(self.settings, b)]


Tell = Callable[[Facts], "str | Iterable[str] | None"]
ENTERED: dict[str, Tell] = {}
"""Every kind by name, as its file is imported; `find.KINDS` has them in order."""


def kind(name: str) -> Callable[[Tell], Tell]:
    """Enter a function under the name of its kind."""

    def enter(tell: Tell) -> Tell:
        ENTERED[name] = tell
        return tell

    return enter
