"""`maskedadv dif`: is the same item equally difficult in both languages?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import pandas as pd

from maskedadv.cli.options import json_option, refuse_folder, responses_argument, settings_options
from maskedadv.cli.say import say, tell
from maskedadv.vocabulary import gap_titles
from maskedadv.words.numbers import level_text, number, percent
from maskedadv.words.terminal import format_table, records, to_json, wrap

if TYPE_CHECKING:
    from maskedadv.assumptions.differential import Dif

SETTINGS = (
    "locale", "pivot", "min_accuracy", "estimator", "guessing", "options", "link", "variants", "headline",
    "level", "engine", "seed",
)  # fmt: skip


@click.command()
@responses_argument
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Folder for the tables.")
@click.option(
    "--items",
    "item_files",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Item file or folder, as maskedadv items check takes it: texts in both languages side by side. May "
    "be repeated.",
)
@click.option("--source", default="items", show_default=True, help="What set the item files are.")
@click.option(
    "--against",
    type=click.Choice(["pivot", "all"]),
    default="pivot",
    show_default=True,
    help="What a language is compared with: the pivot, or all other languages together.",
)
@click.option("--alpha", default=0.05, show_default=True, help="False discovery rate of the flags.")
@click.option("--top", default=10, show_default=True, help="Items listed of each locale; 0 for all.")
@click.option("--purify/--no-purify", default=True, show_default=True, help="Refit without flagged items.")
@settings_options(*SETTINGS, estimator="marginal")
@click.option("--overwrite", is_flag=True, help="Replace another result in the folder.")
@json_option
def command(
    responses: str,
    output: Path | None,
    item_files: tuple[Path, ...],
    source: str,
    against: str,
    alpha: float,
    top: int,
    purify: bool,
    overwrite: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Test whether items of RESPONSES are harder or easier in one language than ability accounts for.

    Prints the items of every locale with the strongest evidence, the share flagged, and the mean gaps with
    and without flagged items. docs/how-to/dif.md explains the columns.
    """
    from maskedadv.assumptions.dif_files import MARK, save_dif
    from maskedadv.assumptions.differential import dif

    items = None
    if item_files:
        from maskedadv.scoring.items.sources import read_items

        items = read_items(item_files, source, drop_bad=True).items
    given["locale"] = given["locale"] or None

    found = dif(
        responses,
        items=items,
        against=against,
        alpha=alpha,
        purify=purify,
        progress=tell,
        begin=refuse_folder(output, MARK, overwrite=overwrite),
        **given,
    )
    if output is not None:
        save_dif(found, output, overwrite=overwrite)
        say(f"Written to {output}; for the page: maskedadv report ... --dif {output}", err=True)
    if as_json:
        tables = {"items": found.items, "subsets": found.subsets, "gaps": found.gaps}
        say(to_json({"notes": found.notes, **{k: records(v) for k, v in tables.items()}}))
        return
    say(summary(found, top))


def summary(found: Dif, top: int) -> str:
    """Everything that the command prints, in 80 columns."""
    against = found.settings["pivot"] if found.settings["against"] == "pivot" else "all other languages"
    parts = [wrap(f"Items easier (+) or harder (-) in a language than against {against}, beyond ability:")]
    for locale in dict.fromkeys(found.items["locale"]):
        own = found.items[found.items["locale"] == locale]
        shown = own if top <= 0 else own.head(max(top, int(own["key_differs"].sum())))
        parts.append(_items(shown, found, str(locale)))
    parts += [
        wrap(
            "right%: in the language/elsewhere; effect: logit, then its "
            f"{level_text(found.settings['level'])} limits; p: models taken as "
            "independent; robust: with the spread that most items have; q: after Benjamini and Hochberg; MH: "
            "Mantel-Haenszel class after ETS (A negligible, C large, - where there are no equals). Marks: "
            "k other key in the item file, * flagged."
        ),
        _subsets(found.subsets),
    ]
    if len(found.gaps):
        parts.append(_gaps(found.gaps, found.settings["level"]))
    parts += [wrap(f"Note: {note}{'' if note.endswith('.') else '.'}") for note in found.notes]
    return "\n\n".join(parts)


