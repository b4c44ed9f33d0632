"""The one front door of reading: which option a written answer states, and by which rule it was read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from maskedadv.scoring.reading.extract import extract


class Reading(NamedTuple):
    """What a written answer states.

    option
        Position of the stated option, counted from 0; None where no single option is stated.
    read_by
        Name of the rule that read it; for None, why there is no option.
    """

    option: int | None
    read_by: str


def read_answer(
    text: str,
    n_options: int,
    language: str = "en",
    *,
    letters: Sequence[str] = (),  # noqa: ARG001
    option_texts: Sequence[str] = (),  # noqa: ARG001
    cue: str = "",  # noqa: ARG001
    finish_reason: str | None = None,  # noqa: ARG001
) -> Reading:
    """Read a written answer.

    Parameters
    ----------
    text
        The answer, as the model wrote it.
    n_options
        Number of options, 2 to 26; letters beyond it are no options.
    language
        Code of the query language.
    letters
        The option labels as the question printed them; empty where that is not known.
    option_texts
        The options' own texts, in order; empty (or empty texts) where they are not known.
    cue
        The word that the question itself put before the answer ("Answer"), if known.
    finish_reason
        What the endpoint said of the end: "length" is an answer cut off.

    Raises
    ------
    ValueError
        `n_options` is below 2 or above 26.
    """
    option = extract(text, n_options, language)
    return Reading(option, "no statement" if option is None else "statement")
