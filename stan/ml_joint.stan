/* Joint maximum likelihood of the Rasch model on one component: abilities and difficulties are both free,
   no prior (arXiv 2606.07422, section 4: the paper's MLE).

   The component comes collapsed: items with the same observed cells and total share one difficulty, cells
   with the same observed items and total share one ability (exact, by sufficiency). The sum-to-zero
   constraint is linear, so its Jacobian is constant and the mode is the maximum-likelihood estimate. */
functions {
#include functions/rasch.stan
}
data {
  int<lower=1> C;                          // groups of cells
  int<lower=2> I;                          // groups of items
  int<lower=1> N;                          // pairs (cell group, item group) that met
  array[N] int<lower=1, upper=C> cell;
  array[N] int<lower=1, upper=I> item;
  vector<lower=0>[N] trials;
  vector<lower=0>[C] cell_total;           // right answers
  vector<lower=0>[I] item_total;
#include blocks/contrasts.stan
}
parameters {
  vector[C] ability;                       // logit
  sum_to_zero_vector[I] difficulty;        // logit
}
model {
  cell_total ~ rasch_totals(item_total, trials, ability, difficulty, cell, item);
}
generated quantities {
  vector[K] gap = ability[first] - ability[second];
}
