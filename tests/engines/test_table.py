"""The table of engines: each is there under its name, and is called in its own words."""

from __future__ import annotations

import importlib
import inspect
from dataclasses import fields
from pathlib import Path

import pytest
import stanli

from maskedadv.checks import OneOf
from maskedadv.engines.cmdstan_chains import chain_command
from maskedadv.engines.table import ENGINES, from_stan_csv, in_words_of
from maskedadv.errors import BadSetting
from maskedadv.settings import OPTIONS, Sampler, Settings

OTHER = Sampler(warmup=11, draws=12, adapt_delta=0.75, max_treedepth=7, metric="dense_e")


@pytest.mark.parametrize("name", list(ENGINES))
def test_an_engine_has_the_name_of_its_entry_and_sees_what_it_needs(name: str):
    module, _, kind = ENGINES[name].place.partition(":")
    engine = getattr(importlib.import_module(module), kind)()
    assert engine.name == name
    assert callable(engine.require)


@pytest.mark.parametrize("name", list(ENGINES))
def test_words_of_the_sampler_are_those_of_the_engine(name: str):
    """Each word is one that the engine takes: an argument, or a word of CmdStan's command line."""
    told = in_words_of(name, OTHER)
    assert list(told.values()) == [getattr(OTHER, f.name) for f in fields(Sampler)]
    if name == "cmdstan":
        line = chain_command(Path("program"), "d", "i", Path("c"), 1, told, seed=1, refresh=1)
        assert {f"{word}={value}" for word, value in told.items()} <= set(line)
    else:
        assert set(told) <= set(inspect.signature(stanli.Model.sample).parameters)
    assert set(ENGINES[name].words) <= {f.name for f in fields(Sampler)}


def test_settings_come_back_from_the_head_of_stan_csv_files():
    config = {"num_warmup": "11", "num_samples": 12, "delta": "0.75", "max_depth": 7, "metric": "dense_e"}
    assert Sampler(**from_stan_csv(config, Sampler())) == OTHER
    assert Sampler(**from_stan_csv({}, OTHER)) == OTHER


def test_settings_name_the_engines_of_the_table():
    check = OPTIONS["engine"].check
    assert isinstance(check, OneOf)
    assert check.allowed == ("auto", *ENGINES)
    with pytest.raises(BadSetting, match="auto, embedded, cmdstan"):
        Settings(engine="pystan")


def test_the_sampler_is_a_part_of_the_settings():
    own = {f.name: getattr(OTHER, f.name) for f in fields(Sampler)}
    assert Settings(method="nuts", **own).sampler == OTHER
