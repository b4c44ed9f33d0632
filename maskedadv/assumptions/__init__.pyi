from .dif_files import load_dif, save_dif
from .differential import Dif, dif
from .model_fit import FitCheck, fit_check, load_fit_check

__all__ = ["Dif", "FitCheck", "dif", "fit_check", "load_dif", "load_fit_check", "save_dif"]
