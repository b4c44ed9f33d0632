from . import ask, request, settings

__all__ = ["ask", "request", "settings"]