def _items(frame: pd.DataFrame, found: Dif, locale: str) -> str:
    rows = [
        [
            r["item"],
            r["subset"],
            f"{number(100 * r['accuracy_local'], 0)}/{number(100 * r['accuracy_other'], 0)}",
            number(r["effect"], 1),
            "-" if pd.isna(r["lower"]) else f"[{number(r['lower'], 1)}, {number(r['upper'], 1)}]",
            _p(r["p"]),
            _p(r["p_robust"]),
            _p(r["q"]),
            r["mh_class"] or "-",
            ("k" if r["key_differs"] else "") + ("*" if r["flagged"] else ""),
        ]
        for r in records(frame)
    ]
    header = (f"item ({locale})", "set", "right%", "effect", "limits", "p", "robust", "q", "MH", "")
    lines = [format_table(header, rows, left=(0, 1, 9))]
    if found.texts is not None and len(found.texts):
        own = found.texts[found.texts["locale"] == locale].set_index("item")
        for item in frame["item"].head(3):
            if item in own.index:
                t = own.loc[item]
                lines += [
                    "",
                    wrap(f"{item}:"),
                    wrap(
                        f"{found.settings['pivot']}: {_short(t['question_other'])} [{t['answer_other']}]",
                        indent="  ",
                    ),
                    wrap(f"{locale}: {_short(t['question_local'])} [{t['answer_local']}]", indent="  "),
                ]
    return "\n".join(lines)


def _short(text: str, most: int = 160) -> str:
    """The end of a long question, where it asks; all texts are in the output folder."""
    flat = " ".join(text.split())
    return flat if len(flat) <= most else "…" + flat[-most:]


def _p(value: float) -> str:
    if pd.isna(value):
        return "-"
    return "<.0001" if value < 0.0001 else f"{value:.4f}"[1:] if value < 0.99995 else "1"


def _subsets(frame: pd.DataFrame) -> str:
    rows = [
        [
            r["locale"],
            r["subset"],
            str(r["items"]),
            str(r["tested"]),
            str(r["flagged"]),
            "-" if pd.isna(r["share"]) else percent(r["share"]),
            str(r["harder"]),
            str(r["easier"]),
            number(r["inflation"]),
            number(r["tau"]),
        ]
        for r in records(frame)
    ]
    header = ("locale", "set", "items", "tested", "flagged", "share", "harder", "easier", "infl.", "tau")
    told = (
        "infl.: variance of the deviates of most items, 1 if models are independent and items alike; "
        "tau: sd of the differences of all items (logit), an upper bound where models are relatives."
    )
    return format_table(header, rows, left=(0, 1)) + "\n\n" + wrap(told)


def _gaps(frame: pd.DataFrame, level: float) -> str:
    """Plain and paired mean gaps of locales from which something was removed."""
    titles = gap_titles()
    moved = frame[
        (frame["removed_ca"] + frame["removed_cs"] > 0) & frame["variant"].isin(["plain", "paired"])
    ]
    if not len(moved):
        return wrap("Purified gaps: no item was removed, so they are the gaps of all items.")
    rows = [
        [
            r["locale"],
            r["variant"],
            titles[r["gap"]].removesuffix(" gap"),
            f"{r['removed_ca']}+{r['removed_cs']}",
            number(r["all_items"]),
            number(r["purified"]),
            number(r["change"]),
            f"[{number(r['change_lower'])}, {number(r['change_upper'])}]",
            number(r["random_sd"]),
        ]
        for r in records(moved)
    ]
    header = ("locale", "kind", "gap", "CA+CS", "all", "without", "change", level_text(level), "random")
    left = sorted(set(frame["locale"]) - set(moved["locale"]))
    lines = [
        wrap("Mean gaps with all items and without those flagged or with another key (logit):"),
        "",
        format_table(header, rows, left=(0, 1, 2)),
        "",
        wrap(
            "CA+CS: items removed; random: sd of the change if as many were removed at random. Items are "
            "flagged by their answers, so the change shows what the gap leans on, not a better gap."
        ),
    ]
    if left:
        lines.append(wrap(f"Nothing was removed in {', '.join(left)}."))
    return "\n".join(lines)
