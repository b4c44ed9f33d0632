  int<lower=1> J;                          // models
  array[2] vector<lower=0, upper=1>[J] paired;  // per subset: models answered in both languages
  int<lower=0, upper=1> centred;           // the form of the abilities' distribution; same posterior
  // Priors; docs/priors.md gives the reasons.
  real<lower=0> prior_level;               // sd of the mean ability of a subset
  real<lower=0> prior_gap;                 // sd of the mean gap of a subset
  vector<lower=0>[2] prior_spread;         // median and log-sd of the abilities' spread over models
  vector<lower=0>[2] prior_difficulty;     // median and log-sd of the difficulties' spread over items
  real<lower=0> prior_correlation;         // LKJ shape
