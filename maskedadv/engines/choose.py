"""Pick an engine by name."""

from __future__ import annotations

from maskedadv.engines.cmdstan import CmdStan, installed_version
from maskedadv.engines.embedded import Embedded
from maskedadv.engines.protocol import Engine
from maskedadv.errors import BadSetting, EngineMissing


def choose_engine(name: str = "auto") -> Engine:
    """CmdStan where it is installed (`auto`), else the embedded engine; or the one named.

    Raises
    ------
    EngineMissing
        `cmdstan` was named and is not installed or too old.
    BadSetting
        Another name.
    """
    if name == "embedded":
        return Embedded()
    if name == "cmdstan":
        installed_version()
        return CmdStan()
    if name == "auto":
        try:
            installed_version()
        except EngineMissing:
            return Embedded()
        return CmdStan()
    raise BadSetting(f"engine {name!r} is unknown; use auto, cmdstan or embedded.")
