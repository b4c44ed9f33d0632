/* The likelihood of items with the difficulty b = sigma * z, z ~ N(0, 1), integrated out on equally spaced
   nodes z (the trapezium rule, which for such smooth integrands converges faster than any power of the
   spacing). For items answered by the same cells the integral depends on the answers only through the
   item's total, so one row of exponents serves a whole pattern and one log-sum-exp a distinct total. */

/* Row p: log weight of each node times the probability that every cell seen in pattern p is wrong. */
matrix pattern_exponents(matrix seen, vector ability, real sigma, vector z, vector log_weight) {
  int C = rows(ability);
  int Q = rows(z);
  matrix[C, Q] wrong = log1p_exp(rep_matrix(ability, Q) - rep_matrix(sigma * z', C));
  return rep_matrix(log_weight', rows(seen)) - seen * wrong;
}

/* Log of the integral for one item total, given its pattern's exponents. */
real item_log_integral(row_vector exponents, real total, real sigma, vector z) {
  return log_sum_exp(exponents' - total * sigma * z);
}
