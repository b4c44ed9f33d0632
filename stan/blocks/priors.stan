  {
    matrix[4, 4] root = diag_pre_multiply(facet_spread, correlation_root);
    matrix[4, J] departure = (ability - rep_matrix(facet_means(level, gap), J))';
    departure ~ departures(root, precision_root(root, rough_variance));
  }
  facet_offset ~ std_normal();
  (facet_mean[1] + facet_mean[2]) / 2 ~ normal(0, sqrt(square(prior_level) + level_variance[1]));
  (facet_mean[3] + facet_mean[4]) / 2 ~ normal(0, sqrt(square(prior_level) + level_variance[2]));
  facet_mean[1] - facet_mean[2] ~ normal(0, prior_gap);
  facet_mean[3] - facet_mean[4] ~ normal(0, prior_gap);
  log_spread ~ normal(log(prior_spread[1]), prior_spread[2]);
  log_sigma_b ~ normal(log(prior_difficulty[1]), prior_difficulty[2]);
  partial ~ lkj_partial(prior_correlation);
