/* The likelihood of a subset's items with their difficulties b ~ N(0, sigma) integrated out on fixed nodes.
   For items answered by the same cells the integral depends on the answers only through the item's total t:
   log of sum_q exp(-t b_q) * weight_q(sigma) / prod_c (1 + exp(ability_c - b_q)).
   exp(-t b_q), a constant, spans hundreds of orders of magnitude; divided by a reference value of the other
   factors it becomes a posterior weight in 0..1 (`share`), and only the departure from that reference,
   exp(change), is computed anew: nodes x cells + nodes x totals operations for any number of items. */

/* Log weights of the nodes under N(0, sigma). They are made to sum to one, so that a sigma narrower than the
   nodes' spacing means items that do not differ, not a density without bound. */
vector node_weights(vector node, vector log_spacing, real sigma) {
  vector[rows(node)] weight = log_spacing - square(node) / (2 * square(sigma));
  return weight - log_sum_exp(weight);
}

/* Log probability that all cells seen in a pattern answer wrong, at every node: patterns x nodes. With one
   pattern, products of `factors` cells are taken before one log. */
matrix log_all_wrong(vector ability, vector node, matrix seen, int factors) {
  int C = rows(ability);
  row_vector[rows(node)] easiness = exp(-node)';
  if (rows(seen) > 1) {
    return -(seen * log1p(exp(ability) * easiness));
  }
  int M = (C + factors - 1) %/% factors;
  vector[M * factors] strength = append_row(exp(ability) .* seen[1]', rep_vector(0, M * factors - C));
  matrix[M, rows(node)] product = 1 + strength[1 : M] * easiness;
  for (k in 2 : factors) {
    product .*= 1 + strength[((k - 1) * M + 1) : (k * M)] * easiness;
  }
  return rep_matrix(-1, 1, M) * log(product);
}

/* Log likelihood of one subset. Groups of items have one pattern and one total; `share` (groups x nodes) is
   exp(-total * node + reference[pattern]) over its largest value, `log_scale` the log of that value. */
real marginal_margins(vector ability, real sigma, vector node, vector log_spacing, matrix reference,
                      matrix seen, array[] int pattern, matrix share, vector log_scale, vector n_items,
                      vector cell_total, int factors) {
  int P = rows(seen);
  vector[rows(node)] weight = node_weights(node, log_spacing, sigma);
  matrix[P, rows(node)] change = log_all_wrong(ability, node, seen, factors) - reference
                                 + rep_matrix(weight', P);
  vector[rows(share)] integral = P == 1 ? share * exp(change[1]')
                                        : rows_dot_product(share, exp(change[pattern]));
  return dot_product(cell_total, ability) + dot_product(n_items, log_scale + log(integral));
}
