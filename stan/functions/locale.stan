/* One locale. A model's abilities stand in a row of four cells, "facets":
   1 CA local, 2 CA pivot, 3 CS local, 4 CS pivot. Over models they are jointly normal; `root` is the Cholesky
   factor of their covariance.

   How the abilities are parametrised changes no posterior but decides how well it is sampled. A facet's J
   abilities are their mean and departures from it (J - 1 dimensions). Given the hyperparameters and rough
   estimates of the departures with known variances, the departures would be normal with precision
   inverse(root root') + inverse(rough variances); they are the mean of that distribution plus its root times
   `standard`, which therefore is about standard normal whatever the answers say: the centred form where they
   say much, the non-centred one where they say little, direction by direction. */

/* Cholesky factor of the precision of a model's departures given their rough estimates. */
matrix precision_root(matrix root, vector rough_variance) {
  matrix[4, 4] inverse_root = mdivide_left_tri_low(root, identity_matrix(4));
  return cholesky_decompose(add_diag(crossprod(inverse_root), inv(rough_variance)));
}

/* Departures (4 x J) from standard ones; rows of both and of `rough` sum to zero. */
matrix departures(array[] vector standard, matrix rough, vector rough_variance, matrix precision) {
  matrix[4, cols(rough)] u = [standard[1]', standard[2]', standard[3]', standard[4]'];
  u += mdivide_left_tri_low(precision, diag_pre_multiply(inv(rough_variance), rough));
  return mdivide_right_tri_low(u', precision)';
}

/* Density of the standard departures: that of the departures and the Jacobian, both in J - 1 dimensions. */
real departures_lpdf(matrix departure, matrix root, matrix precision) {
  real log_volume = sum(log(diagonal(root))) + sum(log(diagonal(precision)));
  return -0.5 * sum(square(mdivide_left_tri_low(root, departure))) - (cols(departure) - 1) * log_volume;
}

/* Cholesky factor of a correlation matrix from inverse hyperbolic tangents of partial correlations, row by row;
   Stan's cholesky_factor_corr, but open to offsets and multipliers. */
matrix correlation_cholesky(vector partial) {
  matrix[4, 4] root = identity_matrix(4);
  int k = 0;
  for (i in 2 : 4) {
    real left = 1;
    for (j in 1 : (i - 1)) {
      k += 1;
      root[i, j] = left * tanh(partial[k]);
      left /= cosh(partial[k]);
    }
    root[i, i] = left;
  }
  return root;
}

/* The LKJ distribution of the matrix in these coordinates: partial correlations given the first j - 1 facets are
   independent, with density (1 - r^2)^(shape + (3 - j) / 2 - 1) (Lewandowski et al. 2009); dr = (1 - r^2) dy. */
real lkj_partial_lpdf(vector partial, real shape) {
  real total = 0;
  int k = 0;
  for (i in 2 : 4) {
    for (j in 1 : (i - 1)) {
      k += 1;
      total -= 2 * (shape + (3 - j) / 2.0) * log_sum_exp(partial[k], -partial[k]);
    }
  }
  return total;
}

/* Means over models of the four facets: a subset's level, plus or minus half the gap. */
row_vector facet_means(vector level, vector gap) {
  return [level[1] + gap[1] / 2, level[1] - gap[1] / 2, level[2] + gap[2] / 2, level[2] - gap[2] / 2];
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
