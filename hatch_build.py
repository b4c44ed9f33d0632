"""Build hook: an installation finds scoring, reports and stan inside the package.

A wheel holds them there. An editable installation finds scoring and reports by links, which stand in the
repository; a checkout without links (a file with the target's name in their place, or nothing at all, as in
an unpacked sdist) gets them here.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

LINKED = ("scoring", "reports")
INSIDE = (*LINKED, "stan")


class Inside(BuildHookInterface):  # type: ignore[type-arg]
    """Put the folders into a wheel, and the links of an editable installation beside the modules."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling before a wheel or an editable installation is made."""
        if self.target_name != "wheel":
            return
        if version == "editable":
            for name in LINKED:
                make_link(Path(self.root, "maskedadv", name), name)
        else:
            build_data["force_include"] |= {
                str(Path(self.root, name)): f"maskedadv/{name}" for name in INSIDE
            }


def make_link(link: Path, name: str) -> None:
    """Let `link` lead to the folder `name` beside the package; what already leads there stays."""
    if link.is_dir():
        return
    if link.is_symlink() or link.is_file():
        link.unlink()
    os.symlink(Path("..", name), link, target_is_directory=True)
