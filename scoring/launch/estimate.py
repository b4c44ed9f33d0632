"""How much there is to do for one unit, and how long or how much money it takes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from maskedadv.errors import BadSetting, MaskedadvError, PackageMissing
from maskedadv.scoring.endpoints.settings import ApiSettings
from maskedadv.scoring.launch.launch import backend_of
from maskedadv.scoring.launch.plan import Piece, Unit, stored
from maskedadv.scoring.launch.progress import clock

EFFICIENCY = 0.6  # share of the matrix rate that a whole run reaches


@dataclass(frozen=True)
class Estimate:
    """One line of a plan; `problem` says why a model cannot be planned for."""

    model: str
    size: str
    pieces: int
    pieces_done: int
    items: int
    tokens: int
    cost: str
    problem: str = ""


def estimate_unit(unit: Unit, out: Path) -> Estimate:
    """Count tokens of what is not done, and estimate time (or money) for them.

    Raises
    ------
    BadSetting, PackageMissing
        What is wrong with every model alike.
    """
    try:
        done = stored(out, unit, backend_of(unit).identify(unit.settings))
        rest = [piece for k, piece in enumerate(unit.pieces) if k not in done]
        size, tokens, cost = _cost(unit, rest)
    except (BadSetting, PackageMissing):
        raise
    except Exception as error:  # whatever is wrong with one model, the others are planned
        return Estimate(unit.model, "-", len(unit.pieces), 0, 0, 0, "-", _said(error))
    items = sum(len(piece.items) for piece in rest)
    return Estimate(unit.model, size, len(unit.pieces), len(done), items, tokens, cost)


def _said(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text if isinstance(error, MaskedadvError) else f"{type(error).__name__}: {text}"


def _cost(unit: Unit, rest: list[Piece]) -> tuple[str, int, str]:
    if isinstance(unit.settings, ApiSettings):
        return "-", *_cost_of_endpoint(unit.settings, rest)
    from maskedadv.scoring.models.unit import size_of

    found = size_of(unit.settings, rest)
    seconds = 2 * found.active * found.tokens / (EFFICIENCY * found.rate)
    return _short(found.parameters), found.tokens, clock(seconds)


def _short(parameters: int) -> str:
    return f"{parameters / 1e9:.2g}B" if parameters >= 1e8 else f"{parameters / 1e6:.2g}M"


def _cost_of_endpoint(settings: ApiSettings, rest: list[Piece]) -> tuple[int, str]:
    """Tokens read, estimated, and money: an estimate, and a bound."""
    from maskedadv.scoring.endpoints.cost import bound, estimate, price

    read, written = estimate(settings, rest)
    if not (settings.price_in or settings.price_out):
        return read, "-"
    most = price(settings, *bound(settings, rest))
    return read, f"about {price(settings, read, written):,.2f}, at most {most:,.2f}"
