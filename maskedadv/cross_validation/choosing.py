"""Which candidates a table allows, and the answers that all of them can be told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskedadv.cross_validation.candidates import BY_NAME, CANDIDATES, DRAWS, Candidate
from maskedadv.design.blocks import observed_values
from maskedadv.design.options import chance_of_items
from maskedadv.errors import BadSetting, NoOptions, WrongResponse
from maskedadv.responses import Responses


@dataclass(frozen=True)
class Chosen:
    """Candidates, in the order of the table of them, and why others are not among them."""

    candidates: tuple[Candidate, ...]
    notes: tuple[str, ...]

    def observed(self, table: Responses) -> Responses:
        """The table with the answers alone that every candidate can be told."""
        have = ~np.isnan(table.correct)  # type: ignore[arg-type]  # choose_candidates has seen to it
        for response in {c.response for c in self.candidates}:
            have &= ~np.isnan(observed_values(table, response))
        return replace(
            table,
            correct=_where(have, table.correct),
            p_correct=_where(have, table.p_correct),
            crm_logit=_where(have, table.crm_logit),
        )


def _where(have: NDArray[np.bool_], values: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
    return None if values is None else np.where(have, values, np.nan)


def choose_candidates(
    table: Responses, names: Sequence[str] | None, *, scheme: str, nuts: bool, common: Mapping[str, Any]
) -> Chosen:
    """Those named, or all that the table allows.

    Raises
    ------
    WrongResponse
        The table has no right and wrong answers, or lacks probabilities that a candidate named needs.
    NoOptions, BadSetting
        A candidate named needs a guessing floor, or cannot predict what the scheme holds out.
    """
    if table.correct is None or np.isnan(table.correct).all():
        raise WrongResponse(
            "compare scores predictions of right and wrong answers, and the table has none in a column "
            "'correct'; add it (1 where the option with the highest probability is the right one)."
        )
    reasons = {
        c.name: why
        for c in CANDIDATES
        if (why := _impossible(c, table, common) or (names is None and _unasked(c, table, nuts=nuts)) or "")
        or (why := _not_in_scheme(c, scheme))
    }
    if names is not None:
        for name in names:
            if name in reasons:
                raise _refusal(BY_NAME[name], reasons[name])
        return Chosen(tuple(c for c in CANDIDATES if c.name in set(names)), _lost_answers(table, names))
    told: dict[str, list[str]] = {}
    for name, why in reasons.items():
        if why != _NUTS:
            told.setdefault(why, []).append(name)
    notes = tuple(f"left out: {', '.join(names)}: {why}" for why, names in told.items())
    return Chosen(tuple(c for c in CANDIDATES if c.name not in reasons), notes)


_NUTS = "sampled, which takes minutes"


def _impossible(c: Candidate, table: Responses, common: Mapping[str, Any]) -> str:
    if c.response in ("crm", "soft"):
        if table.p_correct is None and (c.response == "soft" or table.crm_logit is None):
            return "the table has no probabilities (p_correct)"
        if not (_probable(table, c.response) & ~np.isnan(_correct(table))).any():
            return "no answer has both a probability and right or wrong"
    if c.with_floor:
        chance = chance_of_items(table, str(common.get("guessing", "auto")), common.get("options"))
        if chance is None or not (chance > 0).any():
            return "no guessing floor is known (a column n_options, or --options)"
    return ""


def _unasked(c: Candidate, table: Responses, *, nuts: bool) -> str:
    """Why a candidate that could be had is not among those taken by themselves."""
    if c.method == DRAWS and (not nuts or c.posterior):
        return _NUTS
    if c.response in ("crm", "soft"):
        lost = int((~np.isnan(_correct(table)) & ~_probable(table, c.response)).sum())
        if lost:
            return (
                f"{lost:,} answers have no probability; named (--candidate), all are compared on the others"
            )
    return ""


def _not_in_scheme(c: Candidate, scheme: str) -> str:
    if scheme == "item" and not c.new_items:
        return "difficulties are single numbers, which say nothing of new items"
    return ""


def _lost_answers(table: Responses, names: Sequence[str]) -> tuple[str, ...]:
    have = ~np.isnan(_correct(table))
    kept = have.copy()
    for name in names:
        kept &= ~np.isnan(observed_values(table, BY_NAME[name].response))
    lost = int(have.sum() - kept.sum())
    return (f"{lost:,} answers without a probability are left out for all candidates",) if lost else ()


def _correct(table: Responses) -> NDArray[np.float64]:
    assert table.correct is not None
    return table.correct


def _probable(table: Responses, response: str) -> NDArray[np.bool_]:
    return np.asarray(~np.isnan(observed_values(table, response)))


def _refusal(c: Candidate, why: str) -> Exception:
    sentence = f"candidate {c.name!r} cannot be compared: {why}."
    if c.response in ("crm", "soft") and "probabilit" in why:
        return WrongResponse(sentence)
    return NoOptions(sentence) if c.with_floor and "floor" in why else BadSetting(sentence)
