/* The posterior of one locale from pairs: items that a model answered in both languages. Every model has its own
   effect of every item, N(0, sigma_b), shared by its two answers and integrated out, so that neither relatives
   among the models nor a model x item effect can pass for a gap. Abilities and priors are those of the other
   programs; abilities are relative to the mean effect. With chance > 0 a right answer may be a guess. */
functions {
#include functions/locale.stan
#include functions/locale_paired.stan
}
data {
#include blocks/data.stan
  int<lower=2> Q;
  vector[Q] z;                             // nodes, in units of sigma_b
  vector<lower=0>[Q] weight;               // spacing times standard normal density
  // Of each subset: distinct floors, and counts of both right, local alone, pivot alone, none.
  int<lower=1> F_ca;
  vector<lower=0, upper=1>[F_ca] chance_ca;
  array[F_ca] matrix<lower=0>[J, 4] count_ca;
  int<lower=1> F_cs;
  vector<lower=0, upper=1>[F_cs] chance_cs;
  array[F_cs] matrix<lower=0>[J, 4] count_cs;
}
parameters {
#include blocks/parameters.stan
}
transformed parameters {
#include blocks/abilities.stan
}
model {
  vector[2] level_variance = [0, 0]';      // the anchor is the population of items
  target += paired_margins(ability[, 1], ability[, 2], sigma_b[1], z, weight, chance_ca, count_ca);
  target += paired_margins(ability[, 3], ability[, 4], sigma_b[2], z, weight, chance_cs, count_cs);
#include blocks/priors.stan
}
generated quantities {
#include blocks/gaps.stan
}
