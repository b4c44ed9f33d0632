/* The likelihood of pairs: a model's answers to one item in both languages. What the item is for this model,
   e = sigma * z, is shared by the two answers and by nobody else's: difficulty and what this model happens to
   know together. Given it the answers are independent, P(right) = c + (1 - c) * inv_logit(ability - e), so that
   a model's pairs are four counts and its likelihood four integrals, whatever the number of items. */
real paired_margins(vector local, vector pivot, real sigma, vector z, vector weight, vector chance,
                    array[] matrix count) {
  int J = rows(local);
  int Q = rows(z);
  matrix[J, Q] effect = rep_matrix(sigma * z', J);
  matrix[J, Q] know_local = inv_logit(rep_matrix(local, Q) - effect);
  matrix[J, Q] know_pivot = inv_logit(rep_matrix(pivot, Q) - effect);
  // 1 - p without cancellation, for abilities far above every item
  matrix[J, Q] lack_local = inv_logit(effect - rep_matrix(local, Q));
  matrix[J, Q] lack_pivot = inv_logit(effect - rep_matrix(pivot, Q));
  real total = 0;
  for (f in 1 : rows(chance)) {
    real c = chance[f];
    matrix[J, Q] right_local = c + (1 - c) * know_local;
    matrix[J, Q] right_pivot = c + (1 - c) * know_pivot;
    matrix[J, 4] pattern;                  // both right, local alone, pivot alone, none
    pattern[, 1] = (right_local .* right_pivot) * weight;
    pattern[, 2] = (1 - c) * (right_local .* lack_pivot) * weight;
    pattern[, 3] = (1 - c) * (lack_local .* right_pivot) * weight;
    pattern[, 4] = square(1 - c) * (lack_local .* lack_pivot) * weight;
    total += sum(count[f] .* log(pattern));
  }
  return total;
}
