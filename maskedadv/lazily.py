"""Names of a package that are imported when first used; the stub beside it says which."""

from __future__ import annotations

import ast
import importlib
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any


def attach_stub(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """`__getattr__`, `__dir__` and `__all__` (PEP 562) of a package, from the imports of its `__init__.pyi`.

    Parameters
    ----------
    package, file
        `__name__` and `__file__` of the package.
    """
    origin: dict[
        str, str
    ] = {}  # name -> "" for a submodule, else the module it stands in, as the stub has it
    for node in ast.parse(Path(file).with_suffix(".pyi").read_text("utf-8")).body:
        if isinstance(node, ast.ImportFrom):
            place = "." * node.level + node.module if node.module else ""
            origin |= {alias.name: place for alias in node.names}

    def find(name: str) -> Any:
        if name not in origin:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = importlib.import_module(origin[name] or f".{name}", package)
        found = getattr(module, name) if origin[name] else module
        sys.modules[package].__dict__[name] = found
        return found

    names = sorted(origin)
    return find, lambda: names, names


def import_ahead(*modules: str) -> None:
    """Import modules in a thread, while this one reads files, which needs little of the interpreter.

    An error is left to whoever imports the module for its use. Meanwhile the threads take turns quickly, or
    every call into a library would wait for the other's turn to end, a hundred times.
    """
    before = sys.getswitchinterval()

    def work() -> None:
        try:
            for module in modules:
                importlib.import_module(module)
        except ImportError:
            pass
        finally:
            sys.setswitchinterval(before)

    sys.setswitchinterval(min(before, 5e-4))
    threading.Thread(target=work, daemon=True).start()
