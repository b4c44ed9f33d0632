/* The posterior of one locale, right/wrong answers: P(y = 1) = inv_logit(ability - difficulty).

   CA and CS items are disjoint and every ability belongs to one subset, so each subset's difficulties sum
   to zero on their own. Difficulties of a subset ~ N(0, sigma_b) over its items, anchored; abilities of a
   model over its four cells are jointly normal. posterior_marginal.stan is the same model with the
   difficulties integrated out; there the anchor is the population of items, here the items asked, hence
   the variance of their mean in the prior of a subset's level (level_variance). */
functions {
#include functions/locale.stan
#include functions/locale_binary.stan
}
data {
#include blocks/data.stan
  // Items of each subset; a subset without items comes as one item that nobody saw.
  int<lower=1> I_ca;
  int<lower=1> I_cs;
  matrix<lower=0, upper=1>[2 * J, I_ca] seen_ca;  // 1 where an answer was observed
  matrix<lower=0, upper=1>[2 * J, I_cs] seen_cs;
  vector<lower=0>[2 * J] cell_total_ca;    // right answers of each cell
  vector<lower=0>[2 * J] cell_total_cs;
  vector<lower=0>[I_ca] item_total_ca;
  vector<lower=0>[I_cs] item_total_cs;
}
parameters {
#include blocks/parameters.stan
  sum_to_zero_vector[I_ca] difficulty_ca;  // logit
  sum_to_zero_vector[I_cs] difficulty_cs;
}
transformed parameters {
#include blocks/abilities.stan
}
model {
  vector[2] spread = [unanchored(sigma_b[1], I_ca), unanchored(sigma_b[2], I_cs)]';
  vector[2] level_variance = square(spread) ./ [I_ca, I_cs]';
  target += rasch_margins(cells_of(ability, 1), difficulty_ca, seen_ca, cell_total_ca, item_total_ca);
  target += rasch_margins(cells_of(ability, 2), difficulty_cs, seen_cs, cell_total_cs, item_total_cs);
  target += anchored_normal_lpdf(difficulty_ca | spread[1]);
  target += anchored_normal_lpdf(difficulty_cs | spread[2]);
#include blocks/priors.stan
}
generated quantities {
#include blocks/gaps.stan
  vector[2 * J] cell_rep_ca = replicate_cells_rng(cells_of(ability, 1), difficulty_ca, seen_ca);
  vector[2 * J] cell_rep_cs = replicate_cells_rng(cells_of(ability, 2), difficulty_cs, seen_cs);
  vector[I_ca] item_rep_ca = replicate_items_rng(cells_of(ability, 1), difficulty_ca, seen_ca);
  vector[I_cs] item_rep_cs = replicate_items_rng(cells_of(ability, 2), difficulty_cs, seen_cs);
}
