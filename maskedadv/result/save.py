"""Result folders: written whole under a temporary name, then renamed."""

from __future__ import annotations

import io
import json
import os
import shutil
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from maskedadv.errors import NotAResult
from maskedadv.files.digests import digests_below, is_sealed, read_checked, seal
from maskedadv.files.folders import check_folder, whole_folder
from maskedadv.gaps.contrasts import Uncertainty
from maskedadv.result.draws import DAMAGE, Posterior, as_netcdf, file_names, write_tree
from maskedadv.result.fit_result import Fit
from maskedadv.result.info import from_json
from maskedadv.settings import Settings
from maskedadv.vocabulary import SUBSETS, VARIANTS

FORMAT = 4
UNCERTAINTY, POSTERIOR, OTHER = "uncertainty", "posterior", "missing-answers-otherwise"
"""Folders of a result: a file for each variant; a folder for each base with a file for each locale; the
whole result with missing answers treated the other way."""


def save(fit: Fit, path: Path, *, overwrite: bool = False) -> Path:
    """Write `fit.json`, `cube.nc`, `gaps.csv`, `items.parquet`, `uncertainty/` and (NUTS) `posterior/`.

    The folder appears whole or not at all.

    Raises
    ------
    OutputExists
        It exists and `overwrite` is not given, or it holds something that is no result.
    """
    check_output(path, overwrite=overwrite)
    with whole_folder(path, _is_ours) as partial:
        (partial / "cube.nc").write_bytes(as_netcdf(fit.cube))
        fit.gaps().to_csv(partial / "gaps.csv", index=False)
        fit.items.to_parquet(partial / "items.parquet", index=False)
        (partial / UNCERTAINTY).mkdir()
        for variant, own in fit.uncertainty.items():
            _save_uncertainty(own, partial / UNCERTAINTY / f"{variant}.npz")
        if len(fit.variants) > 1:
            fit.variant_gaps(mean=False).to_csv(partial / "variants.csv", index=False)
            fit.links().to_csv(partial / "links.csv", index=False)
        for base, posteriors in fit.posteriors.items():
            _save_posteriors(posteriors, partial / POSTERIOR / base)
        if fit.other is not None:
            save(fit.other, partial / OTHER)
        content = {
            "format": FORMAT,
            "settings": fit.settings.as_json(),
            **fit.info.as_json(),
            "files": digests_below(partial),
        }
        text = json.dumps(seal(content), indent=1, ensure_ascii=False, allow_nan=False)
        (partial / "fit.json").write_text(text + "\n", "utf-8")
    return path.resolve()


def _is_ours(name: str) -> bool:
    """Names that a result folder may hold of our making."""
    fixed = {"fit.json", "cube.nc", "gaps.csv", "variants.csv", "links.csv", "items.parquet"}
    earlier = {"uncertainty.nc", "posterior-floor"} | {
        f"uncertainty-{v}.nc" for v in ("floor", "linked", "floor-linked")
    }
    return name in fixed | earlier | {UNCERTAINTY, POSTERIOR, OTHER}


def check_output(path: Path, *, overwrite: bool) -> None:
    """Refuse a folder that may not be written, before any work is done.

    Raises
    ------
    OutputExists
    """
    check_folder(path, "fit.json", None, overwrite=overwrite)


def same_run(path: Path, fingerprint: str, settings: Settings) -> bool:
    """Whether a folder holds the finished result of the same table under the same settings and version."""
    from maskedadv import __version__

    try:
        info = json.loads((path / "fit.json").read_text("utf-8"))
    except (OSError, ValueError):
        return False
    if not isinstance(info, dict):
        return False
    wanted = settings.as_json()
    return bool(
        info.get("fingerprint") == fingerprint
        and info.get("settings") == wanted
        and info.get("maskedadv") == __version__
    )


def load(path: str | Path) -> Fit:
    """Read a result folder; gives what `maskedadv.fit` returned.

    Raises
    ------
    NotAResult
        The folder is not one that `Fit.save` wrote, or is damaged.
    """
    folder = Path(path)
    if not (folder / "fit.json").is_file():
        raise NotAResult(
            f"{folder} is no result folder (it has no fit.json); give the folder that fit wrote."
        )
    try:
        content: dict[str, Any] = json.loads((folder / "fit.json").read_text("utf-8"))
        sealed, _ = is_sealed(content), content.pop("sha256", None)
        written = content.pop("format")
        if written != FORMAT:
            raise NotAResult(
                f"{folder} was written by another version of maskedadv (format {written}, this one reads "
                f"{FORMAT}); fit again."
            )
        if not sealed:
            raise NotAResult(f"{folder / 'fit.json'} is damaged or was edited (another SHA-256); fit again.")
        digests: dict[str, str] = content.pop("files")

        def read(name: str) -> io.BytesIO:
            return io.BytesIO(read_checked(folder / name, digests[name]))

        settings = Settings(**content["settings"])
        info = from_json(content)
        with xr.open_dataset(read("cube.nc"), engine="h5netcdf") as opened:
            cube = _as_objects(opened.load())
        items = pd.read_parquet(read("items.parquet"))
        variants = [str(v) for v in cube["variant"].values]
        uncertainty = {v: _load_uncertainty(read(f"{UNCERTAINTY}/{v}.npz")) for v in variants}
        bases = dict.fromkeys(VARIANTS[v][0] for v in variants) if settings.method == "nuts" else {}
        posteriors = {
            base: _load_posteriors(folder, f"{POSTERIOR}/{base}", info.locales, digests) for base in bases
        }
    except DAMAGE as error:
        raise NotAResult(f"{folder} is damaged ({type(error).__name__}: {error}); fit again.") from error
    other = load(folder / OTHER) if any(name.startswith(f"{OTHER}/") for name in digests) else None
    return Fit(settings, cube, items, uncertainty, info, posteriors, other)


