from . import endpoints, importers, items, launch, models, prompts, reading

__all__ = ["endpoints", "importers", "items", "launch", "models", "prompts", "reading"]
