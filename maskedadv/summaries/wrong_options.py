"""Which models choose the same wrong options: relatives err alike, not only at the same items."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from maskedadv.errors import MissingColumn, WrongResponse
from maskedadv.responses import read_responses

COLUMNS = ("model", "other", "both_wrong", "equal", "share_equal", "share_others")


def equal_wrong_options(source: str | Path | pd.DataFrame, column: str = "option") -> pd.DataFrame:
    """Of the answers that two models both got wrong, the share in which they chose the same option.

    Parameters
    ----------
    source
        A response table (see `maskedadv.read_responses`) with one column more, of the chosen options.
    column
        Its name; any text or number that stands for the option, the same in every language of an item. Empty
        is not known.

    Returns
    -------
    DataFrame of pairs, the most alike first: model, other, both_wrong (answers with known options), equal,
    share_equal, share_others (the same share among all pairs of the other models on the same answers, which
    tells how far an item's wrong options draw everybody; NaN where there are fewer than two).

    Raises
    ------
    MissingColumn
        The table has no such column.
    WrongResponse
        It has no column `correct`.
    InputError
        As `read_responses`.
    """
    responses = read_responses(source, extras=True)
    if responses.extra is None or column not in responses.extra:
        raise MissingColumn(f"the response table has no column {column!r} of chosen options; name yours.")
    if responses.correct is None:
        raise WrongResponse("equal wrong options need the column `correct`.")
    option = responses.extra[column]
    known = option.notna().to_numpy() & (option.astype(str).str.strip() != "").to_numpy()
    wrong = (responses.correct == 0) & known
    place = responses.language[wrong].astype(np.int64) * len(responses.items) + responses.item[wrong]
    text = option[wrong].astype(str).str.strip().to_numpy(dtype=object)
    question, _ = pd.factorize(place)
    choice, _ = pd.factorize(pd.Series(list(zip(place, text, strict=True))))
    models = len(responses.models)
    # Of every question and of every wrong option of it, the models that chose it.
    asked = np.zeros((int(question.max(initial=-1)) + 1, models))
    chosen = np.zeros((int(choice.max(initial=-1)) + 1, models))
    asked[question, responses.model[wrong]] = 1.0
    chosen[choice, responses.model[wrong]] = 1.0
    both, equal = asked.T @ asked, chosen.T @ chosen
    of_choice = np.zeros(len(chosen), dtype=np.intp)
    of_choice[choice] = question
    rows = []
    for a in range(models):
        for b in range(a):
            if not both[a, b]:
                continue
            others = np.delete(np.arange(models), [a, b])
            here = (asked[:, a] * asked[:, b]) > 0
            n, c = asked[here][:, others].sum(axis=1), chosen[here[of_choice]][:, others].sum(axis=1)
            pairs = float((n * (n - 1)).sum())
            rest = float((c * (c - 1)).sum()) / pairs if pairs else np.nan
            one, other = sorted((str(responses.models[a]), str(responses.models[b])))
            row = (one, other, int(both[a, b]), int(equal[a, b]), float(equal[a, b] / both[a, b]), rest)
            rows.append(row)
    rows.sort(key=lambda r: (-r[4], r[:2]))
    return pd.DataFrame(rows, columns=list(COLUMNS))
