  if (centred) {
    ability ~ facets(facet_mean, facet_spread, correlation_root);
  } else {
    to_vector(standard) ~ std_normal();
  }
  (facet_mean[1] + facet_mean[2]) / 2 ~ normal(0, sqrt(square(prior_level) + level_variance[1]));
  (facet_mean[3] + facet_mean[4]) / 2 ~ normal(0, sqrt(square(prior_level) + level_variance[2]));
  facet_mean[1] - facet_mean[2] ~ normal(0, prior_gap);
  facet_mean[3] - facet_mean[4] ~ normal(0, prior_gap);
  facet_spread ~ lognormal(log(prior_spread[1]), prior_spread[2]);
  sigma_b ~ lognormal(log(prior_difficulty[1]), prior_difficulty[2]);
  correlation_root ~ lkj_corr_cholesky(prior_correlation);
