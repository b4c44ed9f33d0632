"""An installation puts one name into site-packages, and a user's own files never hide ours.

Wheels are made from a copy of the tree and unpacked; no package index is asked.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pandas as pd
import pytest

from tests.conftest import ROOT
from tests.simulate import table

pytest.importorskip("hatchling")

SOURCES = ("maskedadv", "scoring", "reports", "stan")
FILES = ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff")
LINKS = ("scoring", "reports")


def checkout(folder: Path, links: str) -> Path:
    """A copy of the tree whose links are links, text files in their place, or absent."""
    folder.mkdir(parents=True)
    skipped = shutil.ignore_patterns("__pycache__", "*.pyc")
    for name in SOURCES:
        if (ROOT / name).is_dir():  # stan and others lie elsewhere in an unpacked wheel
            shutil.copytree(ROOT / name, folder / name, symlinks=True, ignore=skipped)
    for name in FILES:
        shutil.copy(ROOT / name, folder / name)
    for name in LINKS:
        link = folder / "maskedadv" / name
        if link.is_symlink() and links != "links":
            link.unlink()
        if links == "text":
            link.write_text(f"../{name}")  # what git leaves where it may not make links
    return folder


def build(tree: Path, kind: str, to: Path) -> Path:
    """An sdist, a wheel or the wheel of an editable installation, in the folder `to`."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(to)]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (made,) = to.iterdir()
    return made


def unpacked(wheel: Path, to: Path) -> Path:
    """What site-packages would hold."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(to)
    return to


def modules(site: Path) -> list[str]:
    """Every file of the package and its parts, as a path inside site-packages."""
    return sorted(str(path.relative_to(site)) for path in (site / "maskedadv").rglob("*") if path.is_file())


def expected() -> list[str]:
    """Files of the four source folders where an installation has them."""
    found = []
    for name in SOURCES:
        inside = "maskedadv" if name == "maskedadv" else f"maskedadv/{name}"
        for folder, folders, files in os.walk(ROOT / name):  # does not follow links
            folders[:] = [f for f in folders if f != "__pycache__"]
            below = Path(folder).relative_to(ROOT / name)
            found += [str(Path(inside) / below / file) for file in files]
    return sorted(found)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An unpacked wheel, made by way of an sdist, as an installer from an index makes it."""
    base = tmp_path_factory.mktemp("an installation")  # a blank in the path on purpose
    sdist = build(checkout(base / "tree", "links"), "sdist", base / "sdist")
    with tarfile.open(sdist) as archive:
        archive.extractall(base / "unpacked", filter="data")
        assert not [member.name for member in archive if member.issym() or member.islnk()]
    (tree,) = (base / "unpacked").iterdir()
    return unpacked(build(tree, "wheel", base / "wheel"), base / "site")


def test_a_wheel_by_way_of_an_sdist_holds_every_file_under_one_name(site: Path) -> None:
    names = {path.name for path in site.iterdir() if not path.name.endswith(".dist-info")}
    assert names == {"maskedadv"}
    assert modules(site) == expected()


@pytest.mark.parametrize("links", ["links", "text", "none"])
def test_a_wheel_of_any_checkout_is_the_same(tmp_path: Path, links: str, site: Path) -> None:
    made = unpacked(build(checkout(tmp_path / "tree", links), "wheel", tmp_path / "wheel"), tmp_path / "site")
    assert modules(made) == modules(site)


@pytest.mark.skipif(os.name == "nt", reason="links need rights there; the wheel does without")
@pytest.mark.parametrize("links", ["links", "text", "none"])
def test_an_editable_installation_of_any_checkout_finds_all_parts(tmp_path: Path, links: str) -> None:
    tree = checkout(tmp_path / "a tree", links)
    made = unpacked(build(tree, "wheel:editable", tmp_path / "wheel"), tmp_path / "site")
    (pointer,) = made.glob("*.pth")
    assert pointer.read_text("utf-8").split("\n")[0] == str(tree)
    assert not (made / "maskedadv").exists(), "copies that would grow stale"
    code = (
        "import maskedadv.reports.write, maskedadv.scoring.prompts.prompts as p; "
        "from maskedadv.engines.stan_files import program_text; program_text('ml_joint'); "
        "print(p.__file__)"
    )
    assert python(tree, tmp_path, "-c", code).strip().startswith(str(tree))


@pytest.fixture
def own_files(tmp_path: Path) -> Path:
    """A user's folder with files named as parts of ours, none of which may be read."""
    folder = tmp_path / "my work"
    folder.mkdir()
    for name in ("scoring", "reports", "stan", "fit", "files", "words", "responses", "result", "settings"):
        (folder / f"{name}.py").write_text(f"raise SystemExit('the user\\'s own {name}.py was run')\n")
    table(6, seed=1).to_csv(folder / "answers.csv", index=False)
    return folder


def test_a_users_own_files_hide_nothing_of_an_installation(site: Path, own_files: Path) -> None:
    using_every_part(site, own_files)
    python(site, own_files, "-m", "maskedadv", "fit", "answers.csv", "-o", "out", "--min-accuracy", "0")
    python(site, own_files, "-m", "maskedadv", "report", "out", "-o", "page", "--format", "none")
    assert (own_files / "page" / "index.html").is_file()


def test_a_users_own_files_hide_nothing_of_a_checkout(own_files: Path) -> None:
    using_every_part(ROOT, own_files)


def using_every_part(path: Path, folder: Path) -> None:
    """Prompts, items, the plan of a scoring, and a script, all from the user's folder."""
    items = pd.DataFrame(
        {
            "item": ["a", "a"],
            "subset": ["CA", "CA"],
            "language": ["en", "zh"],
            "question": ["Is it?", "是吗？"],
            "options": ['["yes", "no"]', '["是", "否"]'],
            "answer": ["A", "A"],
        }
    )
    items.to_csv(folder / "items.csv", index=False)
    assert "zh" in python(path, folder, "-m", "maskedadv", "prompts", "list")
    python(path, folder, "-m", "maskedadv", "items", "check", "items.csv")
    if importlib.util.find_spec("httpx2"):  # an environment without the packages of scoring has the rest
        plan = ("score", "plan", "items.csv", "-m", "a-model", "--api", "http://127.0.0.1:9", "-o", "scores")
        assert "a-model" in python(path, folder, "-m", "maskedadv", *plan)
    script = folder / "script.py"
    script.write_text(
        "import maskedadv, maskedadv.scoring, maskedadv.reports.write\n"
        "from maskedadv.scoring.prompts import prompts\n"
        "fitted = maskedadv.fit('answers.csv', min_accuracy=0)\n"
        "print(len(fitted.gaps()), maskedadv.__file__)\n",
        encoding="utf-8",
    )
    count, where = python(path, folder, "script.py").split(maxsplit=1)
    assert count == "18"
    assert Path(where.strip()).is_relative_to(path)


def python(path: Path, cwd: Path, *arguments: str) -> str:
    """Standard output of Python that finds maskedadv in `path`, run in `cwd`."""
    environment = {**os.environ, "PYTHONPATH": str(path), "PYTHONUTF8": "1"}
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
