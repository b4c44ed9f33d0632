"""A report folder: page, figures and tables of a result, whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from maskedadv import __version__
from maskedadv.diagnostics import LocaleVerdict, diagnose
from maskedadv.errors import BadSetting
from maskedadv.files.digests import fingerprint_of
from maskedadv.files.folders import check_folder, whole_folder
from maskedadv.reports import answers, figures, limits, methods
from maskedadv.reports.drawing import FORMATS, draw_marked, draw_svg, inline_svg, save_figure
from maskedadv.reports.exhibit import Exhibit, Omitted, Source, build, by_reason
from maskedadv.reports.fonts import fonts_for
from maskedadv.reports.page import render
from maskedadv.reports.posterior import posterior_tables
from maskedadv.reports.tables import count_rows, display, write_csv, write_latex
from maskedadv.result.fit_result import Fit
from maskedadv.summaries import Joint, locale_facts, model_facts
from maskedadv.warnings import SAMPLING
from maskedadv.words.lists import first_few
from maskedadv.words.numbers import level_text

MARK = "report.json"
OURS = frozenset({MARK, "index.html", "figures", "tables"})
"""What a report folder holds of our making; anything else laid there stays."""
TITLE = "Which language gives better access to local knowledge?"


@dataclass(frozen=True)
class Report:
    """What was written: the folder, names of exhibits, what was left out and what a reader should know."""

    folder: Path
    exhibits: tuple[str, ...]
    omitted: tuple[Omitted, ...]
    warnings: tuple[str, ...]


def write_report(
    fit: Fit,
    folder: str | Path,
    *,
    models: str | Path | pd.DataFrame | None = None,
    locales: str | Path | None = None,
    formats: Sequence[str] = ("svg",),
    title: str | None = None,
    notes: Sequence[str] = (),
    checks: Mapping[str, Any] | None = None,
    overwrite: bool = False,
    progress: Callable[[str], None] = lambda _: None,
) -> Report:
    """Write `index.html`, `figures/`, `tables/` and `report.json` into a folder.

    Parameters
    ----------
    models
        The model table; see `maskedadv.summaries.model_facts`.
    locales
        A TOML file of facts about locales, on top of the shipped ones.
    formats
        Of svg, png, pdf: the figures as files. The page holds its own pictures in any case.
    notes
        Sentences of your own that a reader must know, shown beside the answer.
    checks
        Results of other commands on the same response table, by the command's name: `dif` (a
        `maskedadv.Dif`), `fit-check` (a `maskedadv.FitCheck`), `compare` (a `maskedadv.Comparison`); each
        brings a section of the page.
    overwrite
        Replace a report of another result. One of the same result is replaced anyway, anything else never.

    Raises
    ------
    OutputExists, BadSetting
        And whatever `model_facts` and `locale_facts` raise.
    """
    unknown = sorted(set(formats) - set(FORMATS))
    if unknown:
        raise BadSetting(f"{unknown[0]!r} is no format for figures; known are {', '.join(FORMATS)}.")
    folder = Path(folder).absolute()
    check_folder(folder, MARK, _fingerprint(fit), overwrite=overwrite)
    checks = dict(checks or {})
    _same_data(fit, checks)
    facts = locale_facts(locales)
    table = None if models is None else model_facts(models)
    fonts = fonts_for([*_texts(fit, table), *_item_texts(checks)])
    pivot = str(facts["name"].get(fit.settings.pivot, fit.settings.pivot))
    found = diagnose(fit) if fit.posteriors else []
    source = Source(
        fit, Joint.of(fit), table, facts, pivot, fonts.families, posterior_tables(fit, found), checks
    )
    exhibits, omitted = build(source, figures.EXHIBITS)
    told = (*_unknown_models(fit, table), *_unknown_codes(fit, table, facts), fonts.warning)
    warnings = tuple(w for w in told if w)
    report = Report(folder, tuple(e.name for e in exhibits), tuple(omitted), warnings)
    with whole_folder(folder, OURS.__contains__) as partial:
        _write_tables(exhibits, partial / "tables", level_text(fit.settings.level))
        drawn = _write_figures(exhibits, partial / "figures", formats, progress)
        content = _content(source, exhibits, drawn, omitted, warnings, title or TITLE, notes, found)
        (partial / "index.html").write_text(render("gaps.html.j2", **content), "utf-8")
        (partial / MARK).write_text(_summary(fit, report), "utf-8")
    return report


def _fingerprint(fit: Fit) -> str:
    """Of the data, the settings and the version: reports of one result may replace each other."""
    own = [fit.info.fingerprint, fit.settings.as_json(), fit.info.maskedadv]
    return fingerprint_of(own)


def _same_data(fit: Fit, checks: Mapping[str, Any]) -> None:
    """Refuse a check of another response table: its sentences would be about other answers.

    Raises
    ------
    BadSetting
    """
    for name, check in checks.items():
        if getattr(check, "data", fit.info.fingerprint) != fit.info.fingerprint:
            raise BadSetting(
                f"the output of maskedadv {name} is of another response table than the result; run it on the "
                "table that was fitted."
            )


def _item_texts(checks: Mapping[str, Any]) -> Iterable[str]:
    """Ids that a figure may show."""
    found = checks.get("dif")
    return [] if found is None else dict.fromkeys(map(str, found.items["locale"]))


def _texts(fit: Fit, models: pd.DataFrame | None) -> Iterable[str]:
    yield from (str(v) for name in ("model", "locale") for v in fit.cube[name].values)
    if models is not None and "family" in models:
        yield from models["family"]


def _unknown_models(fit: Fit, models: pd.DataFrame | None) -> list[str]:
    if models is None:
        return []
    absent = [str(v) for v in fit.cube["model"].values if v not in models.index]
    if not absent:
        return []
    shown = first_few(absent)
    return [
        f"{len(absent)} models of the result are not in the model table ({shown}); nothing is known of them."
    ]


def _unknown_codes(fit: Fit, models: pd.DataFrame | None, facts: pd.DataFrame) -> list[str]:
    """Codes in `adapted_for` that nobody knows: a slip of the pen leaves the model out on both sides."""
    if models is None or "adapted_for" not in models:
        return []
    codes = {code.strip() for text in models["adapted_for"] for code in text.split(";")} - {""}
    strange = sorted(codes - {str(v) for v in fit.cube["locale"].values} - set(facts.index))
    if not strange:
        return []
    shown = first_few(strange)
    return [
        f"adapted_for names {len(strange)} codes that are no locale here or in locales.toml ({shown}); those "
        "models count neither as adapted nor as general."
    ]


def _write_tables(exhibits: Sequence[Exhibit], folder: Path, level: str) -> None:
    folder.mkdir()
    for exhibit in exhibits:
        for name, frame in exhibit.tables.items():
            write_csv(frame, folder / f"{name}.csv")
            unit = f" Logits; {level} intervals in brackets." if {"gap", "lower"} <= set(frame) else ""
            write_latex(frame, folder / f"{name}.tex", f"{exhibit.title}.{unit}", f"tab:{name}")


def _write_figures(
    exhibits: Sequence[Exhibit], folder: Path, formats: Sequence[str], progress: Callable[[str], None]
) -> dict[str, tuple[str, str]]:
    """Draw every figure once for the page, and to the files asked for; SVG and marks by exhibit."""
    if formats:
        folder.mkdir()
    drawn = {}
    here = _on_page(exhibits)
    for exhibit in exhibits:
        if exhibit.figure is None:
            continue
        progress(f"figure {exhibit.name}")
        marks = [m for m in exhibit.marks if m.table in here]
        drawn[exhibit.name] = draw_marked(exhibit.figure, marks) if marks else (draw_svg(exhibit.figure), "")
        for kind in formats:
            path = folder / f"{exhibit.name}.{kind}"
            if kind == "svg":
                path.write_text(drawn[exhibit.name][0], "utf-8")
            else:
                save_figure(exhibit.figure, path)
    return drawn


def _content(
    source: Source,
    exhibits: Sequence[Exhibit],
    drawn: Mapping[str, tuple[str, str]],
    omitted: Sequence[Omitted],
    warnings: Sequence[str],
    title: str,
    notes: Sequence[str],
    found: Sequence[LocaleVerdict],
) -> dict[str, Any]:
    """What a page says, whatever its form: names that a template fills in."""
    fit = source.fit
    shown, here = [], _on_page(exhibits)
    for k, e in enumerate(exhibits):
        svg, marks = drawn.get(e.name, ("", ""))
        tables = [(name, display(t)) for name, t in e.tables.items() if name in here]
        long = [(name, count_rows(t)) for name, t in e.tables.items() if name not in here]
        shown.append(
            {
                "name": e.name,
                "title": e.title,
                "caption": f"{answers.PLAIN} {e.caption}" if _of_plain_gaps(fit, e) else e.caption,
                "folded": e.folded,
                "svg": inline_svg(svg, f"f{k}", f"{e.title}. {e.alt}", marks) if svg else "",
                "marked": bool(marks),
                "tables": tables,
                "long": [limits.only_as_file(name, n) for name, n in long],
            }
        )
    fragile = answers.not_surviving(fit)
    first = Joint.of(fit, fit.headline)
    one_by_one = answers.by_locale(fit, first, source.locales, source.pivot, fragile)
    lead = answers.overall(first, source.pivot, fragile) or one_by_one[0]
    if fit.headline != "plain":
        lead = replace(lead, note=f"{answers.HEADLINE} {lead.note}")
    blocks = fit.info.blocks
    return {
        "title": title,
        "notes": notes,
        "pivot": source.pivot,
        "level": level_text(fit.settings.level),
        "lead": lead,
        "shares": answers.share_sentence(fit),
        "doubt": methods.doubt(fit, found),
        "answers": one_by_one if 1 < len(one_by_one) <= limits.CARDS else [],
        "verdict_tables": answers.tables(one_by_one) if len(one_by_one) > limits.CARDS else [],
        "choices": _choices(fit),
        "exhibits": shown,
        "omitted": by_reason(omitted),
        "convergence": methods.convergence(fit),
        "verdicts": methods.verdicts(found),
        "warnings": [*(w.text for w in fit.info.warnings if not (found and w.kind == SAMPLING)), *warnings],
        "diagnostics": [("fits", display(pd.DataFrame(blocks)))] if blocks else [],
        "assumptions": methods.ASSUMPTIONS,
        "methods": methods.methods(fit),
        "bibtex": methods.bibtex(fit),
    }


def _on_page(exhibits: Sequence[Exhibit]) -> set[str]:
    """Names of the tables that are not too long for the page."""
    marked = {m.table for e in exhibits for m in e.marks}
    every = [(name, count_rows(table)) for e in exhibits for name, table in e.tables.items()]
    return {name for name, rows in every if limits.on_page(rows, marked=name in marked)}


def _choices(fit: Fit) -> list[tuple[str, list[str]]]:
    """What the tables and figures of the page can be filtered by."""
    every = [(name, [str(v) for v in fit.cube[name].values]) for name in ("locale", "model", "variant")]
    return [(name, values) for name, values in every if len(values) > 1]


def _of_plain_gaps(fit: Fit, exhibit: Exhibit) -> bool:
    """Whether an exhibit of the papers shows plain gaps on a page that speaks of others first."""
    if fit.headline == "plain" or any("variant" in t for t in exhibit.tables.values()):
        return False
    own = exhibit.name == "masked-advantage" or exhibit.name.startswith("models-")
    return own or any({"gap", "estimate"} <= set(t) for t in exhibit.tables.values())


def _summary(fit: Fit, report: Report) -> str:
    content: dict[str, Any] = {
        "maskedadv": __version__,
        "fingerprint": _fingerprint(fit),
        "exhibits": list(report.exhibits),
        "omitted": {o.title: o.reason for o in report.omitted},
        "warnings": list(report.warnings),
    }
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"
