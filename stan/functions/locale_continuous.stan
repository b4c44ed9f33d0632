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

/* Sums over the columns seen of normal responses with mean row - column; one for every row. */
vector replicate_rng(vector row, vector column, real noise, matrix seen) {
  vector[rows(row)] total;
  for (k in 1 : rows(row)) {
    real count = sum(seen[k]);
    total[k] = count > 0 ? normal_rng(count * row[k] - seen[k] * column, noise * sqrt(count)) : 0;
  }
  return total;
}
