/* Log likelihood of the Rasch model from counts: a cell (or group of cells with one ability) meets an item
   (or group of items with one difficulty) `trials` times; of the right answers the totals are enough. Counts
   are reals, so that Bernoulli quasi-likelihoods (soft answers) share the code.

   The odds of every pair are a product of one exponential a cell and one an item, which is cheaper than an
   exponential a pair; they overflow where ability and difficulty are 700 logits apart, never near a maximum. */
real rasch_totals_lpdf(vector cell_total, vector item_total, vector trials, vector ability, vector difficulty,
                       array[] int cell, array[] int item) {
  vector[num_elements(ability)] odds = exp(ability);
  vector[num_elements(difficulty)] ease = exp(-difficulty);
  return dot_product(cell_total, ability) - dot_product(item_total, difficulty)
         - dot_product(trials, log1p(odds[cell] .* ease[item]));
}
