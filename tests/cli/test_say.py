"""Names from a table cannot steer a terminal, whatever command prints them and in whatever form."""

from __future__ import annotations

import ast
import io
import json
import sys
import unicodedata
from pathlib import Path

import pytest

from maskedadv.cli import say
from maskedadv.cli.main import main
from maskedadv.words.terminal import clean_lines, dumps, to_json
from tests.conftest import ROOT
from tests.simulate import table

ESCAPE, TURN, BELL, CSI = "\x1b[2J", "\u202e", "\x07", "\x9b1A"


def steering(text: str) -> set[str]:
    """Characters that move a cursor, clear a screen or turn a line round."""
    return {
        c for c in text if unicodedata.category(c) in {"Cc", "Cf", "Zl", "Zp"} and c not in "\n\u200c\u200d"
    }


def run(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str]:
    with pytest.raises(SystemExit) as left:
        main([str(a) for a in arguments])
    out, err = capsys.readouterr()
    return int(left.value.code or 0), out + err


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table whose models, items and locale carry escapes, and a result of it."""
    folder = tmp_path_factory.mktemp("hostile")
    frame = table(4, (30, 30), seed=5)
    frame["model"] = ESCAPE + TURN + frame["model"]
    frame["item"] = frame["item"] + CSI + BELL
    frame["language"] = frame["language"].replace("zh", f"zh{TURN}{ESCAPE}")
    frame.to_csv(folder / "t.csv", index=False)
    with pytest.raises(SystemExit) as left:
        main(["fit", str(folder / "t.csv"), "-o", str(folder / "result"), "--min-accuracy", "0"])
    assert left.value.code == 0
    return folder


@pytest.mark.parametrize(
    "line",
    [
        "check {t}",
        "check {t} --cells",
        "check {t} --json",
        "check {t} --min-accuracy .99",
        "check {t} --locale \x1b]0;title\x07",
        "fit {t} -o {new} --min-accuracy 0",
        "fit {t} -o {new} --min-accuracy .9",
        "gaps {r}",
        "gaps {r} --format markdown",
        "gaps {r} --format json",
        "gaps {r} --model \x1b[2J",
        "gaps {r} --nothing-\x1b[2J",
        "gaps {r}\u202e",
        "dif {t} -o {new} --min-accuracy 0",
        "fit-check {t} -o {new} --min-accuracy 0 --replicates 10",
        "compare {t} -o {new} --min-accuracy 0 --folds 3",
        "status {r}",
        "status {new}\x1b[2J",
    ],
)
def test_no_command_passes_on_what_steers(
    hostile: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], line: str
) -> None:
    capsys.readouterr()
    places = {"t": hostile / "t.csv", "r": hostile / "result", "new": tmp_path / f"new{TURN}"}
    code, text = run(capsys, *(part.format(**places) for part in line.split(" ")))
    assert text
    assert not steering(text)
    assert code in (0, 2)


def test_data_are_exact_in_a_file_and_clean_on_a_terminal(
    hostile: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    line = ("gaps", hostile / "result", "--format", "csv")
    capsys.readouterr()
    code, text = run(capsys, *line)
    assert code == 0
    assert ESCAPE + TURN in text
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    _, shown = run(capsys, *line)
    assert shown.count("\n") == text.count("\n")
    assert not steering(shown)


def test_json_escapes_and_keeps() -> None:
    value = {f"a{TURN}{ESCAPE}": ["\U000e0041", "\u2028", "ع\u200d"]}
    text = to_json(value)
    assert not steering(text)
    assert "ع\u200d" in text
    assert json.loads(text) == value
    assert dumps(value) == text


def test_lines_and_tabs_stay() -> None:
    assert clean_lines("a\tb\n\x1bc\u202ed\n") == "a\tb\n�c�d\n"


def test_progress_is_written_over_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    for terminal, expected in ((True, "\r" + "a�".ljust(79)), (False, "a�\n")):
        told = io.StringIO()
        monkeypatch.setattr(told, "isatty", lambda terminal=terminal: terminal)
        monkeypatch.setattr("sys.stderr", told)
        say.say_over("a\x1b")
        assert told.getvalue() == expected


def test_nothing_else_prints() -> None:
    """A command that printed by itself could forget to clean."""
    for top in ("maskedadv", "scoring", "reports"):
        for path in (ROOT / top).rglob("*.py"):
            if path.name == "say.py" or "site" in path.parts:
                continue
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
                assert called not in {"click.echo", "click.secho", "print", "sys.stdout.write"}, path
