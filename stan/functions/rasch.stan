/* Log likelihood of the Rasch model from counts: a cell (or group of cells with one ability) meets an item
   (or group of items with one difficulty) `trials` times and is right `successes` times. Counts are reals,
   so that Bernoulli quasi-likelihoods (soft answers) share the code. */
real rasch_counts_lpdf(vector successes, vector trials, vector eta) {
  return dot_product(successes, eta) - dot_product(trials, log1p_exp(eta));
}
