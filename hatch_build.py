"""Build hook: an editable installation finds scoring and reports inside the package, by links.

The links stand in the repository. A checkout without links (a file with the target's name in their place, or
nothing at all, as in an unpacked sdist) gets them here.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

INSIDE = ("scoring", "reports")


class MakeLinks(BuildHookInterface):  # type: ignore[type-arg]
    """Make the links of an editable installation."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling before a wheel or an editable installation is made."""
        del build_data
        if self.target_name == "wheel" and version == "editable":
            for name in INSIDE:
                make_link(Path(self.root, "maskedadv", name), name)


def make_link(link: Path, name: str) -> None:
    """Let `link` lead to the folder `name` beside the package; what already leads there stays."""
    if link.is_dir():
        return
    if link.is_symlink() or link.is_file():
        link.unlink()
    os.symlink(Path("..", name), link, target_is_directory=True)
