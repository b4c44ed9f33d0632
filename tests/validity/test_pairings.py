"""The pairings file."""

from __future__ import annotations

from pathlib import Path

import pytest

from maskedadv.errors import BadPairing, UnreadableFile
from maskedadv.validity.pairings import DEFAULT_CONTROLS, read_pairings

GOOD = '[[pairing]]\nname = "A"\nlanguage = "sv"\nnative = "n"\nproxy = "p"\n'


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "pairings.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_defaults_and_paths_relative_to_the_file(tmp_path: Path) -> None:
    head = 'scores = "s.csv"\nmodels = "sub/m.csv"\n'
    tail = '\n[abilities.n]\nresults = "fit"\nsubset = "CS"\n'
    plan = read_pairings(write(tmp_path, head + GOOD + tail))
    (pairing,) = plan.pairings
    assert pairing.controls == DEFAULT_CONTROLS
    assert (pairing.extra_controls, pairing.open_ended, pairing.cs_share) == ((), False, None)
    assert (plan.scores, plan.models) == (tmp_path / "s.csv", tmp_path / "sub/m.csv")
    ((benchmark, source),) = plan.abilities
    assert (benchmark, source.results, source.subset) == ("n", tmp_path / "fit", "CS")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no \\[\\[pairing\\]\\]"),
        ("x = ", "is not TOML"),
        ("pairings = 1\n" + GOOD, "unknown key 'pairings'; known are"),
        (GOOD + 'contols = ["a"]', "pairing 1: unknown key 'contols'"),
        (GOOD.replace('"sv"', "1"), "language must be text, not 1"),
        (GOOD.replace('"A"', '" "'), "name must be text"),
        (GOOD.replace('proxy = "p"', ""), "proxy must be text, not None"),
        (GOOD + GOOD, "'A' is used by 2 pairings"),
        (GOOD.replace('"p"', '"n"'), "both 'n'"),
        (GOOD + 'controls = "size"', "controls must be a list"),
        (GOOD + 'controls = ["a", "a"]', "'a' is named twice"),
        (GOOD + 'extra_controls = ["proficiency"]', "'proficiency' is named twice"),
        (GOOD + "open_ended = 1", "true or false"),
        (GOOD + "cs_share = 14.3", "share from 0 to 1"),
        (GOOD + "cs_share = true", "share from 0 to 1"),
        ("scores = 3\n" + GOOD, "path in quotes"),
        (GOOD + "[abilities]\nn = 3", "abilities are tables"),
        (GOOD + "[abilities.n]\nsubset = 'CS'", "results must be the folder"),
        (GOOD + "[abilities.n]\nresults = 'f'\nsubset = 'cs'", "subset must be CA or CS"),
        (GOOD + "[abilities.n]\nresults = 'f'\nquery = 'x'", "unknown key 'query'"),
        ("pairing = [1]", "not a table"),
    ],
)
def test_refusals(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(BadPairing, match=words):
        read_pairings(write(tmp_path, text))


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match="nowhere"):
        read_pairings(tmp_path / "nowhere.toml")
    with pytest.raises(UnreadableFile):
        read_pairings(tmp_path)
