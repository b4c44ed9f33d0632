"""Every locale of a result: measures, findings, verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from maskedadv.diagnostics.measures import Measures, measure
from maskedadv.diagnostics.verdict import Finding, judge, verdict
from maskedadv.errors import BadSetting
from maskedadv.result.draws import Posterior
from maskedadv.result.fit_result import Fit


@dataclass(frozen=True)
class LocaleVerdict:
    """One locale's diagnostics; `verdict` is fine, look or do not use.

    `variant` is the base of the variants that the posterior serves, such as `plain` or `floor`.
    """

    locale: str
    measures: Measures
    findings: list[Finding]
    variant: str = "plain"

    @property
    def label(self) -> str:
        """The locale, and the variant where it is not the plain one."""
        return self.locale if self.variant == "plain" else f"{self.locale} ({self.variant})"

    @property
    def verdict(self) -> str:
        """The worst level among the findings."""
        return verdict(self.findings)


def diagnose(fit: Fit) -> list[LocaleVerdict]:
    """Diagnose every locale of a result of method `nuts`.

    Raises
    ------
    BadSetting
        The result has no posterior.
    """
    if not fit.posteriors:
        raise BadSetting(
            f"a result of method '{fit.settings.method}' has no draws to diagnose; fit with --method nuts."
        )
    return [
        _one(locale, posterior, base, everything=True)
        for base, own in fit.posteriors.items()
        for locale, posterior in own.items()
    ]


def sampling_warnings(posteriors: Mapping[str, Posterior], variant: str = "plain") -> list[str]:
    """A sentence for every locale whose gaps are not fine; quick, for use at the end of a fit."""
    out = []
    for locale, posterior in posteriors.items():
        one = _one(locale, posterior, variant, everything=False)
        if one.findings:
            worst = one.findings[0]
            out.append(
                f"{one.label}: {one.verdict}: {worst.reason}; {worst.remedy} (see maskedadv diagnose)."
            )
    return out


def _one(locale: str, posterior: Posterior, variant: str = "plain", *, everything: bool) -> LocaleVerdict:
    found = measure(posterior.tree(), everything=everything)
    return LocaleVerdict(locale, found, judge(found), variant)
