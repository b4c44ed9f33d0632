"""Which arguments of `fit` a comparison takes, too; the command line reads them without the rest."""

SHARED = (
    "locale",
    "pivot",
    "min_accuracy",
    "options",
    "guessing",
    "engine",
    "seed",
    "chains",
    "warmup",
    "draws",
    "adapt_delta",
    "max_treedepth",
    "priors",
)
