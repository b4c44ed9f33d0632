"""From checked rows to what an estimator needs: blocks of cells × items, groups, components."""
