"""Estimation: Stan programs by optimisation, and the NumPy core of standard errors."""
