"""Details files of lighteval as a response table: the flat layout up to 0.10 and the nested one since."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from maskedadv.errors import AmbiguousKey, BrokenLog, LimitedRun, WrongFormat
from maskedadv.files.sources import first_bytes
from maskedadv.scoring.importers import mapping as m
from maskedadv.scoring.importers.answers import Part, Row, fingerprint, gather, make_part, without_repeats
from maskedadv.scoring.importers.imported import Imported, combine
from maskedadv.scoring.importers.labels import choose_subset
from maskedadv.scoring.importers.lighteval_files import find_details
from maskedadv.scoring.importers.outcomes import Outcome, from_choice, from_logprobs, is_bfloat16
from maskedadv.scoring.importers.reading_check import ReadingCheck
from maskedadv.scoring.importers.runs import MappedRun, Run, listed, map_runs
from maskedadv.scoring.reading.read import read_answer

# Leaves only: whole columns hold every token of the prompt.
_FLAT = ("choices", "gold_index", "predictions", "metrics", "specifics", "example", "full_prompt")
_NESTED = (
    *("doc.query", "doc.choices", "doc.gold_index", "doc.specific", "doc.id", "doc.task_name"),
    *("model_response.logprobs", "model_response.text", "metric"),
)
_ACCURACIES = ("acc", "loglikelihood_acc", "loglikelihood_acc_single_token")
_NAN = re.compile(r"(?<=[\[(, ])nan(?=[\]), ])")  # a number that is none, not a word in quotes
_BATCH = 256


class _Answer(NamedTuple):
    """One row of a details file, whatever its layout."""

    doc: dict[str, Any]
    logprobs: list[float]
    text: str | None
    metrics: dict[str, Any]


def read_lighteval(
    paths: Sequence[Path],
    *,
    rules: Sequence[m.TaskRule] = (),
    tasks: Sequence[str] = (),
    model: str | None = None,
    run: str = "newest",
    allow_limited: bool = False,
    labels: Mapping[str, str] | None = None,
    subset: str | None = None,
) -> Imported:
    """Import details files (`--save-details`).

    Parameters
    ----------
    paths
        details_*.parquet, or folders searched through.
    rules
        The user's task rules, for names such as `toy_en` (without suite and number of examples). None are
        built in, since lighteval keeps no item ids of its own; a rule's fields are those of lighteval's
        `doc`, such as `{doc.specific.sample_id}` or, from 0.11 on, `{doc.id}`.
    tasks, model, run, allow_limited, labels, subset
        As in `read_lm_eval`.

    Raises
    ------
    maskedadv.errors.InputError
        One of its subclasses: nothing is guessed or mixed.
    """
    mapped, notes = map_runs(find_details(paths), rules, tasks=tasks, model=model, run=run)
    parts = [_read(each, allow_limited=allow_limited, labels=labels, subset=subset) for each in mapped]
    return combine(parts, notes)


def _read(
    mapped: MappedRun, *, allow_limited: bool, labels: Mapping[str, str] | None, subset: str | None
) -> Part:
    run, rule, names = mapped.run, mapped.rule, mapped.names
    source = str(run.path)
    differ: list[int] = []
    check = ReadingCheck()
    numbers = [0, 0]  # log-probabilities, and those among them that are bfloat16 numbers

    def rows() -> Iterator[Row]:
        for position, answer in enumerate(_answers(run.path), 1):
            where = f"{source}, row {position}"
            record = {"doc": answer.doc}
            language = m.language_of(rule, names, record, where)
            item = m.item_of(rule, names, record, where)
            outcome = _outcome(answer, rule, language, where)
            if rule.correct is None and not answer.logprobs:
                check.see(answer.metrics, outcome.correct == 1)
            if not math.isnan(outcome.p_correct):
                logged = [v for k in _ACCURACIES if (v := answer.metrics.get(k)) in (0, 1)]
                differ.extend([position] if logged and logged[0] != outcome.correct else [])
                numbers[0] += len(answer.logprobs)
                numbers[1] += sum(map(is_bfloat16, answer.logprobs))
            yield Row(
                item=item,
                subset=choose_subset(m.subset_of(rule, names, record, where), item, labels, subset),
                language=language,
                outcome=outcome,
                order=position,
                question=fingerprint((answer.doc.get("query"), answer.doc.get("choices"))),
                answer=fingerprint((answer.logprobs, answer.text)),
            )

    frame, dropped = without_repeats(gather(rows()), source)
    if differ:
        raise AmbiguousKey(
            f"{source}: {len(differ)} answers do not get the score that the log gives them "
            f"(rows {', '.join(map(str, differ[:3]))}); map `correct` to the metric wanted."
        )
    return make_part(
        frame,
        source=source,
        model=run.model,
        task=run.task,
        dropped=dropped,
        notes=[
            *_check_limit(run, len(frame) + sum(dropped.values()), allow_limited=allow_limited),
            *check.notes('correct = "{metric}" in the mapping'),
        ],
        precision="bf16" if numbers[0] == numbers[1] >= 8 else "",
    )


def _outcome(answer: _Answer, rule: m.TaskRule, language: str, where: str) -> Outcome:
    choices = answer.doc.get("choices") or []
    if rule.correct is not None:
        score = answer.metrics.get(rule.correct)
        if score not in (0, 1):
            raise WrongFormat(f"{where}: metric {rule.correct!r} is missing or neither 0 nor 1.")
        return Outcome(correct=int(score), n_options=rule.n_options or len(choices))
    gold = answer.doc.get("gold_index")
    right = frozenset(_position(g) for g in (gold if isinstance(gold, list) else [gold]))
    if len(choices) < 2 or not (answer.logprobs or answer.text is not None):
        raise WrongFormat(
            f"{where}: neither scored options nor a written answer to a question with options; "
            "map `correct` to a metric that is 0 or 1."
        )
    if len(choices) > 26 and not answer.logprobs:
        raise WrongFormat(f"{where}: {len(choices)} options have no letters; map `correct` to a metric.")
    if not answer.logprobs:
        reading = read_answer(answer.text or "", len(choices), language, option_texts=list(map(str, choices)))
        return from_choice(reading.option, right, len(choices), reading.read_by)
    if len(answer.logprobs) not in {len(choices), 2 * len(choices)}:
        raise BrokenLog(f"{where}: {len(choices)} options, {len(answer.logprobs)} log-probabilities.")
    return from_logprobs(answer.logprobs[: len(choices)], right)  # the rest is without the question


def _answers(path: Path) -> Iterator[_Answer]:
    """Row by row, in batches of a few hundred.

    Raises
    ------
    BrokenLog, WrongFormat
    """
    first_bytes(path)
    try:
        with pq.ParquetFile(path) as file:
            names = set(file.schema_arrow.names)
            nested = {"doc", "model_response", "metric"} <= names
            if not nested and not {"choices", "gold_index", "predictions"} <= names:
                raise WrongFormat(f"{path} is not a details file; its columns are {listed(sorted(names))}.")
            for batch in file.iter_batches(batch_size=_BATCH, columns=list(_NESTED if nested else _FLAT)):
                for row in batch.to_pylist():
                    yield _nested(row) if nested else _flat(row)
    except (pa.ArrowException, OSError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise BrokenLog(f"{path} cannot be read as Parquet ({reason}).") from error
    except (TypeError, ValueError, AttributeError, IndexError) as error:
        raise BrokenLog(f"{path} does not have the layout of lighteval's details ({error}).") from error


def _nested(row: Mapping[str, Any]) -> _Answer:
    response = row["model_response"] or {}
    text = response.get("text") or None
    return _Answer(
        doc=row["doc"] or {},
        logprobs=[_number(lp) for lp in response.get("logprobs") or []],
        text=text[0] if isinstance(text, list) else text,
        metrics=dict(row.get("metric") or {}),
    )


def _flat(row: Mapping[str, Any]) -> _Answer:
    """Up to 0.5 every cell was written as text; since then as what it is."""
    row = {key: value if key in {"example", "full_prompt"} else _literal(value) for key, value in row.items()}
    predictions = row["predictions"] or []
    first = predictions[0] if predictions else None
    written = first[0] if isinstance(first, list) and first and isinstance(first[0], str) else first
    texts = isinstance(written, str)
    return _Answer(
        doc={
            "query": row.get("example") or row.get("full_prompt"),
            "choices": row["choices"],
            "gold_index": row["gold_index"],
            "specific": row.get("specifics"),
        },
        logprobs=[] if texts else [_number(p[0] if isinstance(p, list | tuple) else p) for p in predictions],
        text=written if texts else None,
        metrics=dict(row.get("metrics") or {}),
    )


def _position(value: Any) -> int:
    """An option's place from 0, written as a number or as its text; -1, which is none, for anything else."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 9:
        return int(value)
    return value if type(value) is int else -1


def _number(value: Any) -> float:
    return math.nan if value is None else float(value)


def _literal(value: Any) -> Any:
    if not isinstance(value, str) or value[:1] not in {"[", "{", "("}:
        return value
    try:
        return ast.literal_eval(_NAN.sub("None", value))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return value


def _check_limit(run: Run, rows: int, *, allow_limited: bool) -> list[str]:
    if run.results is None:
        return ["no results file near the log: whether the run was limited cannot be told"]
    general = run.results.get("config_general")
    limit = general.get("max_samples") if isinstance(general, Mapping) else None
    if not isinstance(limit, int) or rows < limit:
        return []
    if not allow_limited:
        raise LimitedRun(
            f"{run.path}: the run was limited to {limit} questions; allow it with --allow-limited."
        )
    return [f"limited run: at most {limit} questions"]
