"""What paths say of model and language, where the tables do not: guessed from which parts differ."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import unquote

from maskedadv.scoring.importers.guess_names import as_language, is_language, looks_like_models
from maskedadv.scoring.importers.paths import path_fields
from maskedadv.scoring.importers.table_sources import TableFile
from maskedadv.words.lists import first_few

_STEM = r"(?:\.[A-Za-z0-9]{1,8}){1,2}"
_TAIL_ONLY = r"[_.](?P<language>[a-z]{2,3}(?:[-_][A-Z][a-z]{3}|-[A-Z]{2})?)"
_TAIL = r"(?P<set>.+?)" + _TAIL_ONLY
_SPLITS = (  # stems of two things, the language one of them
    (r"(?P<language>[A-Za-z-]{2,8})[_.](?P<model>.+)", "the language, then the model"),
    (r"(?P<model>.+)[_.](?P<language>[A-Za-z]{2,3}(?:-[A-Za-z]{2,4})?)", "the model, then the language"),
)


@dataclass
class PathRoles:
    """Which part of the path says what.

    Attributes
    ----------
    fields
        "model" or "language" -> a template such as "{path.-2}" or "{stem}".
    pattern
        For names of two things, such as eu_model-a.csv; '' where none is needed.
    others
        Templates of parts that differ and say neither: ids may begin anew in each.
    models, languages
        How names in the path are to be written.
    why
        "model" or "language" -> what was seen.
    """

    fields: dict[str, str] = field(default_factory=dict)
    pattern: str = ""
    others: list[str] = field(default_factory=list)
    models: dict[str, str] = field(default_factory=dict)
    languages: dict[str, str] = field(default_factory=dict)
    why: dict[str, str] = field(default_factory=dict)


def find_path_roles(files: Sequence[TableFile], wanted: Sequence[str]) -> PathRoles:
    """Take the parts of the paths for what the tables lack.

    Parameters
    ----------
    wanted
        Those of "model" and "language" that nothing else says.
    """
    roles = PathRoles()
    places = _differing(files)
    wanted = list(wanted)
    if "language" in wanted:
        coded = [t for t, values in places.items() if all(as_language(v) for v in values)]
        if coded:
            _take(roles, "language", coded[0], places)
            roles.languages = {v: as_language(v) for v in places[coded[0]] if not is_language(v)}
            places.pop(coded[0])
            wanted.remove("language")
    if "language" in wanted and _tail_of_stem(places, roles):
        places.pop("{stem}")
        wanted.remove("language")
    if {"model", "language"} <= set(wanted) and _split_stem(files, places, roles):
        places.pop("{stem}", None)
        wanted = []
    if "language" in wanted and len(files) == 1:
        single = path_fields(files[0].parts)
        parts = [k for k, v in single.items() if k.startswith("path.-") and k != "path.-1" and as_language(v)]
        if as_language(single["stem"]):
            parts = ["stem"]
        if parts:
            value = single[parts[0]]
            roles.fields["language"], roles.why["language"] = f"{{{parts[0]}}}", value
            roles.languages = {} if is_language(value) else {value: as_language(value)}
            wanted.remove("language")
    if "model" in wanted and places:
        best = max(places, key=lambda t: (_like_models(places[t]), t != "{stem}", -len(t)))
        _take(roles, "model", best, places)
        places.pop(best)
    elif "model" in wanted:
        _only_model(files, roles)
    roles.others = list(places) if len(files) > 1 else []
    if template := roles.fields.get("model"):
        values = {path_fields(f.parts)[template.strip("{}")] for f in files}
        roles.models = {
            v: v.replace("__", "/", 1) for v in sorted(values) if re.fullmatch(r"[^_]+__[^_].*", v)
        }
    return roles


def _like_models(values: list[str]) -> float:
    return looks_like_models(values) / len(values)


def _differing(files: Sequence[TableFile]) -> dict[str, list[str]]:
    """Template -> values of the parts of the paths that differ between files, the stem first."""
    fields = [path_fields(file.parts) for file in files]
    shortest = min(len(file.parts) for file in files)
    found = {}
    for place, name in [(-1, "stem"), *((-n, f"path.-{n}") for n in range(2, shortest + 1))]:
        values = list(dict.fromkeys(each[name] for each in fields))
        hive = all("=" in unquote(file.parts[place]) for file in files)
        if len(values) > 1 and not hive:
            found[f"{{{name}}}"] = values
    return found


def _take(roles: PathRoles, what: str, template: str, places: dict[str, list[str]]) -> None:
    roles.fields[what] = template
    roles.why[what] = first_few(places[template])


def _tail_of_stem(places: dict[str, list[str]], roles: PathRoles) -> bool:
    """Whether file names end in a language and the folders above them differ: model-a/quiz_eu.json."""
    stems = places.get("{stem}", [])
    matches = [re.fullmatch(_TAIL, stem) for stem in stems]
    if len(places) < 2 or not all(match is not None and as_language(match["language"]) for match in matches):
        return False
    tails = sorted({match["language"] for match in matches if match is not None})
    several = len({match["set"] for match in matches if match is not None}) > 1
    roles.pattern = r"(?:.+/)?" + (r"(?P<set>[^/]+)" if several else r"[^/]+?") + _TAIL_ONLY + _STEM
    roles.fields["language"], roles.why["language"] = "", f"how the file names end: {', '.join(tails[:3])}"
    roles.languages = {tail: as_language(tail) for tail in tails if not is_language(tail)}
    if several:
        places["{set}"] = sorted({match["set"] for match in matches if match is not None})
    return True


def _split_stem(files: Sequence[TableFile], places: dict[str, list[str]], roles: PathRoles) -> bool:
    """Whether the file names say both language and model, as eu_model-a.csv does."""
    stems = places.get("{stem}", [])
    for pattern, words in _SPLITS:
        matches = [re.fullmatch(pattern, stem) for stem in stems]
        if len(stems) > 1 and all(m is not None and is_language(m["language"]) for m in matches):
            inner = files[0].in_folder and max(len(file.parts) for file in files) > 2
            roles.pattern = (r"(?:.+/)?" if inner else "") + pattern.replace(".+", "[^/]+") + _STEM
            roles.fields |= {"model": "", "language": ""}
            roles.why |= {"model": f"the file names: {words}", "language": f"the file names: {words}"}
            return True
    return False


def _only_model(files: Sequence[TableFile], roles: PathRoles) -> None:
    """One file, or files that differ in the language alone: the part that looks most like a model."""
    first = path_fields(files[0].parts)
    names = ["stem"] if len(files) == 1 else []
    names += [f"path.-{n}" for n in range(2, len(files[0].parts) + 1)]
    taken = roles.fields.get("language", "").strip("{}")
    names = [n for n in names if n in first and n != taken and "=" not in first[n]]
    if not names:
        return
    best = max(names, key=lambda n: (looks_like_models([first[n]]), n == "stem", -len(n)))
    roles.fields["model"], roles.why["model"] = f"{{{best}}}", first[best]
