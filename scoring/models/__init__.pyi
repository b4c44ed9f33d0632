from . import batch, encode, model, options, settings, unit

__all__ = ["batch", "encode", "model", "options", "settings", "unit"]
