from .evaluation import AnnotationResult, evaluate

__all__ = ["AnnotationResult", "evaluate"]
