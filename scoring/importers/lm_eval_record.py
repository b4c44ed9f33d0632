"""One record of an lm-evaluation-harness sample log, in any of its layouts, as an outcome."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from maskedadv.errors import BadMapping, BrokenLog
from maskedadv.scoring.importers.mapping import TaskRule
from maskedadv.scoring.importers.outcomes import Outcome, from_choice, from_logprobs
from maskedadv.scoring.importers.targets import Case, right_options
from maskedadv.scoring.reading.read import read_answer

_MOST_OPTIONS = 1000
_LETTERED = (
    [f"option_{letter}" for letter in "abcdefghij"],
    [f"Option {number}" for number in range(1, 11)],
    list("ABCDEFGHIJ"),
    [f"mc_answer{number}" for number in range(1, 11)],
)


class Scored(NamedTuple):
    """The options of a question and their log-probabilities.

    `appended`: the options were scored once more without the question, after all of them.
    """

    texts: list[str]
    logprobs: list[float]
    appended: bool


def scored_options(record: Mapping[str, Any], where: str) -> Scored | None:
    """The options scored for a question; None for a generated answer.

    Tasks that report mutual information score every option once more without the question: each in turn up
    to 0.4.4, all of them afterwards since. Those requests have an empty context and are left out.

    Raises
    ------
    BrokenLog
    """
    requests, responses = _requests(record["arguments"]), record["filtered_resps"]
    if not requests or not isinstance(responses, list):
        raise BrokenLog(f"{where}: arguments or filtered_resps is not a list of requests.")
    if not all(len(request) == 2 and isinstance(request[1], str) for request in requests):
        return None
    if len(requests) > _MOST_OPTIONS:
        raise BrokenLog(f"{where}: {len(requests)} options are more than any question has.")
    if len(requests) != len(responses):
        raise BrokenLog(f"{where}: {len(requests)} options were asked, {len(responses)} answered.")
    again = [context == "" for context, _ in requests]
    if 2 * sum(again) != len(requests):
        again = [False] * len(requests)
    try:
        logprobs = [float(response[0] if isinstance(response, list) else response) for response in responses]
    except (TypeError, ValueError, IndexError, OverflowError) as error:
        raise BrokenLog(f"{where}: filtered_resps holds no log-probabilities ({error}).") from error
    kept = [n for n, skip in enumerate(again) if not skip]
    appended = any(again) and kept == list(range(len(kept)))
    return Scored([requests[n][1].strip() for n in kept], [logprobs[n] for n in kept], appended)


def outcome(
    record: Mapping[str, Any], scored: Scored | None, rule: TaskRule, reading: str, language: str, where: str
) -> Outcome:
    """Score one record.

    Parameters
    ----------
    scored
        As `scored_options` gives it.
    reading
        How the key is meant, as `settle_reading` gives it.
    language
        Code of the query language, for reading written answers.

    Raises
    ------
    BrokenLog, BadMapping
    """
    if rule.correct is not None:
        score = logged_score(record, rule.correct)
        if score is None:
            raise BadMapping(
                f"{where}: {rule.correct!r} is missing or neither 0 nor 1; see `correct` in {rule.file}."
            )
        return Outcome(correct=score, n_options=rule.n_options or (len(scored.texts) if scored else 0))
    if scored is not None:
        if len(scored.texts) == 1:
            raise BadMapping(
                f"{where}: only one option was scored, so nothing was chosen; map `correct` to a metric."
            )
        return from_logprobs(scored.logprobs, right_options(record["target"], scored.texts, reading))
    texts = _written_options(record["doc"], rule, where)
    stated = read_answer(_answer(record, where), len(texts), language, option_texts=texts)
    right = right_options(record["target"], texts, reading)
    return from_choice(stated.option, right, len(texts), stated.read_by)


def case(
    record: Mapping[str, Any], scored: Scored | None, rule: TaskRule, where: str, *, sound: bool
) -> Case:
    """What tells how the key is meant: key, option texts, chosen option, logged score.

    `sound`: see `logged_accuracy`.

    Raises
    ------
    BadMapping
    """
    if scored is None:
        return record["target"], _written_options(record["doc"], rule, where), None, None
    finite = all(map(math.isfinite, scored.logprobs))
    chosen = scored.logprobs.index(max(scored.logprobs)) if finite else None
    return record["target"], scored.texts, chosen, logged_accuracy(record, scored, sound=sound)


def logged_accuracy(record: Mapping[str, Any], scored: Scored, *, sound: bool) -> int | None:
    """`acc` of the record; None where it is missing or known to be wrong.

    From 0.4.5 to 0.4.8 the harness took `acc` of tasks with mutual information from every other score
    although it had scored the options anew after all of them. `sound` says that the log is of another
    version.
    """
    return None if scored.appended and not sound else logged_score(record, "acc")


def logged_score(record: Mapping[str, Any], metric: str) -> int | None:
    """A metric of the record as 0 or 1; None where it is missing or something else."""
    value = record.get(metric)
    return int(value) if isinstance(value, bool | int | float) and value in (0, 1) else None


def _requests(arguments: Any) -> list[list[Any]]:
    """Requests in order: a list of pairs, or, from 0.4.3 on, `gen_args_<n>` with `arg_<m>` each."""
    if isinstance(arguments, Mapping):
        arguments = [arguments[key] for key in sorted(arguments, key=_number)]
    if not isinstance(arguments, list):
        return []
    return [
        [request[key] for key in sorted(request, key=_number)] if isinstance(request, Mapping) else request
        for request in arguments
        if isinstance(request, Mapping | list)
    ]


def _number(key: str) -> int:
    digits = key.rsplit("_", 1)[-1]
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 9 else 0


def _written_options(doc: Any, rule: TaskRule, where: str) -> list[str]:
    """Texts of the options that the question showed; empty texts where only their number is known.

    Raises
    ------
    BadMapping
        Neither the question nor the rule tells how many there are.
    """
    if isinstance(doc, Mapping):
        for key in ("choices", "options"):
            value = doc.get(key)
            value = value.get("text") if isinstance(value, Mapping) else value
            if isinstance(value, list) and 2 <= len(value) <= 26:
                return [str(text).strip() for text in value]
        for keys in _LETTERED:
            texts = [str(doc[key]).strip() for key in keys if doc.get(key) not in (None, "")]
            if len(texts) >= 2:
                return texts
    if rule.n_options is None:
        raise BadMapping(
            f"{where}: the question does not say how many options there were; give `n_options` in a mapping, "
            "or `correct`, the name of a metric that is 0 or 1."
        )
    return [""] * rule.n_options


def _answer(record: Mapping[str, Any], where: str) -> str:
    """The text as generated, before any filter; the first of several samples."""
    for answer in (record.get("resps"), record["filtered_resps"]):
        while isinstance(answer, list) and answer:
            answer = answer[0]
        if isinstance(answer, str):
            return answer
    raise BrokenLog(f"{where}: there is no generated text in resps or filtered_resps.")
