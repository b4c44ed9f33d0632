from . import languages, read

__all__ = ["languages", "read"]
