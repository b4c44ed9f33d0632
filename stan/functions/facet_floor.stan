/* The likelihood of a subset's items with a guessing floor, P(right) = c + (1 - c) * inv_logit(ability - b),
   and their difficulties b ~ N(0, sigma) integrated out on fixed nodes. Which cells were right matters now, not
   how many: log joint density = right * log(c + odds) - seen * log1p(odds), up to a constant of the answers,
   where odds = exp(ability - b). Items stand sorted in groups of neighbours with one floor, and a group meets
   only the nodes on which its integrals live. `log_scale` is each item's largest log joint density at a
   reference point, which keeps exp() in range. */
real floor_margins(vector ability, real sigma, vector node, vector log_spacing, matrix right, matrix seen,
                   vector count, vector log_scale, vector chance, array[,] int group, array[] int seen_alike) {
  int C = rows(ability);
  int Q = rows(node);
  vector[Q] weight = node_weights(node, log_spacing, sigma);
  matrix[C, Q] odds = exp(ability) * exp(-node)';
  matrix[C, Q] log_wrong = -log1p(odds);
  real total = 0;
  int last = 0;
  matrix[C, Q] log_right;
  for (g in 1 : size(group)) {
    int first_item = group[g, 2];
    int last_item = group[g, 3];
    int from = group[g, 4];
    int to = group[g, 5];
    int n = last_item - first_item + 1;
    if (group[g, 1] != last) {
      last = group[g, 1];
      log_right = log(chance[last] + odds);
    }
    matrix[n, to - from + 1] log_joint = right[first_item : last_item] * log_right[, from : to];
    if (seen_alike[g]) {
      log_joint += rep_matrix(seen[first_item] * log_wrong[, from : to] + weight[from : to]', n);
    } else {
      log_joint += seen[first_item : last_item] * log_wrong[, from : to] + rep_matrix(weight[from : to]', n);
    }
    log_joint -= rep_matrix(log_scale[first_item : last_item], to - from + 1);
    total += dot_product(count[first_item : last_item],
                         log(exp(log_joint) * rep_vector(1, to - from + 1)));
  }
  return total + dot_product(count, log_scale);
}
