"""The data card of an item set: what is in it, where from, by whom labelled and translated, what fell out."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import pyarrow as pa

from maskedadv import __version__
from maskedadv.scoring.endpoints.settings import ApiSettings
from maskedadv.scoring.item_sets.build_file import BuildPlan
from maskedadv.scoring.item_sets.instructions import version_of
from maskedadv.scoring.item_sets.labelled import SourceRead
from maskedadv.scoring.item_sets.merge import Rows
from maskedadv.scoring.item_sets.sample import Sample
from maskedadv.scoring.items.items import Item
from maskedadv.words.numbers import number
from maskedadv.words.terminal import records

_STEPS = ("read", "labelled CS", "labelled CA", "sampled", "translated", "flagged", "reviewed", "CS", "CA")


def card_of(
    plan: BuildPlan,
    files: Sequence[SourceRead],
    items: Sequence[Item],
    labelled: Sequence[Item],
    sample: Sample,
    translations: pa.Table,
    decisions: Rows | None,
    found: Sequence[Item],
    left_out: Sequence[Mapping[str, str]],
    agreement: pd.DataFrame,
) -> dict[str, Any]:
    """The card as plain values; nothing in it depends on when or where the set was built."""
    counts: dict[str, Counter[str]] = {x.language: Counter() for x in items if x.language != plan.pivot}

    def add(some: Sequence[Item], name: str, *, subset: bool = False) -> None:
        for x in some:
            if x.language != plan.pivot:
                counts[x.language][f"{name} {x.subset}".strip() if subset else name] += 1

    add(items, "read")
    add(labelled, "labelled", subset=True)
    add(sample.items, "sampled")
    for row in translations.to_pylist():
        counts[row["language"]].update(["translated"] * (not row["reason"]))
        counts[row["language"]].update(["flagged"] * bool(row["flags"]))
    for _, language in decisions or {}:
        if language in counts:
            counts[language]["reviewed"] += 1
    add(found, "", subset=True)
    reasons = Counter((r["language"], r["step"], r["reason"]) for r in left_out)
    return {
        "set": plan.name,
        "maskedadv": __version__,
        "pivot": plan.pivot,
        "seed": plan.seed,
        "items": len({x.item for x in found}),
        "rows": len(found),
        "sources": [
            {
                "name": s.name,
                "files": list(s.files),
                "licence": s.licence,
                "label": s.label,
                "rows": dict(s.rows),
                "unreadable": sum(s.dropped.values()),
            }
            for s in files
        ],
        "counts": [
            {"language": language, **{name: own[name] for name in _STEPS}}
            for language, own in sorted(counts.items())
        ],
        "left_out": [
            {"language": language, "step": step, "reason": reason, "items": n}
            for (language, step, reason), n in sorted(reasons.items())
        ],
        "strata": [
            {"language": s.language, "subject": s.subject, "available": s.available, "taken": s.taken}
            for s in sample.strata
        ],
        "definition": plan.definition if plan.annotators else None,
        "instructions": version_of(),
        "models": _models(plan),
        "agreement": records(agreement),
        "similarity": _similarity(translations),
        "review": None if decisions is None else _review(decisions),
    }


def _models(plan: BuildPlan) -> list[dict[str, Any]]:
    roles = [("annotator", name, settings) for name, settings in plan.annotators.items()]
    roles += [("translator", *plan.translator)] if plan.translator else []
    roles += [("back-translator", *plan.back_translator)] if plan.back_translator else []
    return [{"role": role, "name": name, **_shown(settings)} for role, name, settings in roles]


def _shown(settings: ApiSettings) -> dict[str, Any]:
    structured = settings.answers == "choice"
    about = {"model": settings.name, "endpoint": settings.url, "structured_output": structured}
    return about | {"max_answer_tokens": settings.max_answer_tokens}


def _similarity(translations: pa.Table) -> list[dict[str, Any]]:
    """Similarity of translations back, by language."""
    frame = translations.select(["language", "similarity"]).to_pandas().dropna()
    return [
        {"language": language, "items": len(own), "mean": float(own.mean()), "least": float(own.min())}
        for language, own in frame.groupby("language")["similarity"]
    ]


def _review(decisions: Rows) -> dict[str, int]:
    rows = list(decisions.values())
    return {
        "reviewed": len(rows),
        "kept": sum(bool(row["keep"]) for row in rows),
        "labels changed or confirmed": sum(bool(row["cultural_sensitivity_label"]) for row in rows),
        "translations mended": sum(bool(row["translated_question"]) for row in rows),
    }


def card_text(card: Mapping[str, Any]) -> str:
    """The card as Markdown."""
    many = f"{card['items']:,} items in {card['rows']:,} rows"
    parts = [
        f"# {_cell(card['set'])}",
        f"{many}: each in its own language and in {card['pivot']}. Built by maskedadv {card['maskedadv']}, "
        f"seed {card['seed']}, instructions {card['instructions']}.",
        "## Sources",
        _table(
            ["source", "files", "licence", "label", "rows", "unreadable"],
            [
                [
                    s["name"],
                    ", ".join(s["files"]),
                    s["licence"],
                    s["label"],
                    ", ".join(f"{k} {n:,}" for k, n in s["rows"].items()),
                    s["unreadable"],
                ]
                for s in card["sources"]
            ],
        ),
        "The licence of a source holds for its items and for what was made of them.",
        "## Items by step",
        _table(
            ["language", *_STEPS], [[r["language"], *(r[name] for name in _STEPS)] for r in card["counts"]]
        ),
        "The last two columns are the set. CS: culture-specific, CA: culture-agnostic.",
    ]
    if card["left_out"]:
        rows = [[r[name] for name in ("language", "step", "reason", "items")] for r in card["left_out"]]
        parts += ["## Left out", _table(["language", "step", "reason", "items"], rows)]
    parts += ["## Models", *_models_text(card)]
    if card["agreement"]:
        parts += ["## Agreement of the annotators", _agreement_text(card["agreement"])]
    if card["similarity"]:
        rows = [
            [r["language"], r["items"], number(r["mean"]), number(r["least"])] for r in card["similarity"]
        ]
        parts += [
            "## Similarity of translations back (chrF)",
            _table(["language", "items", "mean", "least"], rows),
        ]
    parts += ["## Review", _review_text(card["review"])]
    return "\n\n".join(parts) + "\n"


def _models_text(card: Mapping[str, Any]) -> list[str]:
    if not card["models"]:
        return ["None: labels and counterparts are those of the sources."]
    rows = [
        [m["role"], m["name"], m["model"], m["endpoint"], "yes" if m["structured_output"] else "no"]
        for m in card["models"]
    ]
    text = "Labels and translations by models are guesses at what people would write."
    if card["definition"]:
        text = f"Definition of the labels: {card['definition']}. {text}"
    return [_table(["role", "name", "model", "endpoint", "structured output"], rows), text]


def _agreement_text(rows: Sequence[Mapping[str, Any]]) -> str:
    names = ("unanimous", "pairwise", "alpha")
    cells = [
        [
            r["field"],
            r["language"],
            r["n_items"],
            *(number(r[name]) for name in names),
            _interval(r["alpha_lower"], r["alpha_upper"]),
        ]
        for r in rows
    ]
    return _table(["field", "language", "items", "all agree", "pairs agree", "alpha", "95%"], cells)


def _interval(lower: float, upper: float) -> str:
    return f"{number(lower)} to {number(upper)}" if math.isfinite(lower) else number(lower)


def _review_text(review: Mapping[str, int] | None) -> str:
    if review is None:
        return "No person has looked at labels and counterparts."
    return ", ".join(f"{name} {n:,}" for name, n in review.items()) + "."


def _table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(_cell(c) for c in line) + " |" for line in lines)


def _cell(value: Any) -> str:
    """A value in a cell of Markdown: one line, nothing that ends the cell or is taken for markup."""
    text = f"{value:,}" if isinstance(value, int) else str(value)
    text = " ".join(text.split()).replace("\\", "\\\\").replace("|", "\\|")
    return text.replace("<", "&lt;").replace("`", "'")
