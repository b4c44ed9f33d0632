"""The response table: one row per answer, read and checked once, then kept as integer codes."""

from maskedadv.responses.opening import open_responses
from maskedadv.responses.read import read_responses
from maskedadv.responses.stored import StoredResponses
from maskedadv.responses.table import Responses

__all__ = ["Responses", "StoredResponses", "open_responses", "read_responses"]
