"""`maskedadv doctor`: what is installed, and does it compute."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import PackageNotFoundError, version

import click

from maskedadv import __version__
from maskedadv.cli.options import json_option
from maskedadv.cli.say import say
from maskedadv.words.terminal import to_json

PACKAGES = (
    "numpy",
    "scipy",
    "pandas",
    "pyarrow",
    "xarray",
    "arviz-stats",
    "plotnine",
    "stanli",
    "cmdstanpy",
    "torch",
)


@click.command()
@json_option
def command(as_json: bool) -> None:
    """Print versions, the Stan engines found and the cache folder; fit five rows on each engine.

    Leaves with exit code 1 if an engine that is there does not compute.
    """
    from maskedadv.engines.cmdstan import cache_folder
    from maskedadv.engines.doctor import try_engines
    from maskedadv.engines.stan_files import stan_folder

    versions = {name: _version(name) for name in PACKAGES}
    engines = try_engines()
    broken = any(e.found and not e.works for e in engines)
    if as_json:
        say(
            to_json(
                {
                    "maskedadv": __version__,
                    "python": platform.python_version(),
                    "versions": versions,
                    "programs": str(stan_folder()),
                    "cache": str(cache_folder()),
                    "engines": {
                        e.name: {"found": e.found, "works": e.works, "text": e.text} for e in engines
                    },
                }
            )
        )
    else:
        say(f"maskedadv {__version__}, Python {platform.python_version()}, {platform.platform()}")
        for name, found in versions.items():
            absent = "not installed" + (" (only scoring needs it)" if name == "torch" else "")
            say(f"  {name:<10} {found or absent}")
        say(f"Stan programs  {stan_folder()}")
        say(f"Cache folder   {cache_folder()}")
        for e in engines:
            say(f"Engine {e.name:<9} {e.text}")
    sys.exit(1 if broken else 0)


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
