"""What a fit says of itself beside its numbers; the content of `fit.json`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from maskedadv.design.accuracy_filter import Dropped
from maskedadv.gaps.headline import Departure
from maskedadv.gaps.kinship import Kinship
from maskedadv.warnings.kinds import Warned


@dataclass(frozen=True)
class Info:
    """Where a result comes from.

    Attributes
    ----------
    maskedadv, engine, versions : of the program, of the Stan engine, of Python and the libraries
    fingerprint : SHA-256 of the response table
    rows, answers : of the table; answers that were fitted, each counted once
    locales : in the order of the cube
    dropped : models left out of a locale for their accuracy
    blocks : a line for every block and base: variant, locale, subset, estimator, sizes, convergence
    warnings : what a reader of the numbers should know, most important first
    links : the scale links, a line for every locale and linked variant
    departures : Hausman's test of plain against paired gaps, by locale and gap, the last of everything
    relatives : models that answer alike beyond ability and difficulty; None where that cannot be told
    demo : whether it is the demonstration's
    """

    maskedadv: str
    engine: str
    versions: Mapping[str, str]
    fingerprint: str
    rows: int
    answers: int
    locales: tuple[str, ...]
    dropped: tuple[Dropped, ...] = ()
    blocks: tuple[Mapping[str, Any], ...] = ()
    warnings: tuple[Warned, ...] = ()
    links: tuple[Mapping[str, Any], ...] = ()
    departures: tuple[Departure, ...] = ()
    relatives: Kinship | None = None
    demo: bool = False

    @property
    def estimators(self) -> list[str]:
        """Names of the estimators that the plain blocks were fitted with."""
        return sorted({str(b["estimator"]) for b in self.blocks if b["variant"] == "plain"})

    def as_json(self) -> dict[str, Any]:
        """Plain dictionaries, lists, texts and numbers."""
        relatives = None if self.relatives is None else self.relatives.as_json()
        return asdict(replace(self, relatives=None)) | {"relatives": relatives}


def from_json(values: Mapping[str, Any]) -> Info:
    """What `Info.as_json` gave.

    Raises
    ------
    KeyError, TypeError
        Something is missing or of another form.
    """
    own = {f.name: values[f.name] for f in fields(Info)}
    for name in ("locales", "blocks", "links"):
        own[name] = tuple(own[name])
    own["dropped"] = tuple(Dropped(**d) for d in own["dropped"])
    own["departures"] = tuple(Departure(**d) for d in own["departures"])
    own["relatives"] = None if own["relatives"] is None else Kinship.from_json(own["relatives"])
    own["warnings"] = tuple(Warned(**w) for w in own["warnings"])
    return Info(**own)