def _as_objects(data: xr.Dataset) -> xr.Dataset:
    """Text variables come back in whatever string type the library prefers; give them as plain objects."""
    for name in data.variables:
        variable = data[name]
        if variable.dtype.kind in "OUTS":
            data = (
                data.assign_coords({name: variable.astype(object)})
                if name in data.coords
                else data.assign({name: variable.astype(object)})
            )
        data[name].encoding = {}
    data.encoding = {}
    return data


def _save_uncertainty(uncertainty: Mapping[str, Uncertainty], path: Path) -> None:
    """NumPy arrays in a zip, whose checksums notice damage: those of all locales one after the other, as each
    array costs time to open; of every subset only the rows that concern it."""
    with zipfile.ZipFile(path, "w") as archive:  # as np.savez does, with one array in memory at a time
        for name, array in _arrays_of(uncertainty):
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, array, allow_pickle=False)


def _arrays_of(uncertainty: Mapping[str, Uncertainty]) -> Iterator[tuple[str, NDArray[Any]]]:
    parts = list(uncertainty.values())
    yield "locale", np.array(list(uncertainty), dtype=str)
    yield "kind", np.array([own.kind for own in parts], dtype=str)
    yield "shape", np.array([own.values.shape for own in parts], dtype=np.intp).reshape(-1, 3)
    yield "key", _joined([own.key.astype(str) for own in parts])
    for s in range(len(SUBSETS)):
        rows = [np.flatnonzero(own.values[:, s].any(axis=1)) for own in parts]
        yield f"count {s}", np.array([len(own) for own in rows], dtype=np.intp)
        yield f"rows {s}", _joined(rows)
        sizes = [len(own) * u.values.shape[2] for u, own in zip(parts, rows, strict=True)]
        values = np.empty(sum(sizes))
        for u, own, end, size in zip(parts, rows, np.cumsum(sizes), sizes, strict=True):
            values[end - size : end] = u.values[own, s].ravel()
        yield f"values {s}", values


def _joined(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    return np.concatenate(parts) if parts else np.zeros(0)


def _load_uncertainty(file: io.BytesIO) -> dict[str, Uncertainty]:
    with np.load(file, allow_pickle=False) as opened:
        arrays = {name: opened[name] for name in opened.files}
    shapes = arrays["shape"]
    values = [np.zeros(shape) for shape in shapes]
    for s in range(len(SUBSETS)):
        counts = arrays[f"count {s}"]
        rows = np.split(arrays[f"rows {s}"], np.cumsum(counts)[:-1])
        numbers = np.split(arrays[f"values {s}"], np.cumsum(counts * shapes[:, 2])[:-1])
        for own, at, flat in zip(values, rows, numbers, strict=True):
            own[at, s] = flat.reshape(len(at), own.shape[2])
    keys = np.split(arrays["key"].astype(object), np.cumsum(shapes[:, 0])[:-1])
    return {
        str(locale): Uncertainty(str(kind), key, own)
        for locale, kind, key, own in zip(arrays["locale"], arrays["kind"], keys, values, strict=True)
    }


def _save_posteriors(posteriors: Mapping[str, Posterior], folder: Path) -> None:
    """One ArviZ file per locale; files that exist already are linked, where the system can."""
    names = file_names(list(posteriors))
    for locale, posterior in posteriors.items():
        if isinstance(posterior.source, Path):
            folder.mkdir(parents=True, exist_ok=True)
            try:
                os.link(posterior.source, folder / names[locale])
            except OSError:
                shutil.copyfile(posterior.source, folder / names[locale])
        else:
            write_tree(posterior.source, folder / names[locale])


def _load_posteriors(
    folder: Path, name: str, locales: Sequence[str], digests: Mapping[str, str]
) -> dict[str, Posterior]:
    """Posteriors stay in their files until they are asked for."""
    files = file_names(list(locales))
    missing = [file for file in files.values() if not (folder / name / file).is_file()]
    if missing:
        raise NotAResult(f"{folder} lacks {name}/{missing[0]}; fit again.")
    return {
        k: Posterior(folder.absolute() / name / file, digests[f"{name}/{file}"]) for k, file in files.items()
    }
