"""From the options of `maskedadv score` to what is asked: items, prompts, models, and what they may cost."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from maskedadv.cli.say import remark

if TYPE_CHECKING:
    from maskedadv.scoring.endpoints.purse import Purse
    from maskedadv.scoring.endpoints.settings import ApiSettings
    from maskedadv.scoring.launch.plan import Unit
    from maskedadv.scoring.models.settings import HfSettings


def make_units(
    items: tuple[Path, ...],
    models: tuple[str, ...],
    languages: tuple[str, ...],
    prompt_file: Path | None,
    letter_forms: Any,
    drop_bad: bool,
    **options: Any,
) -> list[Unit]:
    from maskedadv.errors import BadSetting
    from maskedadv.scoring.items.items import KEYS_DIFFER, askable, check_items
    from maskedadv.scoring.items.sources import read_items
    from maskedadv.scoring.launch.plan import Unit, check_sets, make_pieces
    from maskedadv.scoring.launch.store import extra_columns
    from maskedadv.scoring.prompts.prompts import check_prompts, load_prompts

    sets: dict[str, list[Any]] = {}
    for path in items:
        name = path.resolve().name.split(".")[0]
        if name in sets:
            raise BadSetting(f"two item files are called {name}; rename one, sets are known by their names.")
        found = read_items([path], drop_bad=drop_bad)
        kept, dropped = askable(
            [x for x in found.items if not languages or x.language in languages], drop=drop_bad
        )
        for reason, count in [*found.dropped.items(), *dropped.items()]:
            remark(f"{name}: {count:,} items left out: {reason}.")
        differing = [p for p in check_items(kept) if p.kind == KEYS_DIFFER]
        if differing:
            remark(
                f"{name}: {len(differing)} items have another right option in some language "
                f"({differing[0].item}: {differing[0].detail}); see maskedadv items check."
            )
        for column, shown in extra_columns(kept).items():
            if column != shown:
                remark(
                    f"{name}: the column {column!r} will be called {shown!r} in the table, where {column!r} "
                    "is a result."
                )
        sets[name] = kept
    if not any(sets.values()):
        raise BadSetting("no item is left to ask; see --language and --drop-bad.")
    check_sets(sets)  # before the prompts, which may lack words for a row that should not be there
    prompts = load_prompts(prompt_file)
    check_prompts([item for kept in sets.values() for item in kept], prompts)
    pieces = make_pieces(sets, prompts, letter_forms)
    units = []
    options["purse"] = _purse(options)
    for text in models:
        name, settings = _settings(text, options)
        units.append(Unit(name, settings, pieces))
    twice = [name for name, count in Counter(u.model for u in units).items() if count > 1]
    if twice:
        raise BadSetting(f"two models are called {twice[0]!r}; name them apart with -m NAME=MODEL.")
    return units


def _settings(text: str, options: dict[str, Any]) -> tuple[str, HfSettings | ApiSettings]:
    """The name in the table, and how the model is reached."""
    from maskedadv.errors import BadSetting
    from maskedadv.scoring.endpoints.settings import ApiSettings
    from maskedadv.scoring.models.settings import HfSettings

    name, equals, where = text.partition("=")
    if not equals or Path(text).exists():  # a folder's own name may hold the sign
        equals, where = "", text
    elif not (name and where):
        raise BadSetting(f"-m {text!r}: write a model, or NAME=MODEL.")
    if options["url"]:
        keys = ("answers", "endpoint", "max_answer_tokens", "concurrency", "retries", "timeout")
        more = {key: options[key] for key in (*keys, "price_in", "price_out", "tokenizer", "purse")}
        more["top"] = options["top_logprobs"]
        return (name if equals else where), ApiSettings(where, options["url"], **more)
    path, at, revision = where.rpartition("@")
    if not at or Path(where).exists():
        path, revision = where, ""
    batch = options["max_tokens_per_batch"]
    if batch != "auto" and not (batch.isdigit() and int(batch) > 0):
        raise BadSetting(f"--max-tokens-per-batch is auto or a whole number above 0, not {batch!r}.")
    settings = HfSettings(
        path,
        revision or None,
        options["dtype"],
        options["device"],
        options["attention"],
        options["trust_remote_code"],
        None if batch == "auto" else int(batch),
    )
    default = Path(path).resolve().name if Path(path).is_dir() else where
    return (name if equals else default), settings


def _purse(options: dict[str, Any]) -> Purse | None:
    """What all models together may cost."""
    from maskedadv.errors import BadSetting
    from maskedadv.scoring.endpoints.purse import Purse

    if options["max_cost"] is None:
        return None
    if not options["url"]:
        raise BadSetting("--max-cost is for endpoints; give one with --api.")
    return Purse(options["max_cost"])
