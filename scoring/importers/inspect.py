"""Logs of Inspect as a response table."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import numpy as np
import pandas as pd

from maskedadv.errors import BadSetting, BadValue, BrokenLog, LimitedRun, MixedRuns
from maskedadv.scoring.importers import mapping as m
from maskedadv.scoring.importers.answers import CUT_OFF, Note, Part, Row, gather, make_part, place
from maskedadv.scoring.importers.imported import Imported, combine
from maskedadv.scoring.importers.inspect_checks import check_complete, check_count
from maskedadv.scoring.importers.inspect_files import find_inspect_logs, read_samples
from maskedadv.scoring.importers.jsonstream import CUT
from maskedadv.scoring.importers.labels import choose_subset
from maskedadv.scoring.importers.outcomes import (
    FAILED,
    INVALIDATED,
    NO_ANSWER,
    NOT_SCORED,
    PARTIAL,
    Outcome,
    from_choice,
)
from maskedadv.scoring.importers.reading_check import ReadingCheck
from maskedadv.scoring.importers.runs import MappedRun, listed, map_runs
from maskedadv.scoring.reading.read import read_answer

LATER_EPOCH = "later epoch"
READ = "read"  # in place of a scorer's name: the written answer as it is read here
_IDS = ["language", "subset", "item"]
_VALUES = {"C": 1.0, "I": 0.0, "P": 0.5}
# A task without a rule of the user's: what its samples call language and subset.
_PLAIN = m.TaskRule(
    pattern=re.compile(".*", re.DOTALL),
    language=m.template("{metadata.language}"),
    item=m.template("{id}"),
    subset=m.template("{metadata.subset}"),
    file="the built-in rule, which reads metadata.language and metadata.subset; write one with --map",
)


def read_inspect(
    paths: Sequence[Path],
    *,
    rules: Sequence[m.TaskRule] = (),
    tasks: Sequence[str] = (),
    model: str | None = None,
    run: str = "newest",
    allow_limited: bool = False,
    labels: Mapping[str, str] | None = None,
    subset: str | None = None,
    epochs: str = "first",
    scorer: str | None = None,
) -> Imported:
    """Import Inspect logs.

    Parameters
    ----------
    paths
        .eval or .json logs, or folders searched through.
    rules
        The user's task rules; their fields are `{id}`, `{metadata...}` and `{task_args...}`. Tasks without
        one take the language from `metadata.language` and the subset from `metadata.subset`.
    epochs
        "first": the first epoch's answer counts. "mean": `p_correct` is the mean score over epochs.
    scorer
        Name of the score to take, where samples have several; "name.key" for one of a score's values; "read"
        for the written answers as they are read here.
    allow_limited
        Take runs that were limited, failed or were stopped.
    tasks, model, run, labels, subset
        As in `read_lm_eval`.

    Raises
    ------
    maskedadv.errors.InputError
        One of its subclasses: nothing is guessed or mixed.
    """
    if epochs not in {"first", "mean"}:
        raise BadSetting(f"epochs must be first or mean, not {epochs!r}.")
    mapped, notes = map_runs(find_inspect_logs(paths), [*rules, _PLAIN], tasks=tasks, model=model, run=run)
    parts = [
        _read(each, allow_limited=allow_limited, labels=labels, subset=subset, epochs=epochs, scorer=scorer)
        for each in mapped
    ]
    return combine(parts, notes)


def _read(
    mapped: MappedRun,
    *,
    allow_limited: bool,
    labels: Mapping[str, str] | None,
    subset: str | None,
    epochs: str,
    scorer: str | None,
) -> Part:
    run, rule, names = mapped.run, mapped.rule, mapped.names
    notes: list[str | Note] = [*check_complete(run, allow_limited=allow_limited)]
    dropped: Counter[str] = Counter()
    silent, invalid, held = 0, 0, 0
    check = ReadingCheck()

    def rows() -> Iterator[Row]:
        nonlocal silent, invalid, held
        for position, sample in enumerate(read_samples(run.path), 1):
            if sample is CUT:
                dropped[CUT_OFF] += 1
                continue
            held = position
            where = f"{run.path}, sample {position}"
            if not isinstance(sample, dict) or "id" not in sample:
                raise BrokenLog(f"{where} is not a sample with an id.")
            record = {
                "id": sample["id"],
                "metadata": sample.get("metadata"),
                "task_args": (run.results or {})["eval"].get("task_args"),
            }
            language = m.language_of(rule, names, record, where)
            item = m.item_of(rule, names, record, where)
            invalid += bool(sample.get("invalidation"))
            if scorer == READ:
                score, outcome = None, _read_here(sample, language, where)
            else:
                score = _score(sample, scorer, where)
                outcome = _outcome(sample, score, where)
                if outcome.correct is not None and _can_be_read(sample):
                    read = _read_here(sample, language, where)
                    check.see({"score": outcome.correct}, read.correct == 1)
            silent += outcome.correct == 0 and score is not None and score.get("answer", "?") in (None, "")
            yield Row(
                item=item,
                subset=choose_subset(m.subset_of(rule, names, record, where), item, labels, subset),
                language=language,
                outcome=outcome,
                order=place(sample.get("epoch"), 1),
            )

    frame = gather(rows())
    if (again := frame.duplicated([*_IDS, "order"])).any():
        raise MixedRuns(
            f"{run.path}: {int(again.sum())} samples have the id and epoch of another "
            f"({listed(frame.loc[again, 'item'].tolist(), 3)}); map `item` to a field that tells them apart."
        )
    answers = len(frame)
    frame = _first_epoch(frame) if epochs == "first" else _mean_of_epochs(frame)
    dropped[LATER_EPOCH] = answers - len(frame) if epochs == "first" else 0
    notes += check.notes("it is taken as logged; --scorer read takes the reading instead")
    notes += check_count(run, held)
    if (run.results or {}).get("invalidated") and not invalid and not allow_limited:
        raise LimitedRun(f"{run.path}: it was invalidated; allow it with --allow-limited.")
    if silent:
        notes.append(
            f"{silent} answers scored as incorrect state no option; they count as incorrect, as logged"
        )
    return make_part(
        frame, source=str(run.path), model=run.model, task=run.task, dropped=dropped, notes=notes
    )


def _score(sample: Mapping[str, Any], scorer: str | None, where: str) -> Mapping[str, Any] | None:
    """The score wanted, or the only one; None for a sample that was not scored."""
    scores = sample.get("scores")
    if not scores:
        return None
    if not isinstance(scores, Mapping) or not all(isinstance(s, Mapping) for s in scores.values()):
        raise BrokenLog(f"{where}: scores is not a table of scores.")
    name, _, key = (scorer or "").partition(".")
    if scorer is not None and scorer in scores:
        name, key = scorer, ""
    if scorer is None:
        if len(scores) > 1:
            raise BadSetting(f"{where} has several scores ({listed(list(scores))}); choose with --scorer.")
        name = next(iter(scores))
    if name not in scores:
        raise BadSetting(f"{where} has no score {name!r}, only {listed(list(scores))}.")
    score = scores[name]
    value = score.get("value")
    if isinstance(value, Mapping):
        if key not in value:
            raise BadSetting(
                f"{where}: the score {name} has several values ({listed(list(value))}); "
                f"choose one, for instance --scorer {name}.{next(iter(value), 'key')}."
            )
        return {**score, "value": value[key]}
    return score


def _outcome(sample: Mapping[str, Any], score: Mapping[str, Any] | None, where: str) -> Outcome:
    """Right, wrong or not observed; part of the full score stands in `p_correct`, with the reason PARTIAL."""
    choices = sample.get("choices")
    k = len(choices) if isinstance(choices, list) and len(choices) < 1000 else 0
    if sample.get("invalidation"):
        return Outcome(n_options=k, reason=INVALIDATED)
    if sample.get("error"):
        return Outcome(n_options=k, reason=FAILED)
    value = None if score is None else score.get("value")
    if value is None:  # some versions write the NaN of a sample that was not scored as null
        return Outcome(n_options=k, reason=NOT_SCORED)
    if value == "N":
        return Outcome(n_options=k, reason=NO_ANSWER)
    number = _VALUES.get(value) if isinstance(value, str) else value
    if not isinstance(number, bool | int | float):
        raise BadValue(f"{where}: the score {value!r} is neither C, I, P, N nor a number.")
    if math.isnan(number):
        return Outcome(n_options=k, reason=NOT_SCORED)
    if not 0 <= number <= 1:
        raise BadValue(f"{where}: the score {value!r} is not between 0 and 1.")
    if number in (0, 1):
        return Outcome(correct=int(number), n_options=k)
    return Outcome(p_correct=float(number), n_options=k, reason=PARTIAL)


def _can_be_read(sample: Mapping[str, Any]) -> bool:
    """Whether a sample has options, a key of letters and a written answer."""
    choices, output, target = (sample.get(key) for key in ("choices", "output", "target"))
    letters = [target] if isinstance(target, str) else target
    return (
        isinstance(choices, list)
        and 2 <= len(choices) <= len(ascii_uppercase)
        and isinstance(output, Mapping)
        and isinstance(output.get("completion"), str)
        and isinstance(letters, list)
        and bool(letters)
        and all(isinstance(t, str) and t in ascii_uppercase[: len(choices)] and t for t in letters)
    )


def _read_here(sample: Mapping[str, Any], language: str, where: str) -> Outcome:
    """The written answer as read here.

    Raises
    ------
    BrokenLog
        There is none, or the question has no options.
    """
    if sample.get("invalidation") or sample.get("error"):
        return _outcome(sample, None, where)
    if not _can_be_read(sample):
        raise BrokenLog(f"{where} has no options with a key of letters, or no written answer, to read.")
    texts = [str(choice) for choice in sample["choices"]]
    read = read_answer(sample["output"]["completion"], len(texts), language, option_texts=texts)
    right = {ascii_uppercase.index(letter) for letter in sample["target"]}
    return from_choice(read.option, right, len(texts), read.read_by)


def _first_epoch(frame: pd.DataFrame) -> pd.DataFrame:
    first = frame.sort_values("order", kind="stable").drop_duplicates(_IDS)
    return first.sort_index().assign(p_correct=np.nan)


def _mean_of_epochs(frame: pd.DataFrame) -> pd.DataFrame:
    value = frame["correct"].astype("float64").fillna(frame["p_correct"])
    mean = value.groupby([frame[c] for c in _IDS]).transform("mean")
    reason = frame["reason"].where(mean.isna(), "")
    means = frame.assign(correct=pd.array([pd.NA] * len(frame), dtype="Int8"), p_correct=mean, reason=reason)
    return means.drop_duplicates(_IDS)
