"""Methods, assumptions and references, with the settings and versions of the fit at hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from maskedadv.diagnostics import LocaleVerdict
from maskedadv.diagnostics.verdict import DO_NOT_USE
from maskedadv.maximum_likelihood.estimators import Estimator, find_estimator
from maskedadv.result.fit_result import Fit
from maskedadv.vocabulary import variant_meaning
from maskedadv.words.numbers import level_text, plural

_RESPONSES = {
    "binary": "right or wrong",
    "soft": "the probability given to the right option, in a Bernoulli quasi-likelihood",
    "crm": "the log-odds given to the right option, in Samejima's continuous response model",
}
_INTERVALS = {
    "robust": "the information matrix with difficulties {difficulties}, in the sandwich form clustered by "
    "item",
    "information": "the information matrix with difficulties {difficulties}",
    "bootstrap": "percentiles over {replicates:,} bootstrap samples of items",
}


def methods(fit: Fit) -> str:
    """A methods paragraph ready to paste: what was fitted, how, with which versions and numbers."""
    s, info, cube = fit.settings, fit.info, fit.cube
    n_locales, n_models = cube.sizes["locale"], cube.sizes["model"]
    where = "jointly over locales" if s.scope == "joint" else "locale by locale"
    text = [
        f"We analysed {info.answers:,} answers of "
        f"{plural(n_models, 'language model')} in "
        f"{plural(n_locales, 'locale')} ({', '.join(str(v) for v in cube['locale'].values)}), each asked "
        f"the same questions in the local language and in {s.pivot}, with maskedadv {info.maskedadv}.",
        f"Answers ({_RESPONSES.get(s.response, s.response)}) follow a Rasch (1PL) model: the log-odds of a "
        "right answer is the ability of the model, on a subset and in a language, minus the difficulty "
        "of the "
        "item, which is the same in both languages. Culture-agnostic (CA) and culture-specific (CS) "
        "items have "
        f"difficulties of their own; the model was fitted {where}.",
        _estimator(fit),
        _interval(fit),
        "The global gap is the ability on CA items in the local language minus that in "
        f"{s.pivot}; the local gap is the same on CS items; the knowledge gap is the local minus the global "
        f"gap (arXiv 2606.07422). {_joint_intervals(fit)}",
        _variants(fit),
    ]
    if s.min_accuracy > 0:
        dropped = info.dropped
        left_out = f" ({len(dropped)} times a model was left out)" if dropped else " (none was left out)"
        text.append(
            f"Models entered a locale when their accuracy exceeded {s.min_accuracy:g} in each of its four "
            f"cells{left_out}."
        )
    versions = ", ".join(f"{name} {number}" for name, number in info.versions.items())
    text.append(
        f"Engine: {info.engine}; seed {s.seed}; {versions}; data fingerprint (SHA-256) "
        f"{info.fingerprint[:16]}."
    )
    return " ".join(part for part in text if part)


def _estimator(fit: Fit) -> str:
    s = fit.settings
    if s.method == "nuts":
        chains, warmup, draws = (getattr(s, name, None) for name in ("chains", "warmup", "draws"))
        how = f" with {chains} chains of {warmup:,} warmup and {draws:,} kept draws" if chains else ""
        return (
            "Abilities are hierarchical (multivariate normal over models) and difficulties normal with an "
            f"estimated spread; the posterior was sampled with NUTS in Stan{how}."
        )
    return f"Estimation: {'; '.join(e.words for e in _estimators(fit))}."


def _estimators(fit: Fit) -> list[Estimator]:
    """The estimators that the blocks were fitted with."""
    names = fit.info.estimators or [fit.settings.estimator]
    return [find_estimator(name, fit.settings.response) for name in names]


def _interval(fit: Fit) -> str:
    s = fit.settings
    level = level_text(s.level)
    if s.method == "nuts":
        return f"Intervals are equal-tailed {level} posterior intervals."
    words = _INTERVALS[str(s.interval)].format(
        replicates=s.replicates, difficulties=" or ".join(e.difficulties for e in _estimators(fit))
    )
    return f"Intervals ({level}) come from {words}."


def _joint_intervals(fit: Fit) -> str:
    """What intervals of means and differences rest on."""
    if fit.settings.method == "nuts":
        return (
            "Intervals of means and differences come from the joint posterior of the models of a locale; "
            "locales were sampled one by one, so means over locales take their errors as independent and "
            "leave out what the locales' shared answers have in common."
        )
    if fit.settings.interval == "information":
        return (
            "Intervals of means over models come from the information matrix of a locale; means over locales "
            "have none, since it knows nothing of the answers that locales share."
        )
    return (
        "Intervals of means and differences come from the joint uncertainty of all gaps, with the "
        "covariance of models and locales that share items."
    )


def _variants(fit: Fit) -> str:
    """What the other variants of the gaps assume; '' where there are none."""
    others = [variant_meaning(name) for name in fit.variants if name != "plain"]
    if not others:
        return ""
    guessing = fit.settings.guessing
    floor = "one over the number of options" if guessing in ("auto", "chance") else f"{float(guessing):g}"
    means = [f"the floor of guessing is {floor}"] if "floor" in fit.variants else []
    if any("linked" in name for name in fit.variants):
        means.append("the scales are linked by the spread of the abilities in the pivot language")
    told = f" ({'; '.join(means)})" if means else ""
    return f"For comparison, gaps were also estimated {'; '.join(others)}{told}."


ASSUMPTIONS = (
    "An item is as difficult in the local language as in the pivot for a model of given ability (the paper's "
    "Assumption 1): a bad translation looks like weaker ability.",
    "All items of a subset discriminate alike. If culture-specific items discriminate less, the local gap "
    "shrinks and a positive knowledge gap can come from the scale alone.",
    "No guessing. With a floor at 1/options, gaps are compressed where accuracy is low, more for harder "
    "(often the culture-specific) items: this too can make a positive knowledge gap.",
    "CA and CS levels are not comparable, only gaps are: every component of items has a zero of its own.",
    "An interval is about the items: it says what other items of the kind would have given for these models. "
    "It is no statement about other models.",
)


def convergence(fit: Fit) -> str:
    """One sentence on whether the optimiser ended where the likelihood has its maximum; '' without blocks."""
    blocks = fit.info.blocks
    if fit.settings.method == "nuts" or not blocks:
        return ""  # a posterior has verdicts instead
    bad = [f"{b['locale']} {b['subset']}" for b in blocks if not b["converged"]]
    gradients = [float(b["gradient"]) for b in blocks if b.get("gradient") is not None]
    largest = f"; largest gradient {max(gradients):.1e}" if gradients else ""
    if bad:
        shown = ", ".join(bad[:5])
        return f"{len(bad)} of {len(blocks)} fits did not converge ({shown}): do not use them{largest}."
    return f"All {len(blocks)} fits converged{largest}."


@dataclass(frozen=True)
class Verdict:
    """What a check found, in words."""

    title: str
    text: str
    passed: bool


def verdicts(found: Sequence[LocaleVerdict]) -> list[Verdict]:
    """What `maskedadv diagnose` says, the fine locales in one line."""
    fine = [v.label for v in found if not v.findings]
    out = [
        Verdict(
            f"{v.label}: {v.verdict}",
            " ".join(f"{f.reason[:1].upper()}{f.reason[1:]}; {f.remedy}." for f in v.findings),
            False,
        )
        for v in found
        if v.findings
    ]
    if fine:
        out.append(Verdict("fine", f"the draws of {', '.join(fine)} can be used.", True))
    return out


def doubt(fit: Fit, found: Sequence[LocaleVerdict]) -> str:
    """What must stand beside the answer: a fit that is not to be used; '' if there is nothing."""
    bad = [b for b in fit.info.blocks if b.get("converged") is False]
    failed = [v for v in found if v.verdict == DO_NOT_USE]
    if bad or failed:
        return (
            "Some fits did not pass their checks: do not use these numbers before you have read Diagnostics."
        )
    return ""


BIBTEX = """@misc{maskedadvantage2026,
  title = {The Masked Advantage: Uncovering Local-Language Access to Cultural Knowledge in {LLMs}},
  year = {2026}, eprint = {2606.07422}, archivePrefix = {arXiv}
}
@software{maskedadv,
  title = {maskedadv: {Rasch} contrasts of local-language access to local knowledge},
  author = {{The maskedadv developers}}, version = {VERSION}, year = {2026}
}
@book{rasch1960,
  author = {Rasch, Georg}, title = {Probabilistic Models for Some Intelligence and Attainment Tests},
  publisher = {Danish Institute for Educational Research}, year = {1960}
}
@article{carpenter2017stan,
  author = {Carpenter, Bob and Gelman, Andrew and Hoffman, Matthew D. and Lee, Daniel and Goodrich, Ben and
            Betancourt, Michael and Brubaker, Marcus and Guo, Jiqiang and Li, Peter and Riddell, Allen},
  title = {{Stan}: A Probabilistic Programming Language},
  journal = {Journal of Statistical Software}, volume = {76}, number = {1}, year = {2017},
  doi = {10.18637/jss.v076.i01}
}
@inproceedings{joshi2020,
  author = {Joshi, Pratik and Santy, Sebastin and Budhiraja, Amar and Bali, Kalika and Choudhury, Monojit},
  title = {The State and Fate of Linguistic Diversity and Inclusion in the {NLP} World},
  booktitle = {Proceedings of ACL 2020}, year = {2020}, doi = {10.18653/v1/2020.acl-main.560}
}"""


def bibtex(fit: Fit) -> str:
    """References of what was used, as BibTeX."""
    return BIBTEX.replace("VERSION", fit.info.maskedadv)
