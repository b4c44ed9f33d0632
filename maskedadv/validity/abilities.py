"""Abilities of a fitted cube as scores, with their standard errors."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr

from maskedadv.errors import NotAResult
from maskedadv.files.digests import read_checked, stated_digest
from maskedadv.validity.pairings import AbilitySource
from maskedadv.validity.reliability import STANDARD_ERRORS
from maskedadv.validity.scores import Scores, concat_scores, empty_scores
from maskedadv.words.lists import first_few

_DIMS = ("locale", "model", "subset", "query")


def load_cubes(sources: tuple[tuple[str, AbilitySource], ...]) -> dict[Path, xr.Dataset]:
    """The cube of every result folder named, read once.

    Raises
    ------
    NotAResult
        A folder holds no readable cube.nc with `ability` and `ability_sd`.
    """
    return {folder: _open(folder) for folder in sorted({source.results for _, source in sources})}


def _open(folder: Path) -> xr.Dataset:
    path = folder / "cube.nc"
    try:
        content = read_checked(path, stated_digest(folder / "fit.json", path.name))
        with xr.open_dataset(io.BytesIO(content), engine="h5netcdf") as opened:
            cube = opened.load()
    except (OSError, ValueError) as error:
        raise NotAResult(
            f"{folder} holds no readable cube.nc ({error}); give the folder of a fit."
        ) from error
    absent = [
        name for name in ("ability", "ability_sd") if name not in cube or set(cube[name].dims) != set(_DIMS)
    ]
    if absent or "language" not in cube.coords:
        what = absent[0] if absent else "the coordinate language"
        raise NotAResult(f"{path} lacks {what} over ({', '.join(_DIMS)}); give the folder of a fit.")
    return cube


def ability_scores(
    sources: tuple[tuple[str, AbilitySource], ...], cubes: dict[Path, xr.Dataset], locale: str
) -> Scores:
    """Abilities of one locale's models, in its own language and in the pivot, as scores of benchmarks.

    With one subset, that subset's abilities are the benchmark's scores (group ALL). With both, the
    groups CA and CS are the two abilities and ALL their mean weighted by numbers of items; CA and CS
    levels are comparable up to a constant only, which no rank and no slope depends on.
    """
    parts = [empty_scores()]
    for benchmark, source in sources:
        cube = cubes[source.results]
        if locale in cube["locale"].to_numpy():
            parts.append(_benchmark(benchmark, _tidy(cube.sel(locale=locale), source.subset)))
    return concat_scores(parts)


def _benchmark(benchmark: str, frame: pd.DataFrame) -> Scores:
    frame = frame.assign(benchmark=benchmark)
    infinite = sorted(set(frame.loc[np.isinf(frame["score"]), "model"]))
    notes = []
    if infinite:
        shown = first_few(infinite)
        notes.append(
            f"{benchmark}: {len(infinite)} models have an infinite ability (all or no answers right) "
            f"and count as absent there: {shown}."
        )
    frame = frame.loc[np.isfinite(frame["score"]) & np.isfinite(frame["sd"])]
    sized = frame.loc[frame["n_items"] > 0].groupby(["benchmark", "language", "group"])["n_items"].max()
    return Scores(
        table=frame[["model", "benchmark", "language", "group", "score", "sd"]].assign(
            error=frame["sd"] ** 2, basis=STANDARD_ERRORS
        ),
        counts=sized.astype(int).reset_index(),
        items=empty_scores().items,
        notes=tuple(notes),
    )


def _tidy(cube: xr.Dataset, subset: str | None) -> pd.DataFrame:
    """Columns model, language, group, score, sd, n_items of one locale's cube."""
    language = dict(zip(cube["query"].to_numpy(), cube["language"].to_numpy(), strict=True))
    names = ["ability", "ability_sd", *(["n_items"] if "n_items" in cube else [])]
    wide = cube[names].to_dataframe(dim_order=["model", "subset", "query"])[names].reset_index()
    wide = wide.rename(columns={"ability": "score", "ability_sd": "sd"})
    wide["language"] = wide["query"].map(language)
    wide["model"] = wide["model"].astype("str")
    if "n_items" not in wide:
        wide["n_items"] = 0
    columns = ["model", "language", "group", "score", "sd", "n_items"]
    groups = wide.assign(group=wide["subset"].astype("str"))[columns]
    if subset is not None:
        return groups.loc[groups["group"] == subset].assign(group="ALL")
    return pd.concat([groups, _pool(groups)], ignore_index=True)


def _pool(groups: pd.DataFrame) -> pd.DataFrame:
    """Item-weighted mean of the CA and CS abilities, which are estimated from different items."""
    table = groups.pivot(  # noqa: PD010
        index=["model", "language"], columns="group", values=["score", "sd", "n_items"]
    )
    if not {"CA", "CS"} <= set(groups["group"]):
        return groups.iloc[:0]
    # One weight for all models: weights of their own would let the constant between CA and CS count.
    items = table["n_items"].groupby(level="language").transform("max").clip(lower=1)
    share = items["CS"] / (items["CA"] + items["CS"])
    score = (1 - share) * table["score"]["CA"] + share * table["score"]["CS"]
    sd = np.hypot((1 - share) * table["sd"]["CA"], share * table["sd"]["CS"])
    frame = pd.DataFrame(
        {"score": score, "sd": sd, "n_items": table["n_items"]["CA"] + table["n_items"]["CS"]}
    )
    return frame.reset_index().assign(group="ALL")
