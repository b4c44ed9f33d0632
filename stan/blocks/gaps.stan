  vector[J] global_gap = ability[, 1] - ability[, 2];
  vector[J] local_gap = ability[, 3] - ability[, 4];
  vector[J] knowledge_gap = local_gap - global_gap;
  vector[3] mean_gap = [mean_where(global_gap, paired[1]), mean_where(local_gap, paired[2]),
                        mean_where(knowledge_gap, paired[1] .* paired[2])]';
  matrix[4, 4] correlation = multiply_lower_tri_self_transpose(correlation_root);
