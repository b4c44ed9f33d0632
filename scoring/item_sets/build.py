"""Build an item set by one file: annotate, sample, translate, and put together what a review decided.

Each step's table is made once and found again as long as nothing that it was made of has changed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from maskedadv.errors import EmptyTable
from maskedadv.files.atomic import write_text
from maskedadv.files.claims import claim
from maskedadv.files.folders import check_folder
from maskedadv.scoring.endpoints.purse import Purse
from maskedadv.scoring.endpoints.settings import ApiSettings
from maskedadv.scoring.item_sets.annotate import annotate_items, annotation_key, annotation_requests
from maskedadv.scoring.item_sets.asking import most_left
from maskedadv.scoring.item_sets.build_file import BuildPlan, read_build
from maskedadv.scoring.item_sets.data_card import card_of, card_text
from maskedadv.scoring.item_sets.item_files import item_table
from maskedadv.scoring.item_sets.labelled import SourceRead, apply_labels, items_to_annotate, read_sources
from maskedadv.scoring.item_sets.labels import agreement_of, merge_labels
from maskedadv.scoring.item_sets.merge import Gone, Rows, merge_items, why_not_askable
from maskedadv.scoring.item_sets.said import SaidLog
from maskedadv.scoring.item_sets.sample import Sample, refuse_without, sample_items
from maskedadv.scoring.item_sets.steps import fingerprint_of, step_file
from maskedadv.scoring.item_sets.tables import (
    ANNOTATIONS,
    DECISIONS,
    LEFT_OUT,
    TRANSLATIONS,
    read_table,
    table_of,
)
from maskedadv.scoring.item_sets.translate import (
    items_to_translate,
    translate_items,
    translation_key,
    translation_requests,
)
from maskedadv.scoring.items.items import Item, hash_items
from maskedadv.words.terminal import to_json

MARKER = "build.json"
Report = Callable[[str], None]
Left = tuple[int, tuple[int, int], tuple[int, int]]


@dataclass(frozen=True)
class ItemSetBuilt:
    """What a build made.

    Attributes
    ----------
    items
        The set, in the order of `items.parquet`.
    made
        Steps whose file was made now; the others were there.
    reviewed
        Items that people decided on; None where there is no file of decisions.
    failed
        Answers that are missing since a server failed.
    card
        The data card.
    """

    items: tuple[Item, ...]
    made: tuple[str, ...]
    reviewed: int | None
    failed: int
    card: Mapping[str, Any]


@dataclass
class _Build:
    """A build under way: its folder, what is said on the way, and which steps were made."""

    plan: BuildPlan
    out: Path
    again: bool
    report: Report
    made: list[str]

    def step(self, name: str, key: Mapping[str, Any], make: Callable[[], pa.Table]) -> pa.Table:
        """The table of a step."""
        table, new = step_file(self.out / f"{name}.parquet", key, make, again=self.again)
        self.made += [name] if new else []
        return table

    def log(self, name: str) -> Path:
        """Where raw answers are kept."""
        return self.out / "_said" / name


def build_item_set(
    file: Path,
    out: Path,
    *,
    purse: Purse | None = None,
    again: bool = False,
    overwrite: bool = False,
    report: Report = lambda _: None,
) -> ItemSetBuilt:
    """Build the item set that a file describes, or what is missing of it.

    Parameters
    ----------
    file
        See `maskedadv.scoring.item_sets.build_file`.
    out
        Folder of the set; docs/reference/item_sets.md says what is in it.
    purse
        What all models together may cost.
    again
        Whether answers that are missing since a server failed are asked for anew.
    overwrite
        Whether another set's folder may be taken over.

    Raises
    ------
    BadBuild, BadSetting, OutputExists, EmptyTable
    InputError
        Another subclass of it: something is wrong with the items.
    EndpointFailed, CostReached
        What had an answer before is kept; the same call again goes on.
    """
    plan = read_build(file, purse)
    name = hashlib.sha256(plan.name.encode()).hexdigest()[:16]
    check_folder(out, MARKER, name, overwrite=overwrite)
    items, files = _read(plan)
    with claim(out):  # two at once would pay for the same answers
        out.mkdir(parents=True, exist_ok=True)
        write_text(to_json({"set": plan.name, "fingerprint": name}) + "\n", out / MARKER, overwrite=True)
        return _all_steps(_Build(plan, out, again, report, []), items, files)


def _all_steps(build: _Build, items: list[Item], files: list[SourceRead]) -> ItemSetBuilt:
    """Make what is missing, and tell what there is."""
    plan, out = build.plan, build.out
    bad = [Gone(x, "read", "not_askable", why) for x in items if (why := why_not_askable(x))]
    unfit = {(g.item.item, g.item.language) for g in bad}
    read, items = items, [x for x in items if (x.item, x.language) not in unfit]  # nobody is paid for them
    annotations = _annotations(build, items)
    labels = build.step(
        "labels",
        fingerprint_of("labels", annotations=_digest(annotations)),
        lambda: merge_labels(annotations),
    )
    labelled, gone = apply_labels(plan, items, labels, annotations)
    gone += [g for g in bad if g.item.language != plan.pivot]
    sample = _sample(build, labelled)
    gone += [Gone(x, "sample", "over_cap") for x in sample.left_out if x.language != plan.pivot]
    translations = _translations(build, sample)
    decisions = read_decisions(plan)
    found, more = merge_items(
        sample.items,
        translations.to_pylist(),
        decisions or {},
        pivot=plan.pivot,
        keep_flagged=plan.keep_flagged,
    )
    rows = sorted((g.row() for g in gone + more), key=lambda r: (r["language"], r["item"]))
    build.step(
        "left_out", fingerprint_of("left_out", rows=_digest_of(rows)), lambda: table_of(rows, LEFT_OUT)
    )
    if not found:
        raise EmptyTable(
            f"no item is left in the set; {_most_common(gone + more)} (see {out / 'left_out.parquet'})."
        )
    build.step("items", fingerprint_of("items", items=hash_items(found)), lambda: item_table(found))
    card = card_of(
        plan, files, read, labelled, sample, translations, decisions, found, rows, agreement_of(annotations)
    )
    write_text(to_json(card) + "\n", out / "card.json", overwrite=True)
    write_text(card_text(card), out / "card.md", overwrite=True)
    missing = [r for r in (*annotations.to_pylist(), *translations.to_pylist()) if r["reason"]]
    return ItemSetBuilt(
        items=tuple(found),
        made=tuple(build.made),
        reviewed=None if decisions is None else len(decisions),
        failed=sum(r["reason"].startswith("api_") for r in missing),
        card=card,
    )


def what_is_left(
    file: Path, out: Path, purse: Purse | None = None
) -> list[tuple[str, str, ApiSettings, Left]]:
    """Step, model, settings, and requests and tokens that a build still needs at most; see `most_left`.

    What is to be translated is known when all is labelled; before that it is every item without a
    counterpart. Translating back is not in it.
    """
    plan = read_build(file, purse)
    items = [x for x in _read(plan)[0] if not why_not_askable(x)]
    build = _Build(plan, out, False, lambda _: None, [])
    found = []
    with ExitStack() as stack:
        log = stack.enter_context(closing(SaidLog(build.log("annotate"))))
        asked = annotation_requests(items_to_annotate(plan, items), plan.definition)
        for name, settings in plan.annotators.items():
            found.append(("annotate", name, settings, most_left(settings, asked, log)))
        if plan.translator is not None:
            wanted = items_to_translate(items, plan.pivot)
            if not any(count for *_, (count, _, _) in found):
                annotations = _annotations(build, items)
                labelled, _ = apply_labels(plan, items, merge_labels(annotations), annotations)
                wanted = items_to_translate(_drawn(plan, labelled).items, plan.pivot)
            log = stack.enter_context(closing(SaidLog(build.log("translate"))))
            name, settings = plan.translator
            asked = translation_requests(wanted, plan.pivot)
            found.append(("translate", name, settings, most_left(settings, asked, log)))
    return found


def read_decisions(plan: BuildPlan) -> Rows | None:
    """The decisions of a review by item and language; None where there is none yet."""
    if plan.decisions is None or not plan.decisions.exists():
        return None
    table = read_table(plan.decisions, DECISIONS, "the decisions of the review")
    return {(row["item"], row["language"]): row for row in table.to_pylist()}


def _read(plan: BuildPlan) -> tuple[list[Item], list[SourceRead]]:
    """What the sources hold; what could not be sampled is refused here, before anything is paid for."""
    items, files = read_sources(plan)
    how = plan.sampling
    subset = None if how is None else how.subset
    for source in plan.sources if how is not None and how.by_subject else ():
        own = [x for x in items if x.language != plan.pivot and x.extra["source"] == source.name]
        # Without a subset: to be labelled yet.
        refuse_without(source.subject, [x for x in own if subset is None or x.subset in {"", subset}])
    return items, files


def _annotations(build: _Build, items: list[Item]) -> pa.Table:
    plan = build.plan
    wanted = items_to_annotate(plan, items)
    if not wanted:
        return table_of([], ANNOTATIONS)

    def make() -> pa.Table:
        with closing(SaidLog(build.log("annotate"))) as log:
            return annotate_items(
                wanted, plan.annotators, log, definition=plan.definition, report=build.report
            )

    return build.step("annotations", annotation_key(wanted, plan.annotators, plan.definition), make)


def _drawn(plan: BuildPlan, labelled: list[Item]) -> Sample:
    if plan.sampling is None:
        return Sample(tuple(labelled), (), ())
    how = plan.sampling
    subject = "subject" if how.by_subject else None
    return sample_items(
        labelled, how.cap, subject=subject, subset=how.subset, pivot=plan.pivot, seed=plan.seed
    )


def _sample(build: _Build, labelled: list[Item]) -> Sample:
    sample = _drawn(build.plan, labelled)
    key = fingerprint_of("sample", items=hash_items(sample.items))
    build.step("sample", key, lambda: item_table(sample.items))
    return sample


def _translations(build: _Build, sample: Sample) -> pa.Table:
    plan = build.plan
    wanted = items_to_translate(sample.items, plan.pivot)
    translator, back = plan.translator, plan.back_translator
    if translator is None or not wanted:
        return table_of([], TRANSLATIONS)

    def make() -> pa.Table:
        with closing(SaidLog(build.log("translate"))) as log:
            return translate_items(wanted, translator, log, target=plan.pivot, back=back, report=build.report)

    return build.step("translations", translation_key(wanted, translator, plan.pivot, back), make)


def _most_common(gone: list[Gone]) -> str:
    reasons = [f"{g.reason} at {g.step}" for g in gone]
    common = max(sorted(set(reasons)), key=reasons.count, default="there was none")
    return f"of {len(gone)}, {reasons.count(common)} fell out for {common}"


def _digest(table: pa.Table) -> str:
    return _digest_of(table.to_pylist())


def _digest_of(rows: object) -> str:
    return hashlib.sha256(repr(rows).encode("utf-8", "replace")).hexdigest()
