"""Sample logs of lm-evaluation-harness (0.4.0 and later) as a response table."""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from maskedadv.errors import AmbiguousKey, BadMapping, WrongFormat
from maskedadv.scoring.importers import mapping as m
from maskedadv.scoring.importers.answers import (
    CUT_OFF,
    OTHER_FILTER,
    REPEATED,
    Note,
    Part,
    Row,
    fingerprint,
    gather,
    make_part,
    place,
    without_repeats,
)
from maskedadv.scoring.importers.imported import Imported, combine
from maskedadv.scoring.importers.jsonstream import CUT, read_records
from maskedadv.scoring.importers.labels import choose_subset
from maskedadv.scoring.importers.lm_eval_checks import check_limit, compare_totals, differing_settings
from maskedadv.scoring.importers.lm_eval_files import find_runs
from maskedadv.scoring.importers.lm_eval_record import Scored, case, logged_accuracy, outcome, scored_options
from maskedadv.scoring.importers.outcomes import Outcome, is_bfloat16
from maskedadv.scoring.importers.runs import MappedRun, Run, listed, map_runs
from maskedadv.scoring.importers.targets import Case, settle_reading

KNOWN_TASKS = Path(__file__).with_name("lm_eval_tasks.toml")


def read_lm_eval(
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
    """Import sample logs.

    Parameters
    ----------
    paths
        Logs (.jsonl), or folders searched through.
    rules
        The user's task rules; they come before those of `lm_eval_tasks.toml`.
    tasks
        Shell patterns of the tasks wanted; all mapped ones if empty.
    model
        The model's name, where no results file gives it, or instead of it.
    run
        "newest", or how the time of the wanted runs begins.
    allow_limited
        Take runs that were limited to part of their items.
    labels
        CA or CS per item id, for answers without a label of their own.
    subset
        CA or CS for sets that have no labels at all.

    Raises
    ------
    maskedadv.errors.InputError
        One of its subclasses: nothing is guessed or mixed.
    """
    rules = [*rules, *m.read_mapping(KNOWN_TASKS)]
    found, others = find_runs(paths, lambda task: m.find_rule(task, rules) is not None)
    mapped, notes = map_runs(found, rules, tasks=tasks, model=model, run=run)
    if others:
        notes.append(f"no sample logs, left out: {listed(others)}")
    notes += differing_settings([each.run for each in mapped])
    parts = [_read_run(each, allow_limited=allow_limited, labels=labels, subset=subset) for each in mapped]
    return combine(parts, notes)


def doc_hash(doc: Any) -> str:
    """The harness's own hash of a question (`doc_hash` in logs from 0.4.3 on)."""
    text = json.dumps(doc, indent=2, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _read_run(
    mapped: MappedRun, *, allow_limited: bool, labels: Mapping[str, str] | None, subset: str | None
) -> Part:
    run, rule, names = mapped.run, mapped.rule, mapped.names
    source = str(run.path)
    notes: list[str | Note] = [*check_limit(run, allow_limited=allow_limited)]
    dropped: Counter[str] = Counter()
    check = _Check(_sound(run))
    reading = rule.answer or _reading(run, rule)

    def rows() -> Iterator[Row]:
        for position, record in _records(run, rule, dropped):
            where = f"{source}, record {position}"
            language = m.language_of(rule, names, record, where)
            item = m.item_of(rule, names, record, where)
            own = m.subset_of(rule, names, record, where)
            scored = scored_options(record, where)
            answered = outcome(record, scored, rule, reading, language, where)
            check.see(record, scored, answered, where)
            yield Row(
                item=item,
                subset=choose_subset(own, item, labels, subset),
                language=language,
                outcome=answered,
                order=place(record.get("doc_id"), position),
                question=fingerprint(record["doc_hash"]),
                answer=fingerprint(record.get("resps", record["filtered_resps"])),
            )

    frame, repeated = without_repeats(gather(rows()), source)
    dropped += repeated
    if rule.filter is not None and frame.empty:
        raise BadMapping(f"{source}: no answer went through the filter {rule.filter!r}; see {rule.file}.")
    if check.differ and rule.answer is None:
        raise AmbiguousKey(
            f"{source}: {len(check.differ)} answers do not get the score that the log gives them "
            f"({', '.join(check.differ[:3])}); say how the key is meant under `answer` in a mapping."
        )
    notes += [*check.notes(), *compare_totals(run, rule, frame, len(frame) + dropped[REPEATED])]
    return make_part(
        frame,
        source=source,
        model=run.model,
        task=run.task,
        dropped=dropped,
        notes=notes,
        precision="bf16" if check.bfloat16 else "",
    )


def _records(run: Run, rule: m.TaskRule, dropped: Counter[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """The records of one filter: the rule's, else "none", else the first in the file."""
    wanted = rule.filter
    if wanted is None and any(metric.endswith(",none") for metric in run.scores()):
        wanted = "none"
    for position, record in read_records(run.path):
        if record is CUT:
            dropped[CUT_OFF] += 1
            continue
        if not {"doc", "target", "arguments", "filtered_resps"} <= set(record):
            raise WrongFormat(
                f"{run.path}: record {position} is no sample of lm-evaluation-harness; its fields are "
                f"{listed(list(record))}."
            )
        name = record.get("filter")
        if name is None and rule.filter is not None:
            raise BadMapping(
                f"{run.path} does not say which filter an answer went through, as logs before 0.4.7 do not; "
                f"drop `filter` from {rule.file}."
            )
        wanted = name if wanted is None else wanted
        if name != wanted and name is not None:
            dropped[OTHER_FILTER] += 1
            continue
        record["doc_hash"] = record.get("doc_hash") or doc_hash(record["doc"])
        yield position, record


def _reading(run: Run, rule: m.TaskRule) -> str:
    """How the keys of a log are meant; looks only as far into it as needed."""
    if rule.correct is not None:
        return "text"

    def cases() -> Iterator[Case]:
        for position, record in _records(run, rule, Counter()):
            where = f"{run.path}, record {position}"
            yield case(record, scored_options(record, where), rule, where, sound=_sound(run))

    return settle_reading(cases(), str(run.path))


def _sound(run: Run) -> bool:
    """Whether logged accuracies can be relied on in tasks with mutual information: from 0.4.9 on."""
    return "lm_eval_version" in (run.results or {})


@dataclass
class _Check:
    """What is noticed while a log goes by."""

    sound: bool
    differ: list[str] = field(default_factory=list)
    unsound: bool = False
    numbers: int = 0
    rounded: bool = True
    samples: int = 1

    def see(self, record: Mapping[str, Any], scored: Scored | None, answered: Outcome, where: str) -> None:
        if scored is None:
            answers = record.get("resps")
            lists = [r for r in answers if isinstance(r, list)] if isinstance(answers, list) else []
            self.samples = max([self.samples, *map(len, lists)])
            return
        score = logged_accuracy(record, scored, sound=self.sound)
        if None not in (score, answered.correct) and not math.isnan(answered.p_correct):
            self.differ += [where.rsplit(", ", 1)[1]] if score != answered.correct else []
        self.unsound |= scored.appended and not self.sound
        self.numbers += sum(map(math.isfinite, scored.logprobs))
        self.rounded = self.rounded and all(map(is_bfloat16, scored.logprobs))

    @property
    def bfloat16(self) -> bool:
        """All log-probabilities, and there are some, are bfloat16 numbers."""
        return self.rounded and self.numbers >= 8

    def notes(self) -> list[str]:
        notes = []
        if self.differ:
            notes.append(f"{len(self.differ)} answers do not get the score that the log gives them")
        if self.unsound:
            notes.append("`acc` in the log is not used: the harness before 0.4.9 took it from wrong scores")
        if self.bfloat16:
            notes.append(
                "log-probabilities are in bf16 precision: ties, and some answers changed by rounding"
            )
        if self.samples > 1:
            notes.append(f"{self.samples} answers were generated per question; the first one counts")
        return notes
