"""The joint uncertainty of gaps in files: all locales of a variant in one, or, where they are many, one each.

One file is quick to open; a file for each locale is read when the locale is its turn, and memory holds one.
"""

from __future__ import annotations

import io
import weakref
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from maskedadv.errors import NotAResult
from maskedadv.files.alive import temporary_folder
from maskedadv.files.digests import check_file, read_checked
from maskedadv.gaps.by_subset import BySubset
from maskedadv.gaps.contrasts import Array, Part, Uncertainty
from maskedadv.vocabulary import SUBSETS

if TYPE_CHECKING:  # a result is read without what fits
    from maskedadv.gaps.variants import Variants


class StoredUncertainty(Uncertainty):
    """One locale's uncertainty, whose rows are read whenever they are asked for.

    Parameters
    ----------
    path : of a file that holds this locale alone
    digest : SHA-256 that the file must have; None for a file of this very run
    models : those that are asked for, shape (J,); None for all
    holder : what must live as long as the file is needed
    """

    def __init__(
        self,
        path: Path,
        digest: str | None = None,
        models: NDArray[np.bool_] | None = None,
        holder: object = None,
    ) -> None:
        own = {"path": path, "digest": digest, "models": models, "holder": holder}
        for name, value in own.items():
            object.__setattr__(self, name, value)

    path: Path
    digest: str | None
    models: NDArray[np.bool_] | None
    holder: object

    @property
    def kind(self) -> str:
        """See `Uncertainty`."""
        return str(self._member("kind")[0])

    @property
    def key(self) -> NDArray[np.object_]:
        """See `Uncertainty`."""
        return self._member("key").astype(object)

    @property
    def values(self) -> Array:
        """See `Uncertainty`."""
        return self._read().values

    def parts(self) -> tuple[Part, ...]:
        """See `Uncertainty`."""
        return self._read().parts()

    def of_models(self, used: NDArray[np.bool_]) -> Uncertainty:
        """For some of the models, of all."""
        return self if used.all() else StoredUncertainty(self.path, self.digest, used, self.holder)

    def _read(self) -> Uncertainty:
        check_file(self.path, self.digest)
        with np.load(self.path, allow_pickle=False) as arrays:
            (only,) = _split({name: arrays[name] for name in arrays.files}).values()
        return only if self.models is None else only.of_models(self.models)

    def _member(self, name: str) -> NDArray[Any]:
        return _small(self.path, self.digest, name)


@cache
def _small(path: Path, digest: str | None, name: str) -> NDArray[Any]:
    check_file(path, digest)
    with np.load(path, allow_pickle=False) as arrays:
        return np.asarray(arrays[name])


class Shelf:
    """A temporary folder for the uncertainty of a run's locales, there as long as any of it is needed."""

    def __init__(self) -> None:
        stack = ExitStack()
        self.folder = stack.enter_context(temporary_folder())
        weakref.finalize(self, stack.close)

    def put(self, variants: Variants) -> Variants:
        """The same with the uncertainty in files."""
        out: dict[str, dict[str, Uncertainty]] = {}
        for variant, own in variants.uncertainty.items():
            out[variant] = {}
            for locale, spread in own.items():
                path = self.folder / f"{sum(1 for _ in self.folder.iterdir())}.npz"
                write_uncertainty({locale: spread}, path)
                out[variant][locale] = StoredUncertainty(path, holder=self)
        return replace(variants, uncertainty=out)


def save_uncertainty(uncertainty: Mapping[str, Uncertainty], folder: Path, variant: str) -> None:
    """One variant: as a file, or, where its locales lie in files, as a folder with a file for each."""
    if not any(isinstance(own, StoredUncertainty) for own in uncertainty.values()):
        write_uncertainty(uncertainty, folder / f"{variant}.npz")
        return
    (folder / variant).mkdir()
    for k, (locale, own) in enumerate(uncertainty.items()):
        write_uncertainty({locale: own}, folder / variant / f"{k}.npz")


