from . import (
    annotate,
    build,
    build_file,
    instructions,
    labels,
    review,
    said,
    sample,
    steps,
    tables,
    translate,
)

__all__ = [
    "annotate",
    "build",
    "build_file",
    "instructions",
    "labels",
    "review",
    "said",
    "sample",
    "steps",
    "tables",
    "translate",
]
