  vector[C] rough_ability;                 // rough estimates and their errors
  vector<lower=0>[C] ability_error;
  real rough_log_sigma;
  real<lower=0> log_sigma_error;
