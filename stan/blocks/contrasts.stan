  int<lower=0> K;                          // gaps: ability[first] - ability[second]
  array[K] int<lower=1, upper=C> first;
  array[K] int<lower=1, upper=C> second;
