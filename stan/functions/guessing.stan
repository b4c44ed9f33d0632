/* A right answer may be a guess: P(right) = c + (1 - c) * inv_logit(eta), c the chance of a lucky one. With a
   floor the totals are no longer sufficient, so the answers themselves meet the curves in one matrix product. */
matrix log_right_with_floor(matrix eta, real c) {
  return log(c + (1 - c) * inv_logit(eta));
}

matrix log_wrong_with_floor(matrix eta, real c) {
  return log1m(c) - log1p_exp(eta);
}
