"""`maskedadv gaps`: the tidy table of gaps of a result."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import pandas as pd

from maskedadv.cli.say import say, say_data
from maskedadv.cli.show import (
    MANY_LOCALES,
    gap_table,
    many_locales_text,
    population_text,
    say_warnings,
    variant_text,
    with_means,
)
from maskedadv.vocabulary import GAPS, HEADLINES, KNOWLEDGE, VARIANTS
from maskedadv.words.numbers import level_text, number, probability
from maskedadv.words.terminal import records, to_json

if TYPE_CHECKING:
    from maskedadv.result.fit_result import Fit


@click.command()
@click.argument("results", type=click.Path(path_type=Path))
@click.option("--locale", multiple=True, help="Only these locales.")
@click.option("--model", multiple=True, help="Only these models; the mean is then over them.")
@click.option(
    "--gap",
    multiple=True,
    type=click.Choice(list(GAPS)),
    help="Only these gaps.",
)
@click.option(
    "--variant",
    type=click.Choice(list(VARIANTS)),
    help="Which gaps: the papers' (plain), with guessing floor, every model by itself (paired), on the "
    "linked scale. Default: the headline.",
)
@click.option(
    "--headline",
    type=click.Choice(HEADLINES),
    help="What to take without --variant; default: as the fit was told.",
)
@click.option(
    "--missing",
    type=click.Choice(["left-out", "wrong"]),
    help="What missing answers count as, where the fit holds both; default: as the fit was told.",
)
@click.option(
    "--mean/--no-mean",
    default=True,
    show_default=True,
    help="Add means over models, over these and over models like these.",
)
@click.option(
    "--models",
    type=click.Path(path_type=Path),
    help="CSV with the columns model and family: what counts as one in means over models like these.",
)
@click.option(
    "--format",
    "style",
    type=click.Choice(["text", "csv", "markdown", "json"]),
    default="text",
    show_default=True,
)
@click.option("--json", "as_json", is_flag=True, help="Same as --format json.")
def command(
    results: Path,
    locale: tuple[str, ...],
    model: tuple[str, ...],
    gap: tuple[str, ...],
    variant: str | None,
    headline: str | None,
    missing: str | None,
    mean: bool,
    models: Path | None,
    style: str,
    as_json: bool,
) -> None:
    """Print the gaps of RESULTS (a folder that `maskedadv fit` wrote), in logits.

    The mean row's interval comes from the joint uncertainty of all models, not from averaging theirs.
    Of more than 30 locales the terminal shows the means, a line each; --locale and the other formats show
    every row.
    """
    from maskedadv.result.save import load

    result = load(results)
    if missing is not None:
        result = result.at_end(missing)
    if headline is not None:
        result = result.with_headline(headline)
    variant = variant or result.headline
    chosen: dict[str, Any] = {"locale": locale or None, "model": model or None, "gap": gap or None}
    if style == "text" and not as_json and not locale and result.cube.sizes["locale"] > MANY_LOCALES and mean:
        say_warnings(result)
        say(_heading(result, variant))
        say(many_locales_text(result, variant, model=model or None, gap=gap or None))
        return
    frame = result.gaps(**chosen, variant=variant)
    below = ""
    if mean:
        means = result.means(**chosen, variant=variant, models=models)
        like_these = result.populations(models, **chosen, variant=variant)
        below = population_text(like_these, means)
        frame = with_means(frame, means, like_these[[c for c in frame if c in like_these]])
        frame = frame.astype({"n_items_ca": "Int64", "n_items_cs": "Int64"})
    if as_json or style == "json":
        say(to_json(records(frame)))
    elif style == "csv":
        say_data(frame.to_csv(index=False))
    elif style == "markdown":
        say(_markdown(frame))
    else:
        say_warnings(result)
        say(_heading(result, variant))
        say(gap_table(frame))
        if below:
            say(f"\n{below}")
        asked = not gap or KNOWLEDGE in gap
        if variant in HEADLINES and variant != result.headline:
            result = result.with_headline(variant)
        if asked and (text := variant_text(result, locale=locale or None, model=model or None)):
            say(f"\n{text}")


def _heading(result: Fit, variant: str) -> str:
    s = result.settings
    estimators = "/".join(result.info.estimators)
    level = f"{level_text(s.level)} {s.interval} intervals"
    return f"Gaps in logits ({variant}; {s.method}, {estimators}, {s.response}; {level}):\n"


def _markdown(frame: pd.DataFrame) -> str:
    lines = ["| " + " | ".join(frame.columns) + " |"]
    lines.append(
        "|" + "|".join(" --- " if c in {"locale", "model", "gap", "note"} else " ---: " for c in frame) + "|"
    )
    for row in records(frame):
        cells = []
        for name, value in row.items():
            if name == "p_positive":
                cells.append(probability(value))
            elif isinstance(value, float):
                cells.append(number(value))
            elif pd.isna(value):
                cells.append("")
            else:
                cells.append(str(value).replace("\\", "\\\\").replace("|", "\\|").replace("\n", " "))
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)
