from . import annotate, build, build_file, instructions, labels, said, sample, steps, tables, translate

__all__ = [
    "annotate",
    "build",
    "build_file",
    "instructions",
    "labels",
    "said",
    "sample",
    "steps",
    "tables",
    "translate",
]
