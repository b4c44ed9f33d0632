"""The pairings file: which native benchmark is compared with which proxy, given which controls."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from maskedadv.errors import BadPairing
from maskedadv.files.toml import read_toml

DEFAULT_CONTROLS = ("log(parameters)", "proficiency")
_TOP = {"scores", "models", "pairing", "abilities", "reliability"}
_PAIRING = {"name", "language", "native", "proxy", "controls", "extra_controls", "open_ended", "cs_share"}
_ABILITY = {"results", "subset"}


@dataclass(frozen=True)
class Pairing:
    """A native benchmark and its proxy in one language, and what is held constant.

    `cs_share` overrides the share of culture-specific native items where it cannot be counted.
    """

    name: str
    language: str
    native: str
    proxy: str
    controls: tuple[str, ...] = DEFAULT_CONTROLS
    extra_controls: tuple[str, ...] = ()
    open_ended: bool = False
    cs_share: float | None = None


@dataclass(frozen=True)
class AbilitySource:
    """Where a benchmark's abilities are: a folder of a fit, and one subset of it or (None) both."""

    results: Path
    subset: str | None = None


@dataclass(frozen=True)
class PairingFile:
    """A pairings file, its paths taken relative to the folder it lies in."""

    pairings: tuple[Pairing, ...]
    scores: Path | None = None
    models: Path | None = None
    abilities: tuple[tuple[str, AbilitySource], ...] = ()
    reliability: tuple[tuple[str, float], ...] = ()


def read_pairings(path: str | Path) -> PairingFile:
    """Read and check a pairings file (TOML; docs/how-to/validity.md describes it).

    Raises
    ------
    UnreadableFile, BadPairing
    """
    path = Path(path)
    content = read_toml(path, BadPairing)
    _known(content, _TOP, str(path))
    entries = content.get("pairing", [])
    if not isinstance(entries, list) or not entries:
        raise BadPairing(
            f"{path} has no [[pairing]]; add at least one with name, language, native and proxy."
        )
    pairings = tuple(_pairing(entry, f"{path}, pairing {number}") for number, entry in enumerate(entries, 1))
    names = [pairing.name for pairing in pairings]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise BadPairing(f"{path}: the name {twice[0]!r} is used by {names.count(twice[0])} pairings.")
    return PairingFile(
        pairings=pairings,
        scores=_path(content, "scores", path),
        models=_path(content, "models", path),
        abilities=_abilities(content.get("abilities", {}), path),
        reliability=_reliability(content.get("reliability", {}), path),
    )


def _known(table: dict[str, Any], keys: set[str], where: str) -> None:
    unknown = sorted(set(table) - keys)
    if unknown:
        raise BadPairing(f"{where}: unknown key {unknown[0]!r}; known are {', '.join(sorted(keys))}.")


def _pairing(entry: Any, where: str) -> Pairing:
    if not isinstance(entry, dict):
        raise BadPairing(f"{where} is not a table; write [[pairing]].")
    _known(entry, _PAIRING, where)
    for key in ("name", "language", "native", "proxy"):
        value = entry.get(key)
        if not isinstance(value, str) or not value.strip():
            raise BadPairing(f"{where}: {key} must be text, not {value!r}.")
    texts = {key: entry[key].strip() for key in ("name", "language", "native", "proxy")}
    open_ended = entry.get("open_ended", False)
    if not isinstance(open_ended, bool):
        raise BadPairing(f"{where}: open_ended must be true or false, not {open_ended!r}.")
    share = entry.get("cs_share")
    if share is not None and (
        isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1
    ):
        raise BadPairing(f"{where}: cs_share must be a share from 0 to 1, not {share!r}.")
    if texts["native"] == texts["proxy"]:
        raise BadPairing(f"{where}: native and proxy are both {texts['native']!r}; compare two benchmarks.")
    controls = _texts(entry, "controls", DEFAULT_CONTROLS, where)
    extra = _texts(entry, "extra_controls", (), where)
    repeated = sorted({c for c in controls + extra if (controls + extra).count(c) > 1})
    if repeated:
        raise BadPairing(f"{where}: the control {repeated[0]!r} is named twice.")
    return Pairing(
        **texts,
        controls=controls,
        extra_controls=extra,
        open_ended=open_ended,
        cs_share=None if share is None else float(share),
    )


def _texts(entry: dict[str, Any], key: str, default: tuple[str, ...], where: str) -> tuple[str, ...]:
    value = entry.get(key, list(default))
    if not isinstance(value, list) or not all(isinstance(text, str) and text.strip() for text in value):
        raise BadPairing(
            f'{where}: {key} must be a list of texts such as ["log(parameters)"], not {value!r}.'
        )
    return tuple(text.strip() for text in value)


def _path(content: dict[str, Any], key: str, path: Path) -> Path | None:
    value = content.get(key)
    if value is None:
        return None
    if not isinstance(value, str) or not value:
        raise BadPairing(f"{path}: {key} must be a path in quotes, not {value!r}.")
    return path.parent / value


def _abilities(table: Any, path: Path) -> tuple[tuple[str, AbilitySource], ...]:
    if not isinstance(table, dict) or not all(isinstance(entry, dict) for entry in table.values()):
        raise BadPairing(f'{path}: abilities are tables, [abilities.BENCHMARK] with results = "FOLDER".')
    sources = []
    for benchmark, entry in table.items():
        where = f"{path}, [abilities.{benchmark}]"
        _known(entry, _ABILITY, where)
        results, subset = entry.get("results"), entry.get("subset")
        if not isinstance(results, str) or not results:
            raise BadPairing(f"{where}: results must be the folder of a fit, not {results!r}.")
        if subset not in (None, "CA", "CS"):
            raise BadPairing(f"{where}: subset must be CA or CS (or be left out for both), not {subset!r}.")
        sources.append((benchmark, AbilitySource(path.parent / results, subset)))
    return tuple(sources)


def _reliability(table: Any, path: Path) -> tuple[tuple[str, float], ...]:
    if not isinstance(table, dict):
        raise BadPairing(f"{path}: reliability is a table, [reliability] with lines like proficiency = 0.97.")
    for name, value in table.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1:
            raise BadPairing(
                f"{path}, [reliability]: {name} must be a number above 0 and up to 1, not {value!r}."
            )
    return tuple((name, float(value)) for name, value in table.items())
