"""The response table: one row per answer, read and checked once, then kept as integer codes."""

from maskedadv.responses.read import read_responses
from maskedadv.responses.table import SUBSETS, Responses

__all__ = ["SUBSETS", "Responses", "read_responses"]
