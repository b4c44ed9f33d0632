"""Every argument of a fit stands once, and all that takes it follows."""

from __future__ import annotations

import inspect
from dataclasses import fields, replace
from typing import Any, get_type_hints

import click
import pytest

import maskedadv
from maskedadv.checks import Maybe, Number, OneOf, Whole
from maskedadv.cli import check, fit, import_stan
from maskedadv.errors import BadSetting
from maskedadv.settings import GROUPS, OPTIONS, Arguments, Settings


def test_groups_hold_every_setting_once():
    names = [f.name for group in GROUPS for f in fields(group)]
    assert len(names) == len(set(names))
    assert set(names) == {f.name for f in fields(Settings)} == set(OPTIONS)


def test_fit_takes_the_settings_with_their_types_and_defaults():
    parameters = dict(inspect.signature(maskedadv.fit).parameters)
    for name in ("responses", "jobs", "launcher", "progress"):
        del parameters[name]
    assert set(parameters) == set(OPTIONS) == set(get_type_hints(Arguments))
    for f in fields(Settings):
        assert parameters[f.name].default == f.default
        assert parameters[f.name].annotation == get_type_hints(Arguments)[f.name]
        assert f"\n{f.name}" in (maskedadv.fit.__doc__ or "")
    with pytest.raises(TypeError, match="unexpected keyword argument 'estimatr'"):
        maskedadv.fit("x.csv", estimatr="joint")  # type: ignore[call-arg]


def test_the_types_of_fit_are_those_of_the_settings_or_wider():
    wider, own = get_type_hints(Arguments), get_type_hints(Settings)
    for name, kind in own.items():
        if name != "locale":
            assert kind == wider[name] or kind in getattr(wider[name], "__args__", ()), name


@pytest.mark.parametrize(
    ("command", "names"),
    [
        (fit.command, set(OPTIONS)),
        (check.command, {"locale", "pivot", "min_accuracy", "response", "estimator", "guessing", "options"}),
        (import_stan.export_command, {"locale", "estimator", "chains", "priors", "seed"}),
        (import_stan.import_command, {"locale", "level", "priors", "seed"}),
    ],
)
def test_commands_take_settings_under_their_names_with_their_defaults(
    command: click.Command, names: set[str]
):
    taken = {p.name: p for p in command.params}
    assert names <= set(taken)
    defaults = {f.name: f.default for f in fields(Settings)}
    for name in names - {"response"}:
        if defaults[name] not in ("", None):
            assert taken[name].default == defaults[name], name


def wrong_values(name: str) -> list[Any]:
    """Values that an argument's check has to refuse."""
    check = OPTIONS[name].check
    if isinstance(check, Maybe):
        check = check.check
    if isinstance(check, OneOf):
        return ["nonsense", 3, True]
    if isinstance(check, Whole):
        return [check.low - 1, check.high + 1, 1.5, "2", True]
    if isinstance(check, Number):
        beyond = [check.low - 0.1] if check.lowest_allowed else [check.low]
        return [*beyond, check.high, "many", float("nan")]
    return {"guessing": [1.0, -0.1, "half"], "locale": [5], "pivot": [5], "priors": ["gap=1"]}[name]


@pytest.mark.parametrize("name", list(OPTIONS))
def test_values_outside_their_range_are_refused_by_name(name: str):
    for value in wrong_values(name):
        with pytest.raises(BadSetting, match=name):
            Settings(**{"method": "nuts" if name == "priors" else "optimize", name: value})


def test_settings_survive_json_and_replacement():
    for settings in (
        Settings(locale=["zh", "sw"], guessing=0.2, level=0.9),  # type: ignore[arg-type]
        Settings(method="nuts", priors={"gap": 1.0}, max_treedepth=12),
    ):
        assert Settings(**settings.as_json()) == settings
        assert replace(settings, seed=7).seed == 7
    assert Settings(locale="zh").locale == ("zh",)  # type: ignore[arg-type]
    assert Settings(estimator=None, interval=None) == Settings()  # type: ignore[arg-type]
