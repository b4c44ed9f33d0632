  matrix[J, N_gaps] contrast = ability * gap_cells';  // logit; reported where `known`
  vector[N_gaps] mean_contrast;            // over the models that have it
  matrix[4, 4] correlation = multiply_lower_tri_self_transpose(correlation_root);
  for (k in 1 : N_gaps) {
    mean_contrast[k] = mean_where(contrast[, k], known[k]);
  }
