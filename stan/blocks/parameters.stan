  // Offsets and multipliers put parameters on their rough scales; they change no posterior.
  vector<offset=rough_level, multiplier=level_error>[2] level;  // of a subset: mean over models and languages
  vector<offset=rough_gap, multiplier=gap_error>[2] gap;  // of a subset: mean over models
  array[4] sum_to_zero_vector[J] standard; // departures of models from their mean, standardised
  vector[4] facet_offset;                  // of the facets' means in the population of models, standardised
  vector<multiplier=log_spread_error>[4] log_spread;  // of the sd over models
  // Inverse hyperbolic tangents of partial correlations: (2,1), (3,1), (3,2), (4,1), (4,2), (4,3).
  vector<offset=rough_partial, multiplier=partial_error>[6] partial;
  vector<offset=rough_log_sigma, multiplier=log_sigma_error>[2] log_sigma_b;  // of the difficulties' sd
