/* The posterior of one locale, continuous responses (Samejima 1973, doi:10.1007/BF02291114):
   x = logit of the probability on the right option ~ N(ability - difficulty, noise of the subset).
   Everything else as in posterior_joint.stan. */
functions {
#include functions/locale.stan
#include functions/locale_continuous.stan
}
data {
#include blocks/data.stan
  // Items of each subset; a subset without items comes as one item that nobody saw.
  int<lower=1> I_ca;
  int<lower=1> I_cs;
  matrix<lower=0, upper=1>[2 * J, I_ca] seen_ca;  // 1 where a response was observed
  matrix<lower=0, upper=1>[2 * J, I_cs] seen_cs;
  vector[2 * J] cell_total_ca;             // sum of each cell's responses
  vector[2 * J] cell_total_cs;
  vector[I_ca] item_total_ca;
  vector[I_cs] item_total_cs;
  vector<lower=0>[2] sum_of_squares;       // of a subset's responses
  vector[2] rough_log_noise;
  vector<lower=0>[2] log_noise_error;
  vector<lower=0>[2] prior_noise;          // median and log-sd of the noise
}
parameters {
#include blocks/parameters.stan
  sum_to_zero_vector[I_ca] difficulty_ca;  // logit
  sum_to_zero_vector[I_cs] difficulty_cs;
  vector<offset=rough_log_noise, multiplier=log_noise_error>[2] log_noise;  // of the sd of a response
}
transformed parameters {
  vector[2] noise = exp(log_noise);        // logit
#include blocks/abilities.stan
}
model {
  vector[2] spread = [unanchored(sigma_b[1], I_ca), unanchored(sigma_b[2], I_cs)]';
  vector[2] level_variance = square(spread) ./ [I_ca, I_cs]';
  target += crm_margins(cells_of(ability, 1), difficulty_ca, noise[1], seen_ca, cell_total_ca,
                        item_total_ca, sum_of_squares[1]);
  target += crm_margins(cells_of(ability, 2), difficulty_cs, noise[2], seen_cs, cell_total_cs,
                        item_total_cs, sum_of_squares[2]);
  target += anchored_normal_lpdf(difficulty_ca | spread[1]);
  target += anchored_normal_lpdf(difficulty_cs | spread[2]);
  log_noise ~ normal(log(prior_noise[1]), prior_noise[2]);
#include blocks/priors.stan
}
generated quantities {
#include blocks/gaps.stan
  vector[2 * J] cell_rep_ca = replicate_cells_rng(cells_of(ability, 1), difficulty_ca, noise[1], seen_ca);
  vector[2 * J] cell_rep_cs = replicate_cells_rng(cells_of(ability, 2), difficulty_cs, noise[2], seen_cs);
  vector[I_ca] item_rep_ca = replicate_items_rng(cells_of(ability, 1), difficulty_ca, noise[1], seen_ca);
  vector[I_cs] item_rep_cs = replicate_items_rng(cells_of(ability, 2), difficulty_cs, noise[2], seen_cs);
}
