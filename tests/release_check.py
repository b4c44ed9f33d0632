"""Wheel and sdist by themselves: built, installed in clean environments of several Pythons, and run there.

Run as `make release-check` (`python -m tests.release_check [3.12 ...]`). The core alone, without torch; pip
fetches what it does not have in its cache. Everything lies in build/release. A Python that is not here is
said, not passed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from maskedadv import __version__
from tests.conftest import ROOT

VERSIONS = ("3.11", "3.12", "3.13", "3.14")
"""Pythons that the classifiers name."""


def find_python(version: str) -> Path | None:
    """A Python of this version: on the path, as a system's launcher finds it, or one of pyenv's."""
    name = "python.exe" if os.name == "nt" else "python"
    of_pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    candidates = [shutil.which(f"python{version}"), *sorted(of_pyenv.glob(f"{version}.*/bin/{name}"))]
    for candidate in (Path(c) for c in candidates if c):
        line = [str(candidate), "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        if done.returncode == 0 and done.stdout.strip() == version:
            return candidate
    return None


def make_sdist(folder: Path) -> Path:
    """The sdist of this checkout."""
    run([sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(folder)], ROOT)
    (made,) = folder.glob("*.tar.gz")
    return made


def try_out(python: Path, package: Path, folder: Path) -> None:
    """Install the package into a new environment, and run the main job there, from a folder of its own."""
    run([str(python), "-m", "venv", str(folder / "environment")], folder.parent)
    programs = folder / "environment" / ("Scripts" if os.name == "nt" else "bin")
    run(
        [str(programs / "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check", package],
        folder,
    )
    assert run([str(programs / "maskedadv"), "--version"], folder).split()[-1] == __version__
    told = run([str(programs / "maskedadv"), "demo", "-o", "a demo"], folder)
    for expected in ("knowledge_gap", "\nsw  ", "Warning: plain gaps"):
        assert expected in told, (package.name, expected, told)
    assert (folder / "a demo" / "report" / "index.html").is_file()


def run(line: list[str | Path], cwd: Path) -> str:
    """Standard output of a program that has to succeed; nothing of this environment reaches it."""
    cwd.mkdir(parents=True, exist_ok=True)
    own = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV", "PIP_CONSTRAINT")}
    done = subprocess.run(
        [str(part) for part in line],
        cwd=cwd,
        env={**own, "PYTHONUTF8": "1"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, line))}\n{done.stdout}{done.stderr}")
    return done.stdout


def main(versions: list[str]) -> None:
    """The sdist in the oldest Python that is here, which makes the wheel; the wheel in all of them."""
    found = {version: find_python(version) for version in versions}
    here = {version: python for version, python in found.items() if python is not None}
    if not here:
        raise SystemExit(f"None of these Pythons is here: {', '.join(versions)}.")
    base = ROOT / "build" / "release"
    shutil.rmtree(base, ignore_errors=True)
    sdist = make_sdist(base / "dist")
    oldest = next(iter(here.values()))
    run([oldest, "-m", "venv", base / "builder"], ROOT)
    programs = base / "builder" / ("Scripts" if os.name == "nt" else "bin")
    run([programs / "python", "-m", "pip", "wheel", "-q", "--no-deps", "-w", base / "dist", sdist], base)
    (wheel,) = (base / "dist").glob("*.whl")
    for version, python in here.items():
        for package in (wheel, sdist) if python == oldest else (wheel,):
            try_out(python, package, base / f"{version} {package.name.rpartition('.')[2]}")
            print(f"Python {version}: {package.name} installs and runs", flush=True)
    for version in sorted(set(found) - set(here)):
        print(f"Python {version}: not here, not tried")


if __name__ == "__main__":
    main(sys.argv[1:] or list(VERSIONS))
