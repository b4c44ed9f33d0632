from . import annotate, instructions, labels, said, steps, tables

__all__ = ["annotate", "instructions", "labels", "said", "steps", "tables"]
