"""Result folders: written whole under a temporary name, then renamed."""

from __future__ import annotations

import io
import os
import shutil
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pandas as pd
import xarray as xr

from maskedadv.errors import NotAResult
from maskedadv.files.damage import DAMAGE, in_words, json_object_or_none
from maskedadv.files.digests import digests_below
from maskedadv.files.folders import check_folder, whole_folder
from maskedadv.files.manifest import open_listed, read_manifest, write_manifest
from maskedadv.result.draws import Posterior, as_netcdf, file_names, write_tree
from maskedadv.result.fit_result import Fit
from maskedadv.result.info import from_json
from maskedadv.result.uncertainty_files import load_uncertainty, save_uncertainty
from maskedadv.settings import Settings
from maskedadv.vocabulary import VARIANTS

FORMAT = 5
UNCERTAINTY, POSTERIOR, OTHER = "uncertainty", "posterior", "missing-answers-otherwise"
"""Folders of a result: a file (or a folder of files) for each variant; a folder for each base with a file for
each locale; the whole result with missing answers treated the other way."""

_THREADS = 2
"""That write the large arrays, and look at the bytes, while this one writes the tables."""


def save(fit: Fit, path: Path, *, overwrite: bool = False) -> Path:
    """Write `fit.json`, `cube.nc`, `gaps.csv`, `items.parquet`, `uncertainty/` and (NUTS) `posterior/`.

    The folder appears whole or not at all.

    Raises
    ------
    OutputExists
        It exists and `overwrite` is not given, or it holds something that is no result.
    """
    check_output(path, overwrite=overwrite)
    with whole_folder(path, _is_ours) as partial, ThreadPoolExecutor(_THREADS) as pool:
        (partial / UNCERTAINTY).mkdir()
        written = [
            pool.submit(save_uncertainty, own, partial / UNCERTAINTY, variant)
            for variant, own in fit.uncertainty.items()
        ]
        (partial / "cube.nc").write_bytes(as_netcdf(fit.cube))
        fit.gaps().to_csv(partial / "gaps.csv", index=False)
        fit.items.to_parquet(partial / "items.parquet", index=False)
        if len(fit.variants) > 1:
            fit.variant_gaps(mean=False).to_csv(partial / "variants.csv", index=False)
            fit.links().to_csv(partial / "links.csv", index=False)
        for base, posteriors in fit.posteriors.items():
            _save_posteriors(posteriors, partial / POSTERIOR / base)
        if fit.other is not None:
            save(fit.other, partial / OTHER)
        for each in written:
            each.result()
        content = {"settings": fit.settings.as_json(), **fit.info.as_json()}
        write_manifest(partial / "fit.json", content, form=FORMAT, files=digests_below(partial, pool))
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

    info = json_object_or_none(path / "fit.json") or {}
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
        content, digests = read_manifest(folder / "fit.json", form=FORMAT, mend="fit again")

        def read(name: str) -> io.BytesIO:
            return open_listed(folder, name, digests, "fit again")

        settings = Settings(**content["settings"])
        info = from_json(content)
        with xr.open_dataset(read("cube.nc"), engine="h5netcdf") as opened:
            cube = _as_objects(opened.load())
        items = pd.read_parquet(read("items.parquet"))
        variants = [str(v) for v in cube["variant"].values]
        locales = [str(k) for k in cube["locale"].values]
        uncertainty = {v: load_uncertainty(folder, f"{UNCERTAINTY}/{v}", locales, digests) for v in variants}
        bases = dict.fromkeys(VARIANTS[v][0] for v in variants) if settings.method == "nuts" else {}
        posteriors = {
            base: _load_posteriors(folder, f"{POSTERIOR}/{base}", info.locales, digests) for base in bases
        }
    except DAMAGE as error:
        raise NotAResult(f"{folder} is damaged ({in_words(error)}); fit again.") from error
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
