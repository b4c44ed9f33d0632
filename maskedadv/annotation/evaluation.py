"""Everything about a set of annotations: agreement of the humans, and a language model against them."""

from __future__ import annotations

import hashlib
import zlib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from maskedadv.annotation.agreement import TIE, TOO_FEW, Estimate, agreement, majority
from maskedadv.annotation.classification import confusion, rate_intervals, rates
from maskedadv.annotation.mapping import CATEGORY, mapping_agreement, read_mapping
from maskedadv.annotation.tables import POOLED, choose_fields, count_votes, labels_of, read_annotations
from maskedadv.errors import BadSetting, MissingColumn
from maskedadv.files.text_tables import plain_records
from maskedadv.settings import LEVEL
from maskedadv.words.lists import first_few
from maskedadv.words.terminal import dumps

DERIVED = "CS/CA from required_knowledge"
"""Each label reduced to CA (none) or CS (any knowledge) before votes are counted, so that three never tie."""

_KEY = ["field", "language"]
_COLUMNS = {
    "agreement": None,
    "patterns": [*_KEY, "pattern", "n_items", "share"],
    "scores": [
        *_KEY, "n_evaluated", "n_ties", "n_missing", "accuracy", "accuracy_lower", "accuracy_upper",
        "macro_f1", "macro_f1_lower", "macro_f1_upper", "conservative",
    ],
    "classes": [*_KEY, "label", "precision", "recall", "f1", "support"],
    "confusion": [*_KEY, "reference", "predicted", "n_items"],
}  # fmt: skip
_HUMANS, _LLM = "the human annotations", "the model's annotations"


@dataclass(frozen=True)
class AnnotationResult:
    """Tidy tables, by field and language ('all' pools the languages).

    Attributes
    ----------
    agreement
        One row per field and language: n_items, and value, lower, upper of unanimous, pairwise, alpha, kappa.
    patterns
        Splits of labels: field, language, pattern, n_items, share.
    scores
        The model against the majority: n_evaluated, n_ties, n_missing, accuracy, macro_f1 with
        intervals, and `conservative`: correct / all items with two labels or more, so that ties and
        items the model left out count as errors.
    classes
        precision, recall, f1 and support (reference count) per label.
    confusion
        reference, predicted, n_items.
    mapping
        Agreement of a subject mapping with the model's categories.
    notes
        Things worth a look.
    fingerprint
        SHA-256 of tables and settings.
    """

    agreement: pd.DataFrame
    patterns: pd.DataFrame
    scores: pd.DataFrame
    classes: pd.DataFrame
    confusion: pd.DataFrame
    mapping: pd.DataFrame
    notes: tuple[str, ...]
    fingerprint: str

    def to_json(self) -> str:
        """Everything as JSON; NaN becomes null."""
        content: dict[str, Any] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            content[field.name] = plain_records(value) if isinstance(value, pd.DataFrame) else value
        return dumps(content)


def evaluate(
    humans: str | Path | pd.DataFrame,
    llm: str | Path | pd.DataFrame | None = None,
    mapping: str | Path | pd.DataFrame | None = None,
    *,
    wanted: tuple[str, ...] = (),
    n_resamples: int = 5000,
    level: float = LEVEL,
    seed: int = 1,
) -> AnnotationResult:
    """Agreement of human annotators, and of a model with their majority.

    Parameters
    ----------
    humans
        Table with item, annotator, optionally language, and one column per field; empty where not given.
    llm
        Table with item, optionally language, and the same fields; with `subject` for the mapping.
    mapping
        Table with subject and category.
    wanted
        Fields; by default those of `LABELS` that the human table has.

    Raises
    ------
    InputError
        Some subclass of it.
    """
    if n_resamples < 100 or seed < 0 or not 0 < level < 1:
        raise BadSetting("resamples must be 100 or more, the seed 0 or more, the level between 0 and 1.")
    people = read_annotations(humans, _HUMANS, by_annotator=True)
    machine = None if llm is None else read_annotations(llm, _LLM, by_annotator=False)
    tables: dict[str, list[dict[str, Any]]] = {
        name: [] for name in ("agreement", "patterns", "scores", "classes", "confusion")
    }
    notes = [] if machine is None else _unmatched(people, machine)
    if machine is not None and (people["language"] == POOLED).all() != (machine["language"] == POOLED).all():
        raise MissingColumn(
            f"only one of {_HUMANS} and {_LLM} has a column 'language'; give it to both or none."
        )
    chosen = choose_fields(people, wanted, _HUMANS)
    if machine is not None:
        lacking = [field for field in chosen if field not in machine.columns]
        notes += [f"{_LLM} lack the field {field}, so it is not scored." for field in lacking]
    for field, labels, votes, predicted in _fields(people, machine, chosen):
        languages = sorted(votes.index.get_level_values("language").unique())
        for language in [*(languages if len(languages) > 1 else []), POOLED]:
            part = votes if language == POOLED else votes.loc[[language]]
            rng = np.random.default_rng([seed, zlib.crc32(f"{field} {language}".encode())])
            key = {"field": field, "language": language}
            counts = part.to_numpy()
            found = agreement(counts, rng, n_resamples, level)
            tables["agreement"].append({**key, **_agreement_row(found.n_items, found)})
            tables["patterns"] += [
                {**key, "pattern": pattern, "n_items": n, "share": n / found.n_items}
                for pattern, n in found.patterns
            ]
            if predicted is not None:
                _score(
                    tables,
                    key,
                    labels,
                    majority(counts),
                    predicted.reindex(part.index),
                    rng,
                    n_resamples,
                    level,
                )
    frames = {name: pd.DataFrame(rows, columns=_COLUMNS[name]) for name, rows in tables.items()}
    mapped = _mapping(machine, mapping)
    fingerprint = _fingerprint((n_resamples, level, seed, wanted), people, machine, mapped)
    return AnnotationResult(mapping=mapped, notes=tuple(notes), fingerprint=fingerprint, **frames)


