  int<lower=1> J;                          // models
  int<lower=1> N_gaps;
  matrix[N_gaps, 4] gap_cells;             // weight of a model's four abilities in every gap
  array[N_gaps] vector<lower=0, upper=1>[J] known;  // models whose answers determine it
  matrix[4, J] rough;                      // rough departures of abilities from their facet's mean
  vector<lower=0>[4] rough_variance;       // their error variances
  vector[2] rough_level;                   // rough estimates and errors, per subset
  vector<lower=0>[2] level_error;
  vector[2] rough_gap;
  vector<lower=0>[2] gap_error;
  vector[2] rough_log_sigma;
  vector<lower=0>[2] log_sigma_error;
  real<lower=0> log_spread_error;
  vector[6] rough_partial;
  real<lower=0> partial_error;
  // Priors; docs/explanation/priors.md gives the reasons.
  real<lower=0> prior_level;               // sd of the mean ability of a subset
  real<lower=0> prior_gap;                 // sd of the mean gap of a subset
  vector<lower=0>[2] prior_spread;         // median and log-sd of the abilities' spread over models
  vector<lower=0>[2] prior_difficulty;     // median and log-sd of the difficulties' spread over items
  real<lower=0> prior_correlation;         // LKJ shape
