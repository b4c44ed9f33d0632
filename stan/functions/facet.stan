/* One locale. A model's abilities stand in a row of four cells, "facets":
   1 CA local, 2 CA pivot, 3 CS local, 4 CS pivot. */

/* Every model's four abilities jointly normal: mean and spread per facet, `root` the Cholesky factor of
   their correlations. */
real facets_lpdf(matrix ability, row_vector mean, vector spread, matrix root) {
  int J = rows(ability);
  matrix[4, J] z = mdivide_left_tri_low(diag_pre_multiply(spread, root), (ability - rep_matrix(mean, J))');
  return -0.5 * sum(square(z)) - J * (sum(log(spread)) + sum(log(diagonal(root)))) - 2 * J * log(2 * pi());
}

/* The same distribution from standard normals (4 x J): the form that samples well when answers say little
   about a single ability, as the centred one does when they say much. */
matrix from_standard(matrix standard, row_vector mean, vector spread, matrix root) {
  return rep_matrix(mean, cols(standard)) + (diag_pre_multiply(spread, root) * standard)';
}

/* Cells of one subset in the order of its rows of data: local of every model, then pivot. */
vector cells_of(matrix ability, int subset) {
  return to_vector(ability[, (2 * subset - 1) : (2 * subset)]);
}

/* Standard deviation over the population of items, where sigma is that of a difficulty once n of them are
   anchored to sum to zero. */
real unanchored(real sigma, int n) {
  return n > 1 ? sigma * sqrt(n / (n - 1.0)) : sigma;
}

/* Mean of the values whose indicator is 1; NaN where none is. */
real mean_where(vector values, vector chosen) {
  return sum(chosen) > 0 ? dot_product(values, chosen) / sum(chosen) : not_a_number();
}

/* Difficulties that sum to zero, as n draws from N(0, sd) less their mean have it: n - 1 dimensions. */
real anchored_normal_lpdf(vector difficulty, real sd) {
  int n = rows(difficulty);
  return -0.5 * dot_self(difficulty) / square(sd) - (n - 1) * (log(sd) + 0.5 * log(2 * pi()));
}