def load_uncertainty(
    folder: Path, name: str, locales: Sequence[str], digests: Mapping[str, str]
) -> dict[str, Uncertainty]:
    """One variant of a result folder.

    Parameters
    ----------
    name : of its file in the folder, without the ending
    digests : of all files of the result, by name

    Raises
    ------
    NotAResult
        A file is missing or damaged.
    KeyError, OSError, ValueError
        The same, in other words.
    """
    if f"{name}.npz" in digests:
        return _read(io.BytesIO(read_checked(folder / f"{name}.npz", digests[f"{name}.npz"])))
    out: dict[str, Uncertainty] = {}
    for k, locale in enumerate(locales):
        path = folder / name / f"{k}.npz"
        if not path.is_file():
            raise NotAResult(f"{folder} lacks {name}/{k}.npz; fit again.")
        out[locale] = StoredUncertainty(path.absolute(), digests[f"{name}/{k}.npz"])
    return out


def write_uncertainty(uncertainty: Mapping[str, Uncertainty], path: Path) -> None:
    """NumPy arrays in a zip, whose checksums notice damage: those of all locales one after the other, as each
    array costs time to open; of every subset only the rows that concern it."""
    with zipfile.ZipFile(path, "w") as archive:  # as np.savez does, with one array in memory at a time
        for name, array in _arrays_of(uncertainty):
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                _write_array(file, np.ascontiguousarray(array))


def _write_array(file: IO[bytes], array: NDArray[Any]) -> None:
    """As `numpy.lib.format.write_array`, which copies piece by piece what is no file of the system."""
    np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(array))
    if array.size:
        file.write(array.view(np.uint8).data)


def _arrays_of(uncertainty: Mapping[str, Uncertainty]) -> Iterator[tuple[str, NDArray[Any]]]:
    own = list(uncertainty.values())
    parts = [[_concerned(part) for part in u.parts()] for u in own]
    shapes = [(len(u.key), len(SUBSETS), p[0][1].shape[1]) for u, p in zip(own, parts, strict=True)]
    yield "locale", np.array(list(uncertainty), dtype=str)
    yield "kind", np.array([u.kind for u in own], dtype=str)
    yield "shape", np.array(shapes, dtype=np.intp).reshape(-1, 3)
    yield "key", _joined([u.key.astype(str) for u in own])
    for s in range(len(SUBSETS)):
        yield f"count {s}", np.array([len(part[s][0]) for part in parts], dtype=np.intp)
        yield f"rows {s}", _joined([part[s][0] for part in parts])
        yield f"values {s}", _joined([part[s][1].ravel() for part in parts])


def _concerned(part: Part) -> Part:
    """Without rows of zeros, in the order of their places."""
    place, rows = part
    some = np.flatnonzero(rows.any(axis=1))
    if len(some) == len(place) and (np.diff(place) > 0).all():
        return part
    some = some[np.argsort(place[some])]
    return place[some], rows[some]


def _joined(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    return np.concatenate(parts) if parts else np.zeros(0)


def _read(file: io.BytesIO) -> dict[str, Uncertainty]:
    with np.load(file, allow_pickle=False) as opened:
        return _split({name: opened[name] for name in opened.files})


def _split(arrays: Mapping[str, NDArray[Any]]) -> dict[str, Uncertainty]:
    """What `write_uncertainty` put into arrays."""
    shapes = arrays["shape"]
    parts: list[list[Part]] = [[] for _ in shapes]
    for s in range(len(SUBSETS)):
        counts = arrays[f"count {s}"]
        rows = np.split(arrays[f"rows {s}"], np.cumsum(counts)[:-1])
        numbers = np.split(arrays[f"values {s}"], np.cumsum(counts * shapes[:, 2])[:-1])
        for own, at, flat, shape in zip(parts, rows, numbers, shapes, strict=True):
            own.append((at, flat.reshape(len(at), shape[2])))
    keys = np.split(arrays["key"].astype(object), np.cumsum(shapes[:, 0])[:-1])
    return {
        str(locale): BySubset(str(kind), key, own)
        for locale, kind, key, own in zip(arrays["locale"], arrays["kind"], keys, parts, strict=True)
    }
