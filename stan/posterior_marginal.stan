/* The model of posterior_joint.stan with the difficulties integrated out: a few hundred parameters whatever
   the number of items. Abilities are relative to the mean difficulty of the population of items; difficulties
   are drawn back from their exact conditional distribution afterwards, which moves the anchor to the items
   asked. */
functions {
#include functions/locale.stan
#include functions/locale_integrated.stan
}
data {
#include blocks/data.stan
  array[2] int<lower=1> n_items;           // items of each subset, at least 1
  int<lower=1> factors;                    // cells multiplied before one log
  // For each subset: nodes, patterns of cells seen, groups of items with one pattern and one total.
  int<lower=1> Q_ca;
  int<lower=1> P_ca;
  int<lower=0> G_ca;
  vector[Q_ca] node_ca;                    // logit
  vector[Q_ca] log_spacing_ca;
  matrix[P_ca, Q_ca] reference_ca;
  matrix<lower=0, upper=1>[P_ca, 2 * J] seen_ca;
  array[G_ca] int<lower=1, upper=P_ca> pattern_ca;
  matrix<lower=0>[G_ca, Q_ca] share_ca;
  vector[G_ca] log_scale_ca;
  vector<lower=0>[G_ca] count_ca;          // items in the group
  vector<lower=0>[2 * J] cell_total_ca;    // right answers of each cell
  int<lower=1> Q_cs;
  int<lower=1> P_cs;
  int<lower=0> G_cs;
  vector[Q_cs] node_cs;
  vector[Q_cs] log_spacing_cs;
  matrix[P_cs, Q_cs] reference_cs;
  matrix<lower=0, upper=1>[P_cs, 2 * J] seen_cs;
  array[G_cs] int<lower=1, upper=P_cs> pattern_cs;
  matrix<lower=0>[G_cs, Q_cs] share_cs;
  vector[G_cs] log_scale_cs;
  vector<lower=0>[G_cs] count_cs;
  vector<lower=0>[2 * J] cell_total_cs;
}
parameters {
#include blocks/parameters.stan
}
transformed parameters {
#include blocks/abilities.stan
}
model {
  vector[2] level_variance = [0, 0]';      // the anchor is the population of items
  target += marginal_margins(cells_of(ability, 1), unanchored(sigma_b[1], n_items[1]), node_ca,
                             log_spacing_ca, reference_ca, seen_ca, pattern_ca, share_ca, log_scale_ca,
                             count_ca, cell_total_ca, factors);
  target += marginal_margins(cells_of(ability, 2), unanchored(sigma_b[2], n_items[2]), node_cs,
                             log_spacing_cs, reference_cs, seen_cs, pattern_cs, share_cs, log_scale_cs,
                             count_cs, cell_total_cs, factors);
#include blocks/priors.stan
}
generated quantities {
#include blocks/gaps.stan
}
