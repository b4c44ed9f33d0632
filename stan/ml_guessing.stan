/* Marginal maximum likelihood of the Rasch model with a guessing floor for one subset: abilities are free,
   difficulties b = sigma * z are integrated out over equally spaced nodes z. Items are sorted by floor.
   With every floor at zero this is ml_marginal.stan. Parameters are unconstrained: no Jacobian enters. */
functions {
#include functions/guessing.stan
}
data {
  int<lower=1> C;                          // cells
  int<lower=1> I;                          // distinct items: same floor, same answers
  int<lower=1> F;                          // distinct floors
  int<lower=2> Q;                          // nodes
  vector<lower=0, upper=1>[F] chance;      // floor c
  array[F] int<lower=1, upper=I> start;    // items first .. last of each floor
  array[F] int<lower=1, upper=I> stop;
  matrix<lower=0, upper=1>[I, C] right;    // answer, 0 where not seen
  matrix<lower=0, upper=1>[I, C] wrong;    // 1 - answer, 0 where not seen
  vector<lower=0>[I] n_items;              // items with these answers
  vector[Q] z;                             // nodes, in units of sigma
  vector[Q] log_weight;                    // log of spacing times standard normal density
#include blocks/rough.stan
#include blocks/contrasts.stan
}
parameters {
  // Offsets and multipliers put parameters on their rough scales; they change no maximum.
  vector<offset=rough_ability, multiplier=ability_error>[C] ability;  // logit
  real<offset=rough_log_sigma, multiplier=log_sigma_error> log_sigma;  // of the difficulties' sd, logit
}
model {
  matrix[C, Q] eta = rep_matrix(ability, Q) - rep_matrix(exp(log_sigma) * z', C);
  for (f in 1 : F) {
    int n = stop[f] - start[f] + 1;
    matrix[n, Q] log_joint = right[start[f] : stop[f]] * log_right_with_floor(eta, chance[f])
                             + wrong[start[f] : stop[f]] * log_wrong_with_floor(eta, chance[f])
                             + rep_matrix(log_weight', n);
    vector[n] log_integral;
    for (i in 1 : n) {
      log_integral[i] = log_sum_exp(log_joint[i]);
    }
    target += dot_product(n_items[start[f] : stop[f]], log_integral);
  }
}
generated quantities {
  vector[K] gap = ability[first] - ability[second];
}
