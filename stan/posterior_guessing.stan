/* The posterior of one locale with a guessing floor: P(y = 1) = c + (1 - c) * inv_logit(ability - difficulty),
   c known for every item. Abilities, difficulties and priors are those of posterior_marginal.stan, and
   like there abilities are relative to the mean difficulty of the population of items. */
functions {
#include functions/locale.stan
#include functions/locale_integrated.stan
#include functions/locale_guessing.stan
}
data {
#include blocks/data.stan
  array[2] int<lower=1> n_items;           // items of each subset, at least 1
  // For each subset: nodes, distinct items (same floor, same answers), floors, groups of distinct items.
  int<lower=1> Q_ca;
  int<lower=0> I_ca;
  int<lower=0> F_ca;
  int<lower=0> G_ca;
  vector[Q_ca] node_ca;                    // logit
  vector[Q_ca] log_spacing_ca;
  matrix<lower=0, upper=1>[I_ca, 2 * J] right_ca;
  matrix<lower=0, upper=1>[I_ca, 2 * J] seen_ca;
  vector<lower=0>[I_ca] count_ca;          // items with these answers
  vector[I_ca] log_scale_ca;
  vector<lower=0, upper=1>[F_ca] chance_ca;
  array[G_ca, 5] int<lower=1> group_ca;    // floor, first and last item, first and last node
  array[G_ca] int<lower=0, upper=1> seen_alike_ca;  // 1 if the group's items were seen by the same cells
  int<lower=1> Q_cs;
  int<lower=0> I_cs;
  int<lower=0> F_cs;
  int<lower=0> G_cs;
  vector[Q_cs] node_cs;
  vector[Q_cs] log_spacing_cs;
  matrix<lower=0, upper=1>[I_cs, 2 * J] right_cs;
  matrix<lower=0, upper=1>[I_cs, 2 * J] seen_cs;
  vector<lower=0>[I_cs] count_cs;
  vector[I_cs] log_scale_cs;
  vector<lower=0, upper=1>[F_cs] chance_cs;
  array[G_cs, 5] int<lower=1> group_cs;
  array[G_cs] int<lower=0, upper=1> seen_alike_cs;
}
transformed data {
  matrix[I_ca, 2 * J + 2] design_ca = with_common_terms(right_ca, log_scale_ca);
  matrix[I_cs, 2 * J + 2] design_cs = with_common_terms(right_cs, log_scale_cs);
}
parameters {
#include blocks/parameters.stan
}
transformed parameters {
#include blocks/abilities.stan
}
model {
  vector[2] level_variance = [0, 0]';      // the anchor is the population of items
  target += floor_margins(cells_of(ability, 1), unanchored(sigma_b[1], n_items[1]), node_ca, log_spacing_ca,
                          design_ca, seen_ca, count_ca, log_scale_ca, chance_ca, group_ca, seen_alike_ca);
  target += floor_margins(cells_of(ability, 2), unanchored(sigma_b[2], n_items[2]), node_cs, log_spacing_cs,
                          design_cs, seen_cs, count_cs, log_scale_cs, chance_cs, group_cs, seen_alike_cs);
#include blocks/priors.stan
}
generated quantities {
#include blocks/gaps.stan
}
