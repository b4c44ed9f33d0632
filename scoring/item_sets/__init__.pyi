from . import annotate, instructions, labels, said, sample, steps, tables, translate

__all__ = ["annotate", "instructions", "labels", "said", "sample", "steps", "tables", "translate"]
