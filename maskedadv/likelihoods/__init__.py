"""Likelihoods in NumPy: values, scores and information; no pandas, no xarray, no Stan."""
