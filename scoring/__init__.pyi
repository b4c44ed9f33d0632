from . import endpoints, importers, item_sets, items, launch, models, prompts, reading

__all__ = ["endpoints", "importers", "item_sets", "items", "launch", "models", "prompts", "reading"]
