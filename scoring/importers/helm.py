"""Runs of HELM as a response table."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from maskedadv.errors import BadMapping, BrokenLog
from maskedadv.scoring.importers import mapping as m
from maskedadv.scoring.importers.answers import CUT_OFF, Part, Row, gather, make_part, without_repeats
from maskedadv.scoring.importers.helm_files import ANSWERS, count_options, find_helm_runs
from maskedadv.scoring.importers.imported import Imported, combine
from maskedadv.scoring.importers.jsonstream import CUT, read_records
from maskedadv.scoring.importers.labels import choose_subset
from maskedadv.scoring.importers.outcomes import NOT_SCORED, PARTIAL, Outcome
from maskedadv.scoring.importers.runs import MappedRun, listed, map_runs

PERTURBED = "perturbed instance"
LATER_TRIAL = "later trial of examples in the prompt"
METRICS = ("exact_match", "quasi_exact_match")
# A scenario without a rule of the user's.
_PLAIN = m.TaskRule(
    pattern=re.compile(".*", re.DOTALL),
    language=m.template("{args.language}"),
    item=m.template("{item}"),
    subset=m.template("{args.subset}"),
    file="the built-in rule, which reads the scenario's argument language; write one with --map",
)


def read_helm(
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
    """Import runs of HELM.

    Parameters
    ----------
    paths
        Folders of runs (run_spec.json beside per_instance_stats.json), or folders searched through.
    rules
        The user's rules; the task is the run's name up to its first colon, and the fields are `{id}` (the
        instance), `{args...}` (the scenario's arguments) and `{item}` (arguments but the language, and id). A
        rule's `correct` names the metric; else exact_match counts, or quasi_exact_match.
    allow_limited
        Take runs of part of the instances (max_eval_instances).
    tasks, model, run, labels, subset
        As in `read_lm_eval`.

    Raises
    ------
    maskedadv.errors.InputError
        One of its subclasses: nothing is guessed or mixed.
    """
    mapped, notes = map_runs(find_helm_runs(paths), [*rules, _PLAIN], tasks=tasks, model=model, run=run)
    parts = [_read(each, labels, subset) for each in mapped]
    limited = sorted({str(r.run.path.parent) for r in mapped if _limit(r.run.results) is not None})
    if limited and not allow_limited:
        notes.append(
            f"runs of at most {_limit(mapped[0].run.results)} instances each (max_eval_instances), as HELM "
            f"draws them: {listed(limited, 3)}"
        )
    return combine(parts, notes)


def _limit(spec: Any) -> Any:
    adapter = (spec or {}).get("adapter_spec")
    return adapter.get("max_eval_instances") if isinstance(adapter, Mapping) else None


def _read(mapped: MappedRun, labels: Mapping[str, str] | None, subset: str | None) -> Part:
    run, rule = mapped.run, mapped.rule
    scenario = (run.results or {}).get("scenario_spec")
    arguments = scenario.get("args") if isinstance(scenario, Mapping) else None
    arguments = arguments if isinstance(arguments, Mapping) else {}
    named = [str(v) for k, v in sorted(arguments.items()) if k not in {"language", "lang", "subset"}]
    options = count_options(run.path)
    dropped: Counter[str] = Counter()
    differ = 0

    def rows() -> Iterator[Row]:
        nonlocal differ
        for position, record in read_records(run.path):
            where = f"{run.path}, record {position}"
            if record is CUT:
                dropped[CUT_OFF] += 1
                continue
            instance, stats = record.get("instance_id"), record.get("stats")
            if not isinstance(instance, str) or not isinstance(stats, list):
                raise BrokenLog(f"{where} has no instance_id or no stats, as {ANSWERS} of HELM has.")
            if record.get("perturbation") is not None:
                dropped[PERTURBED] += 1
                continue
            if record.get("train_trial_index") not in (None, 0):
                dropped[LATER_TRIAL] += 1
                continue
            fields = {
                "id": instance,
                "args": {**arguments, "language": arguments.get("language", arguments.get("lang"))},
                "item": "/".join([*named, instance]),
            }
            scores = _scores(stats)
            outcome = _outcome(scores, rule.correct, options.get(instance, 0), where)
            differ += len({scores[name] for name in METRICS if name in scores}) > 1
            item = m.item_of(rule, mapped.names, fields, where)
            yield Row(
                item=item,
                subset=choose_subset(m.subset_of(rule, mapped.names, fields, where), item, labels, subset),
                language=m.language_of(rule, mapped.names, fields, where),
                outcome=outcome,
                order=position,
                question=hash(instance),
                answer=hash(outcome),
            )

    frame, repeated = without_repeats(gather(rows()), str(run.path))
    notes = []
    if differ and rule.correct is None:
        notes.append(
            f"{differ} answers are right by quasi_exact_match and wrong by exact_match, which counts; map "
            "`correct` to the metric wanted"
        )
    return make_part(
        frame,
        source=str(run.path),
        model=run.model,
        task=run.task,
        dropped=dropped + repeated,
        notes=notes,
    )


def _scores(stats: Sequence[Any]) -> dict[str, float]:
    """Means by metric, of those that were counted; statistics of perturbed instances aside."""
    found: dict[str, float] = {}
    for stat in stats:
        name = stat.get("name") if isinstance(stat, Mapping) else None
        if not isinstance(name, Mapping) or name.get("perturbation") is not None:
            continue
        count, total = stat.get("count"), stat.get("sum")
        if count and isinstance(count, int | float) and isinstance(total, int | float):
            found.setdefault(str(name.get("name")), total / count)
    return found


def _outcome(scores: Mapping[str, float], wanted: str | None, n_options: int, where: str) -> Outcome:
    names = [wanted] if wanted is not None else list(METRICS)
    metric = next((name for name in names if name in scores), None)
    if metric is None:
        if scores:
            raise BadMapping(
                f"{where} has none of the metrics {', '.join(names)} (found: {listed(sorted(scores), 8)}); "
                "map `correct` to one that is 0 or 1."
            )
        return Outcome(n_options=n_options, reason=NOT_SCORED)
    value = scores[metric]
    if value in (0, 1):
        return Outcome(correct=int(value), n_options=n_options)
    return Outcome(n_options=n_options, reason=PARTIAL)
