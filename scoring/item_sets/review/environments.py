"""Environments of their own for programs whose pins are older than ours: made once, in the user's cache."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import platformdirs

from maskedadv.errors import BadSetting, ReviewServerFailed

LABEL_STUDIO = ("label-studio==1.23.2",)
ARGILLA = ("argilla==2.8.0", "requests")  # which it imports and does not name
_MARK = ".maskedadv-complete"
_KEPT = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "TEMP", "SYSTEMROOT", "SSL_CERT_FILE")
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy")


def default_folder(packages: Sequence[str]) -> Path:
    """Where the environment of pinned packages lies unless the user says otherwise."""
    name = f"{packages[0].replace('==', '-')}-py{sys.version_info.major}.{sys.version_info.minor}"
    return platformdirs.user_cache_path("maskedadv") / "environments" / name


def environment(packages: Sequence[str], folder: Path | None, report: Callable[[str], None]) -> Path:
    """The Python of an environment that holds these packages; made where it is not there.

    It is complete or not there at all: what is interrupted leaves nothing.

    Parameters
    ----------
    packages
        `LABEL_STUDIO` or `ARGILLA`.
    folder
        Where it lies, or None for `default_folder`.
    report
        Told in words what takes long.

    Raises
    ------
    BadSetting
        The folder holds something else.
    ReviewServerFailed
        It cannot be installed.
    """
    package, listed = packages[0], " ".join(packages)
    folder = (folder or default_folder(packages)).absolute()
    mark = folder / _MARK
    if mark.is_file() and mark.read_text("utf-8") == listed:
        return python_of(folder)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BadSetting(
            f"{folder} is not an environment of {package} that maskedadv made; give a new folder with "
            "--environment, or remove it."
        )
    report(f"Installing {package} into {folder} (once; takes a minute or two)")
    partial: Path | None = None
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        partial = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
        _run([sys.executable, "-m", "venv", str(partial)], package)
        pip = ["-I", "-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check"]
        _run([str(python_of(partial)), *pip, *packages], package)
        (partial / _MARK).write_text(listed, "utf-8")
        if folder.exists():
            folder.rmdir()
        os.replace(partial, folder)
    except OSError as error:
        raise BadSetting(
            f"{folder} cannot be made ({error.strerror}); give another one with --environment."
        ) from error
    finally:
        if partial is not None:
            shutil.rmtree(partial, ignore_errors=True)
    return python_of(folder)


def python_of(folder: Path) -> Path:
    """The Python of an environment."""
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def bare_variables() -> dict[str, str]:
    """Environment variables for such a program: none of the user's settings and keys."""
    return {name: os.environ[name] for name in (*_KEPT, *_PROXIES) if name in os.environ}


def _run(command: list[str], package: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        last = [line.strip() for line in done.stderr.splitlines() if line.strip()][-1:]
        raise ReviewServerFailed(
            f"{package} cannot be installed ({(last or ['no reason given'])[0][:300]}); is the package index "
            "reachable?"
        )
