from . import prompts

__all__ = ["prompts"]
