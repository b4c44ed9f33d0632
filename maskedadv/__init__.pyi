from . import (
    annotation,
    assumptions,
    cross_validation,
    datasets,
    design,
    diagnostics,
    engines,
    errors,
    launchers,
    power,
    published_accuracies,
    reports,
    responses,
    scoring,
    sensitivity,
    simulation,
    summaries,
    validity,
)
from .assumptions.differential import Dif, dif
from .assumptions.model_fit import FitCheck, fit_check
from .cross_validation.comparing import compare
from .cross_validation.comparison import Comparison
from .design.check import Check, check
from .diagnostics.check import diagnose
from .fitting import fit
from .responses.read import read_responses
from .responses.table import Responses
from .result.fit_result import Fit
from .result.save import load
from .sampling.priors import Priors
from .settings import Settings

__all__ = [
    "Check",
    "Comparison",
    "Dif",
    "Fit",
    "FitCheck",
    "Priors",
    "Responses",
    "Settings",
    "__version__",
    "annotation",
    "assumptions",
    "check",
    "compare",
    "cross_validation",
    "datasets",
    "design",
    "diagnose",
    "diagnostics",
    "dif",
    "engines",
    "errors",
    "fit",
    "fit_check",
    "launchers",
    "load",
    "power",
    "published_accuracies",
    "read_responses",
    "reports",
    "responses",
    "scoring",
    "sensitivity",
    "simulation",
    "summaries",
    "validity",
]

__version__: str
