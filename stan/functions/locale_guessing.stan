/* The likelihood of a subset's items with a guessing floor, P(right) = c + (1 - c) * inv_logit(ability - b),
   and their difficulties b ~ N(0, sigma) integrated out on fixed nodes. Which cells were right matters now, not
   how many: log joint density = right * log(c + odds) - seen * log1p(odds), up to a constant of the answers,
   where odds = exp(ability - b). Items stand sorted in groups of neighbours with one floor, and a group meets
   only the nodes on which its integrals live. `log_scale` is each item's largest log joint density at a
   reference point, which keeps exp() in range. */

/* Right answers (items x cells) and two more columns, 1 and -log_scale: what is common to a group's items, the
   weights of nodes among it, and the items' scales enter by the same matrix product, as each matrix of
   items x nodes costs. */
matrix with_common_terms(matrix right, vector log_scale) {
  return append_col(right, append_col(rep_vector(1, rows(right)), -log_scale));
}

real floor_margins(vector ability, real sigma, vector node, vector log_spacing, matrix design, matrix seen,
                   vector count, vector log_scale, vector chance, array[,] int group, array[] int seen_alike) {
  int C = rows(ability);
  int Q = rows(node);
  row_vector[Q] weight = node_weights(node, log_spacing, sigma)';
  matrix[C, Q] odds = exp(ability) * exp(-node)';
  matrix[C, Q] log_wrong = -log1p(odds);
  matrix[C + 2, Q] terms;
  real total = 0;
  int last = 0;
  terms[C + 2] = rep_row_vector(1, Q);
  for (g in 1 : size(group)) {
    int first_item = group[g, 2];
    int last_item = group[g, 3];
    int from = group[g, 4];
    int to = group[g, 5];
    vector[last_item - first_item + 1] integral;
    if (group[g, 1] != last) {
      last = group[g, 1];
      terms[1 : C] = log(chance[last] + odds);
    }
    if (seen_alike[g]) {
      terms[C + 1] = weight + seen[first_item] * log_wrong;
      integral = exp(design[first_item : last_item] * terms[, from : to]) * rep_vector(1, to - from + 1);
    } else {
      terms[C + 1] = weight;
      integral = exp(design[first_item : last_item] * terms[, from : to]
                     + seen[first_item : last_item] * log_wrong[, from : to]) * rep_vector(1, to - from + 1);
    }
    total += dot_product(count[first_item : last_item], log(integral));
  }
  return total + dot_product(count, log_scale);
}