def _fingerprint(settings: tuple[Any, ...], *frames: pd.DataFrame | None) -> str:
    digest = hashlib.sha256(repr(settings).encode())
    for frame in frames:
        digest.update(b"" if frame is None else frame.to_csv(index=False).encode())
    return digest.hexdigest()


def _fields(
    people: pd.DataFrame, machine: pd.DataFrame | None, chosen: tuple[str, ...]
) -> list[tuple[str, tuple[str, ...], pd.DataFrame, pd.Series | None]]:
    """Field, labels, votes and the model's label per item, for every field and the derived CS/CA."""
    found = []
    for field in chosen:
        with_field = machine is not None and field in machine.columns
        tables = [(_HUMANS, people), *([(_LLM, machine)] if machine is not None and with_field else [])]
        labels = labels_of(field, tuple(tables))
        predicted = None
        if machine is not None and with_field:
            predicted = machine.set_index(["language", "item"])[field]
        found.append((field, labels, count_votes(people, field, labels), predicted))
        if field == "required_knowledge":
            reduced = people.assign(**{DERIVED: people[field].map(_reduce)})
            derived = None if predicted is None else predicted.map(_reduce)
            found.append((DERIVED, ("CA", "CS"), count_votes(reduced, DERIVED, ("CA", "CS")), derived))
    return found


def _reduce(label: str) -> str:
    return "" if label == "" else "CA" if label == "none" else "CS"


def _agreement_row(n_items: int, found: Any) -> dict[str, Any]:
    row: dict[str, Any] = {"n_items": n_items}
    reasons = []
    for name in ("unanimous", "pairwise", "alpha", "kappa"):
        estimate: Estimate = getattr(found, name)
        row |= {name: estimate.value, f"{name}_lower": estimate.lower, f"{name}_upper": estimate.upper}
        reasons += [f"{name}: {estimate.reason}"] if estimate.reason else []
    return {**row, "reason": "; ".join(reasons)}


def _score(
    tables: dict[str, list[dict[str, Any]]],
    key: dict[str, str],
    labels: tuple[str, ...],
    reference: np.ndarray,
    predicted: pd.Series,
    rng: np.random.Generator,
    n_resamples: int,
    level: float,
) -> None:
    code = {label: number for number, label in enumerate(labels)}
    guess = np.array([code.get(label, -1) for label in predicted.fillna("")], dtype=np.intp)
    clear, labelled = reference >= 0, reference != TOO_FEW
    usable = clear & (guess >= 0)
    matrix = confusion(reference[usable], guess[usable], len(labels))
    found = rates(matrix)
    accuracy, macro = rate_intervals(matrix, rng, n_resamples, level)
    tables["scores"].append(
        {
            **key,
            "n_evaluated": int(usable.sum()),
            "n_ties": int((reference == TIE).sum()),
            "n_missing": int((clear & (guess < 0)).sum()),
            "accuracy": found.accuracy,
            "accuracy_lower": accuracy[0],
            "accuracy_upper": accuracy[1],
            "macro_f1": found.macro_f1,
            "macro_f1_lower": macro[0],
            "macro_f1_upper": macro[1],
            "conservative": np.trace(matrix) / labelled.sum() if labelled.any() else np.nan,
        }
    )
    tables["classes"] += [
        {**key, "label": label, "precision": p, "recall": r, "f1": f, "support": int(n)}
        for label, p, r, f, n in zip(
            labels, found.precision, found.recall, found.f1, matrix.sum(axis=1), strict=True
        )
    ]
    tables["confusion"] += [
        {**key, "reference": row, "predicted": column, "n_items": int(matrix[i, j])}
        for i, row in enumerate(labels)
        for j, column in enumerate(labels)
    ]


def _unmatched(people: pd.DataFrame, machine: pd.DataFrame) -> list[str]:
    """A line about items on one side only; they are no errors of the model's."""
    keys = [pd.MultiIndex.from_frame(frame[["language", "item"]]).unique() for frame in (people, machine)]
    lines = []
    for name, own, other in (("the model", keys[0], keys[1]), ("the annotators", keys[1], keys[0])):
        lacking = own.difference(other)
        if len(lacking):
            lines.append(
                f"{len(lacking)} items have no row from {name}: "
                + first_few(f"{item} ({language})" for language, item in lacking)
                + "."
            )
    return lines


def _mapping(machine: pd.DataFrame | None, mapping: str | Path | pd.DataFrame | None) -> pd.DataFrame:
    if mapping is None:
        return pd.DataFrame()
    if machine is None:
        raise MissingColumn(
            "a mapping is checked against a model's categories; give its annotations too (--llm)."
        )
    absent = [name for name in ("subject", CATEGORY) if name not in machine.columns]
    if absent:
        raise MissingColumn(f"{_LLM} have no column {absent[0]!r}, which checking the mapping needs.")
    labels_of(CATEGORY, ((_LLM, machine),))
    table = read_mapping(mapping)
    if "language" in table.columns and (machine["language"] == POOLED).all():
        raise MissingColumn(
            f"the mapping has a column 'language', which {_LLM} lack; give it to both or none."
        )
    labels_of(CATEGORY, (("the mapping", table.assign(**{CATEGORY: table["category"]})),))
    return mapping_agreement(machine, table)
