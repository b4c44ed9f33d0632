/* Rasch log likelihood of one subset from its margins: `seen` (cells x items) is 1 where an answer was
   observed, the totals count right answers. */
real rasch_margins(vector ability, vector difficulty, matrix seen, vector cell_total, vector item_total) {
  return dot_product(cell_total, ability) - dot_product(item_total, difficulty)
         - sum(seen .* log1p(exp(ability) * exp(-difficulty')));
}

/* Right answers of every cell and of every item over replicated answers (two independent replications). */
vector replicate_cells_rng(vector ability, vector difficulty, matrix seen) {
  vector[rows(ability)] total;
  for (c in 1 : rows(ability)) {
    total[c] = dot_product(seen[c], to_vector(bernoulli_logit_rng(ability[c] - difficulty)));
  }
  return total;
}

vector replicate_items_rng(vector ability, vector difficulty, matrix seen) {
  vector[rows(difficulty)] total;
  for (i in 1 : rows(difficulty)) {
    total[i] = dot_product(seen[, i], to_vector(bernoulli_logit_rng(ability - difficulty[i])));
  }
  return total;
}
