"""The file that says how an item set is built: sources, models and steps, in TOML."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from maskedadv.errors import BadBuild
from maskedadv.files.toml import read_toml
from maskedadv.scoring.endpoints.purse import Purse
from maskedadv.scoring.endpoints.settings import ApiSettings

ANNOTATE, GIVEN = "annotate", "given"
_MODEL_KEYS = {
    "max_answer_tokens": int,
    "concurrency": int,
    "retries": int,
    "timeout": float,
    "price_in": float,
    "price_out": float,
    "key_variable": str,
}


@dataclass(frozen=True)
class Source:
    """Files of items, and what holds for all of them.

    Attributes
    ----------
    files
        In the project's schema, or that of a public set named by `kind` (maskedadv items sources).
    licence
        Under which the items may be used; goes into the set.
    label
        "annotate": models say whether an item is CA or CS. "given": the file does.
    subject
        Column with the subject in the source.
    """

    name: str
    files: tuple[Path, ...]
    licence: str
    kind: str = "items"
    label: str = ANNOTATE
    subject: str = "subject"
    language: str = ""


@dataclass(frozen=True)
class Sampling:
    """As `sample_items` takes it."""

    cap: int
    subset: str | None
    by_subject: bool


@dataclass(frozen=True)
class BuildPlan:
    """What a build file says; steps that it does not name are left out.

    Attributes
    ----------
    annotators
        By name; empty where no source is to be annotated.
    translator, back_translator
        Name and settings; None for nobody.
    keep_flagged
        Whether counterparts with a flag that nobody has reviewed are in the set.
    decisions
        Where the decisions of a review are, or will be.
    """

    name: str
    pivot: str
    seed: int
    sources: tuple[Source, ...]
    definition: Any
    annotators: Mapping[str, ApiSettings]
    sampling: Sampling | None
    translator: tuple[str, ApiSettings] | None
    back_translator: tuple[str, ApiSettings] | None
    keep_flagged: bool
    decisions: Path | None


def read_build(path: Path, purse: Purse | None = None) -> BuildPlan:
    """Read a build file. Paths in it are relative to its folder.

    Parameters
    ----------
    purse
        What all models together may cost.

    Raises
    ------
    UnreadableFile, BadBuild
    BadSetting
        A setting of a model that is out of its range, or an address with a key in it.
    """
    content = read_toml(path, BadBuild)
    top = _Table(content, str(path), "")
    head = top.table("set", needed=True)
    sources = [_source(t, path.parent) for t in top.tables("source")]
    if not sources:
        raise BadBuild(f"{path} has no [[source]]; name the items that the set is made of.")
    names = [s.name for s in sources]
    if twice := [name for name in names if names.count(name) > 1]:
        raise BadBuild(f"{path}: two sources are called {twice[0]!r}.")
    labelling, sampling = top.table("annotate"), top.table("sample")
    translating, review = top.table("translate"), top.table("review")
    models = [_model(t, purse) for t in labelling.tables("model")]
    if len(dict(models)) < len(models):
        raise BadBuild(f"{path}, [[annotate.model]]: two models have the same name.")
    if any(s.label == ANNOTATE for s in sources) and not models:
        raise BadBuild(
            f"{path}: a source is to be annotated, and there is no [[annotate.model]]; name one, or write "
            'label = "given" into the source.'
        )
    plan = BuildPlan(
        name=head.text("name"),
        pivot=head.text("pivot", "en"),
        seed=head.value("seed", int, 1),
        sources=tuple(sources),
        definition=labelling.choice("definition", ("full", "binary"), "full"),
        annotators=dict(models),
        sampling=_sampling(sampling) if sampling.given else None,
        translator=_one_model(translating, "model", purse),
        back_translator=_one_model(translating, "back_model", purse),
        keep_flagged=translating.choice("flagged", ("out", "in"), "out") == "in",
        decisions=path.parent / review.text("decisions") if review.given else None,
    )
    for table in (head, labelling, sampling, translating, review, top):
        table.refuse_rest()
    if plan.back_translator and not plan.translator:
        raise BadBuild(
            f"{path}: [translate.back_model] without a [translate.model] has nothing to translate."
        )
    return plan


class _Table:
    """A table of the file: what is read from it, and what is left."""

    def __init__(self, content: Mapping[str, Any] | None, path: str, name: str) -> None:
        self.given = content is not None
        self._left = dict(content or {})
        self._path = path
        self._where = f"{path}, [{name}]" if name else path
        self._name = name

    def value(self, key: str, kind: type, default: Any = None) -> Any:
        found = self._left.pop(key, default)
        if found is None:
            raise BadBuild(f"{self._where}: the key {key!r} is missing.")
        if kind is float and isinstance(found, int) and not isinstance(found, bool):
            found = float(found)
        if not isinstance(found, kind) or (isinstance(found, bool) and kind is not bool):
            raise BadBuild(f"{self._where}: {key} is {found!r}, and should be {_KINDS[kind]}.")
        return found

    def text(self, key: str, default: str | None = None) -> str:
        found = str(self.value(key, str, default))
        if default is None and not found.strip():
            raise BadBuild(f"{self._where}: {key} is empty.")
        return found

    def choice(self, key: str, allowed: tuple[str, ...], default: str) -> str:
        found = self.text(key, default)
        if found not in allowed:
            raise BadBuild(f"{self._where}: {key} is {found!r}, and should be one of {', '.join(allowed)}.")
        return found

    def table(self, key: str, *, needed: bool = False) -> _Table:
        found, name = self._left.pop(key, None), f"{self._name}.{key}".lstrip(".")
        if needed and found is None:
            raise BadBuild(f"{self._where}: the table [{key}] is missing.")
        if found is not None and not isinstance(found, dict):
            raise BadBuild(f"{self._where}: {key} is a table, [{name}].")
        return _Table(found, self._path, name)

    def tables(self, key: str) -> list[_Table]:
        found, name = self._left.pop(key, []), f"{self._name}.{key}".lstrip(".")
        if not isinstance(found, list) or not all(isinstance(x, dict) for x in found):
            raise BadBuild(f"{self._where}: {key} is a list of tables, [[{name}]].")
        return [_Table(x, self._path, name) for x in found]

    def refuse_rest(self) -> None:
        if self._left:
            key = sorted(self._left)[0]
            more = "; keys of endpoints stay in environment variables" if "key" in key.lower() else ""
            raise BadBuild(f"{self._where}: {key!r} is not known{more}.")


_KINDS: dict[type, str] = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}


def _source(table: _Table, folder: Path) -> Source:
    files = table._left.pop("items", None)
    listed = [files] if isinstance(files, str) else files
    if not isinstance(listed, list) or not listed or not all(isinstance(x, str) and x for x in listed):
        raise BadBuild(f"{table._where}: items is a path, or a list of paths.")
    found = Source(
        table.text("name"),
        tuple(folder / x for x in listed),
        table.text("licence"),
        table.text("kind", "items"),
        table.choice("label", (ANNOTATE, GIVEN), ANNOTATE),
        table.text("subject", "subject"),
        table.text("language", ""),
    )
    table.refuse_rest()
    return found


def _sampling(table: _Table) -> Sampling:
    subset = table.choice("subset", ("CA", "CS", "all"), "all")
    cap = table.value("cap", int, 1000)
    if cap < 1:
        raise BadBuild(f"{table._where}: cap is at least 1, not {cap}.")
    return Sampling(cap, None if subset == "all" else subset, table.value("by_subject", bool, True))


def _one_model(table: _Table, key: str, purse: Purse | None) -> tuple[str, ApiSettings] | None:
    found = table.table(key)
    return _model(found, purse) if found.given else None


def _model(table: _Table, purse: Purse | None) -> tuple[str, ApiSettings]:
    model = table.text("model")
    name, url = table.text("name", model), table.text("api")
    in_words = table.value("words", bool, False)
    more = {key: table.value(key, kind) for key, kind in _MODEL_KEYS.items() if key in table._left}
    table.refuse_rest()
    more.setdefault("max_answer_tokens", 2048)
    if purse is not None and not (more.get("price_in") or more.get("price_out")):
        if not {"price_in", "price_out"} <= more.keys():
            raise BadBuild(
                f"{table._where}: --max-cost needs the price of every model; give price_in and price_out for "
                "a million tokens (0 and 0 for a model that costs nothing)."
            )
        purse = None
    return name, ApiSettings(model, url, answers="text" if in_words else "choice", purse=purse, **more)
