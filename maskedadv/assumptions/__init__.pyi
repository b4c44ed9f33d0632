from .dif_files import load_dif, save_dif
from .differential import Dif, dif

__all__ = ["Dif", "dif", "load_dif", "save_dif"]
