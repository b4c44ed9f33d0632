# Reference numbers for tests/validity, computed with base R from nested.csv (artificial scores of 29 models).
# Run in this folder: Rscript reference.R > nested_r.csv
d <- read.csv("nested.csv")
base <- lm(native ~ log_parameters + proficiency, d)
ext <- lm(native ~ log_parameters + proficiency + proxy, d)
a <- anova(base, ext)
# tau_b with the variance corrected for ties, no continuity correction
k <- suppressWarnings(cor.test(d$native, d$proxy, method = "kendall", exact = FALSE, continuity = FALSE))
vif <- function(y, x) 1 / (1 - summary(lm(y ~ x))$r.squared)
X <- as.matrix(d[, c("log_parameters", "proficiency", "proxy")])
e <- residuals(ext) / (1 - hatvalues(ext))
b <- residuals(base) / (1 - hatvalues(base))
tss <- sum((d$native - mean(d$native))^2)
pc <- cor(residuals(base), residuals(lm(proxy ~ log_parameters + proficiency, d)))
no_m03 <- summary(lm(native ~ log_parameters + proficiency + proxy, d[d$model != "m03", ]))$coefficients
out <- c(
  f = a$F[2], p_f = a$`Pr(>F)`[2], df_resid = a$Res.Df[2],
  r2_base = summary(base)$r.squared, r2_ext = summary(ext)$r.squared,
  adj_r2_base = summary(base)$adj.r.squared, adj_r2_ext = summary(ext)$adj.r.squared,
  beta = coef(ext)[["proxy"]], beta_se = summary(ext)$coefficients["proxy", 2],
  beta_std = coef(lm(scale(native) ~ scale(log_parameters) + scale(proficiency) + scale(proxy), d))[[4]],
  partial_r = pc, cv_r2_base = 1 - sum(b^2) / tss, cv_r2_ext = 1 - sum(e^2) / tss,
  tau = k$estimate[["tau"]], tau_p = k$p.value,
  vif_1 = vif(X[, 1], X[, -1]), vif_2 = vif(X[, 2], X[, -2]), vif_3 = vif(X[, 3], X[, -3]),
  leverage_m03 = hatvalues(ext)[[4]], studentised_m03 = rstudent(ext)[[4]],
  cooks_d_m03 = cooks.distance(ext)[[4]], dfbeta_proxy_m03 = dfbetas(ext)[4, "proxy"],
  beta_without_m03 = no_m03["proxy", 1], p_without_m03 = no_m03["proxy", 4]
)
cat(sprintf("# R %s.%s, base packages\n", R.version$major, R.version$minor))
cat("name,value\n")
cat(sprintf("%s,%.17g\n", names(out), out), sep = "")
