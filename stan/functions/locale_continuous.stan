/* Log likelihood of one subset's normal responses with mean ability - difficulty, from their margins:
   expanding the square leaves totals, counts and one bilinear form. `seen` (cells x items) is 1 where a
   response was observed. */
real crm_margins(vector ability, vector difficulty, real noise, matrix seen, vector cell_total,
                 vector item_total, real sum_of_squares) {
  vector[rows(ability)] cell_count = seen * rep_vector(1, cols(seen));
  row_vector[cols(seen)] item_count = rep_row_vector(1, rows(seen)) * seen;
  real squares = sum_of_squares - 2 * dot_product(cell_total, ability)
                 + 2 * dot_product(item_total, difficulty) + dot_product(cell_count, square(ability))
                 + dot_product(item_count', square(difficulty)) - 2 * dot_product(ability, seen * difficulty);
  return -0.5 * squares / square(noise) - sum(cell_count) * (log(noise) + 0.5 * log(2 * pi()));
}

/* Sums of every cell's and of every item's normal responses over replicated answers (two independent
   replications). Products of whole matrices: row by row the embedded engine interprets them, at hundreds of
   times the cost of a gradient. */
vector noise_rng(vector count, real noise) {
  return noise * sqrt(count) .* to_vector(normal_rng(rep_vector(0, rows(count)), 1));
}

vector replicate_cells_rng(vector ability, vector difficulty, real noise, matrix seen) {
  vector[rows(seen)] count = seen * rep_vector(1, cols(seen));
  return count .* ability - seen * difficulty + noise_rng(count, noise);
}

vector replicate_items_rng(vector ability, vector difficulty, real noise, matrix seen) {
  vector[cols(seen)] count = (rep_row_vector(1, rows(seen)) * seen)';
  return (ability' * seen)' - count .* difficulty + noise_rng(count, noise);
}
