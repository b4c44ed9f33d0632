"""Options that several commands share; those of a fit are made from `maskedadv.settings`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, TypeVar

import click

from maskedadv.checks import Maybe, Number, OneOf, Whole
from maskedadv.settings import GROUPS, OPTIONS, Option, Settings

F = TypeVar("F", bound=Callable[..., Any])

responses_argument = click.argument("responses", type=click.Path(path_type=str))

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")

ALL_SETTINGS = tuple(OPTIONS)


def settings_options(*names: str, **changes: Any) -> Callable[[F], F]:
    """Options of a command for settings of a fit, in this order.

    Parameters
    ----------
    names : fields of `Settings`
    changes : by name, another default
    """
    defaults = {f.name: f.default for group in GROUPS for f in fields(group)} | changes

    def decorate(command: F) -> F:
        for name in reversed(names):
            command = _click_option(name, OPTIONS[name], defaults[name])(command)
        return command

    return decorate


def refuse_folder(output: Path | None, marker: str, *, overwrite: bool) -> Callable[[str], None]:
    """What refuses the output folder, by the fingerprint of the result to be, before the work."""

    def begin(fingerprint: str) -> None:
        from maskedadv.files.folders import check_folder

        if output is not None:
            check_folder(output, marker, fingerprint, overwrite=overwrite)

    return begin


def _click_option(name: str, option: Option, default: Any) -> Callable[[F], F]:
    flag = "--" + (option.flag or name).replace("_", "-")
    kind, check = str, option.check
    while isinstance(check, Maybe):
        check = check.check
    if isinstance(check, OneOf):
        kind = click.Choice(check.allowed)  # type: ignore[assignment]
    elif isinstance(check, Whole | Number):
        kind = int if isinstance(check, Whole) else float  # type: ignore[assignment]
    shown = default not in (None, "") and not option.several
    return click.option(
        flag,
        name,
        type=kind,
        default=default if shown else None,
        show_default=shown,
        multiple=option.several,
        metavar=option.metavar or None,
        help=option.help.replace("`", ""),
    )


def settings_of(given: dict[str, Any], **fixed: Any) -> Settings:
    """Settings from what the options of `settings_options` gave."""
    from maskedadv.sampling.priors import parse_priors

    values = given | fixed
    if "priors" in values:
        values["priors"] = parse_priors(values["priors"])
    if "locale" in values:
        values["locale"] = values["locale"] or None
    return Settings(**values)


def plan_options(*names: str) -> Callable[[F], F]:
    """Options of a command for numbers of a simulated study (all, if none is named); None where not given."""
    from maskedadv.simulation.plan import Plan

    defaults = {f.name: f.default for f in fields(Plan)}

    def decorate(command: F) -> F:
        for name in reversed(names or tuple(defaults)):
            option, default = Plan.__dataclass_fields__[name].metadata["option"], defaults[name]
            shown = ", ".join(default) if isinstance(default, tuple) else default
            words = option.help if default is None else f"{option.help}  [default: {shown}]"
            command = _click_option(name, replace(option, help=words), None)(command)
        return command

    return decorate


def plan_of(given: dict[str, Any]) -> dict[str, Any]:
    """The numbers that were given, from what the options of `plan_options` gave."""
    return {name: value for name, value in given.items() if value not in (None, ())}
