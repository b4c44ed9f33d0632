"""What changes between specifications: per locale, per choice, and in words."""

from __future__ import annotations

import numpy as np
import pandas as pd

from maskedadv.gaps.joint import ALL_LOCALES
from maskedadv.sensitivity.analyses import Sensitivity
from maskedadv.sensitivity.specifications import FIRST
from maskedadv.vocabulary import KNOWLEDGE, gap_titles
from maskedadv.words.lists import first_few
from maskedadv.words.numbers import number, plural

STATES = {1: "clearly above zero", 0: "not clear of zero", -1: "clearly below zero"}

ASSUMPTION = "variant"
"""Kind of the other variants of the first analysis."""


def judged(found: Sensitivity, gap: str = KNOWLEDGE) -> pd.DataFrame:
    """Every known mean of one gap beside what it is compared with.

    A variant of the first analysis is compared with the headline; anything else with the first analysis under
    the same variant.

    Returns
    -------
    DataFrame: the table's columns, and state, reference_state (1 clearly above zero, 0 not clear, −1 clearly
    below), shift (estimate less reference, logit), sign_changes, clearness_changes (bool). A variant that is
    not the headline has the kind `variant`.
    """
    rows = found.table[(found.table["gap"] == gap) & np.isfinite(found.table["estimate"])].copy()
    rows["state"] = (rows["lower"] > 0).astype(int) - (rows["upper"] < 0).astype(int)
    own = rows["kind"] == FIRST
    other = own & (rows["variant"] != found.headline)
    rows["reference"] = rows["variant"].where(~other, found.headline)
    basis = rows.loc[own, ["locale", "variant", "estimate", "state"]]
    names = {"variant": "reference", "estimate": "reference_estimate", "state": "reference_state"}
    rows = rows.merge(basis.rename(columns=names), how="left", on=["locale", "reference"])
    rows["shift"] = rows["estimate"] - rows["reference_estimate"]
    known = rows["reference_estimate"].notna()
    rows["sign_changes"] = known & (np.sign(rows["estimate"]) != np.sign(rows["reference_estimate"]))
    rows["clearness_changes"] = known & (rows["state"] != rows["reference_state"])
    rows.loc[(rows["kind"] == FIRST) & (rows["variant"] != found.headline), "kind"] = ASSUMPTION
    return rows


def by_locale(found: Sensitivity, gap: str = KNOWLEDGE) -> pd.DataFrame:
    """A row for every locale, and for all of them.

    Returns
    -------
    DataFrame: locale, estimate, lower, upper (first analysis, headline; logit), lowest, highest (estimates of
    all analyses), analyses, above, below (clearly), hangs_on (kinds of choices that change its clearness).
    """
    out = []
    for locale, rows in judged(found, gap).groupby("locale", sort=False):
        first = rows[(rows["kind"] == FIRST)]
        head = first.iloc[0] if len(first) else pd.Series(dtype=float)
        kinds = dict.fromkeys(rows.loc[rows["clearness_changes"], "kind"])
        out.append(
            {
                "locale": locale,
                **{name: float(head.get(name, np.nan)) for name in ("estimate", "lower", "upper")},
                "lowest": rows["estimate"].min(),
                "highest": rows["estimate"].max(),
                "analyses": len(rows),
                "above": int((rows["state"] > 0).sum()),
                "below": int((rows["state"] < 0).sum()),
                "hangs_on": ", ".join(kinds),
            }
        )
    return pd.DataFrame(out)


def by_kind(found: Sensitivity, gap: str = KNOWLEDGE, locale: str | None = None) -> pd.DataFrame:
    """A row for every kind of choice, of one locale (default: all together, or the only one).

    Returns
    -------
    DataFrame: kind, analyses, lowest, highest (logit), shift, largest (the largest shift and whose it is),
    sign_changes, clearness_changes (numbers of analyses).
    """
    rows = judged(found, gap)
    rows = rows[rows["locale"] == (locale or main_locale(found))]
    out = []
    for kind, own in rows[rows["kind"] != FIRST].groupby("kind", sort=False):
        shifts = own["shift"].abs()
        top = own.iloc[int(np.argmax(shifts.fillna(-1.0).to_numpy()))]
        out.append(
            {
                "kind": kind,
                "analyses": len(own),
                "lowest": own["estimate"].min(),
                "highest": own["estimate"].max(),
                "shift": float(top["shift"]),
                "largest": str(top["variant"]) if kind == ASSUMPTION else f"{top['name']} ({top['variant']})",
                "sign_changes": int(own["sign_changes"].sum()),
                "clearness_changes": int(own["clearness_changes"].sum()),
            }
        )
    columns = [
        "kind",
        "analyses",
        "lowest",
        "highest",
        "shift",
        "largest",
        "sign_changes",
        "clearness_changes",
    ]
    return pd.DataFrame(out, columns=columns)


def main_locale(found: Sensitivity) -> str:
    """All locales together, or the only one."""
    have = [str(v) for v in dict.fromkeys(found.table["locale"]) if v]
    return ALL_LOCALES if ALL_LOCALES in have else have[0]


def in_words(found: Sensitivity, gap: str = KNOWLEDGE) -> list[str]:
    """Does any sign or clearness change, and what does it hang on? One sentence after another."""
    locale, title = main_locale(found), gap_titles()[gap]
    rows = judged(found, gap)
    rows = rows[rows["locale"] == locale]
    first = rows[rows["kind"] == FIRST]
    if first.empty:
        return [f"The first analysis has no {title} for {locale}."]
    head = first.iloc[0]
    where = "over all locales" if locale == ALL_LOCALES else f"in {locale}"
    bounds = f"[{number(head['lower'])}, {number(head['upper'])}]"
    state = STATES[int(head["state"])]
    out = [
        f"Mean {title} {where}, as asked for ({found.headline}): {number(head['estimate'])} {bounds}, "
        f"{state}.",
        f"{plural(len(rows), 'estimate')} from {number(rows['estimate'].min())} to "
        f"{number(rows['estimate'].max())}; {int((rows['state'] > 0).sum())} clearly above zero, "
        f"{int((rows['state'] < 0).sum())} clearly below.",
    ]
    changed = rows[rows["clearness_changes"]]
    if changed.empty:
        out.append(
            f"No choice changes that it is {state}."
            if (rows["state"] == head["state"]).all()
            else "No choice changes the clearness of the variant it is made under."
        )
    for kind, own in changed.groupby("kind", sort=False):
        told = first_few([f"{_name(r)} ({STATES[int(r['state'])]})" for _, r in own.iterrows()], 3)
        out.append(f"Its clearness hangs on the {kind}: {told}.")
    signs = int(rows["sign_changes"].sum())
    if signs:
        kinds = ", ".join(dict.fromkeys(rows.loc[rows["sign_changes"], "kind"]))
        noise = " Where an interval includes zero, a sign is not known, and its change says little."
        out.append(
            f"Its sign changes in {plural(signs, 'estimate')} ({kinds}).{'' if head['state'] else noise}"
        )
    else:
        out.append("Its sign changes nowhere.")
    shifts = by_kind(found, gap)
    shifts = shifts[np.isfinite(shifts["shift"])]
    if len(shifts):
        top = shifts.loc[shifts["shift"].abs().idxmax()]
        out.append(f"It moves most with the {top['kind']}: {number(top['shift'])} logit, {top['largest']}.")
    return out


def _name(row: pd.Series) -> str:
    return str(row["variant"]) if row["kind"] == ASSUMPTION else f"{row['name']}, {row['variant']}"
