"""The response table: one row per answer, read and checked once, then kept as integer codes."""

from maskedadv.responses.read import read_responses
from maskedadv.responses.table import Responses

__all__ = ["Responses", "read_responses"]
