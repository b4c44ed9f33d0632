/* Marginal maximum likelihood of the Rasch model for one subset: abilities are free, difficulties are
   integrated out over N(0, sigma) and sigma is estimated (Bock & Aitkin 1981, with the roles of persons
   and items exchanged: here the items are many). Parameters are unconstrained, so no Jacobian enters. */
functions {
#include functions/integrated.stan
}
data {
  int<lower=1> C;                          // cells
  int<lower=1> P;                          // patterns of observed cells
  int<lower=1> G;                          // groups of items: same pattern, same total
  int<lower=2> Q;                          // nodes
  matrix<lower=0, upper=1>[P, C] seen;
  vector<lower=0>[C] cell_total;           // right answers of each cell
  array[G] int<lower=1, upper=P> pattern;
  vector<lower=0>[G] item_total;           // right answers of each item of the group
  vector<lower=0>[G] n_items;              // items in the group
  vector[Q] z;                             // nodes, in units of sigma
  vector[Q] log_weight;                    // log of spacing times standard normal density
#include blocks/rough.stan
#include blocks/contrasts.stan
}
parameters {
  // Offsets and multipliers put parameters on their rough scales; they change no maximum.
  vector<offset=rough_ability, multiplier=ability_error>[C] ability;  // logit
  real<offset=rough_log_sigma, multiplier=log_sigma_error> log_sigma;  // of the difficulties' sd, logit
}
model {
  real sigma = exp(log_sigma);
  matrix[P, Q] exponents = pattern_exponents(seen, ability, sigma, z, log_weight);
  vector[G] log_integral;
  for (g in 1 : G) {
    log_integral[g] = item_log_integral(exponents[pattern[g]], item_total[g], sigma, z);
  }
  target += dot_product(cell_total, ability) + dot_product(n_items, log_integral);
}
generated quantities {
  vector[K] gap = ability[first] - ability[second];
}
