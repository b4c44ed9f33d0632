  matrix[J, 4] ability;                    // logit
  row_vector[4] facet_mean;                // in the population of models, logit
  vector[4] facet_spread = exp(log_spread);  // sd over models, logit
  matrix[4, 4] correlation_root = correlation_cholesky(partial);
  vector[2] sigma_b = exp(log_sigma_b);    // sd of a subset's difficulties, logit
  {
    matrix[4, 4] root = diag_pre_multiply(facet_spread, correlation_root);
    matrix[4, J] departure = departures(standard, rough, rough_variance, precision_root(root, rough_variance));
    row_vector[4] mean = facet_means(level, gap);
    ability = departure' + rep_matrix(mean, J);
    facet_mean = mean + (root * facet_offset)' / sqrt(J);
  }
