# Numbers that tests compare with, from R 4.2.2 (Debian 12), eRm 1.0.2:
#   Rscript numbers.R > numbers.csv
# rasch_table.csv: 120 simulated rows, 8 columns. Its columns have parameters here; in this project they are
# cells, and the rows items.
suppressMessages(library(eRm))
put <- function(name, value) cat(sprintf("%s,%.10g\n", name, value), sep = "")
cat("name,value\n")
mh <- function(name, x) {
  one <- mantelhaen.test(x); two <- mantelhaen.test(x, correct = FALSE)
  put(paste0(name, "_log_odds"), log(one$estimate))
  put(paste0(name, "_sd"), diff(log(one$conf.int)) / 2 / qnorm(.975))
  put(paste0(name, "_corrected"), one$statistic)
  put(paste0(name, "_uncorrected"), two$statistic)
  put(paste0(name, "_p"), one$p.value)
}
mh("ucb", UCBAdmissions)
mh("four", array(c(2, 5, 6, 1, 3, 4, 2, 7, 8, 1, 5, 5, 0, 2, 3, 4), c(2, 2, 4)))
mh("small", array(c(10, 4, 7, 9, 1, 0, 0, 1, 12, 3, 8, 8), c(2, 2, 3)))
d <- read.csv("rasch_table.csv")
m <- RM(d)
put("loglik", m$loglik)
put(paste0("ability_", 0:7), m$betapar)  # easiness, sums to zero
put("andersen_median", LRtest(m, splitcr = "median")$LR)
put("andersen_mean", LRtest(m, splitcr = "mean")$LR)
set <- rep(1:2, 60)
a <- LRtest(m, splitcr = set)
put("andersen_alternate", a$LR); put("andersen_df", a$df)
ml <- MLoef(m, splitcr = c(1, 1, 1, 1, 2, 2, 2, 2))
put("martin_loef", ml$LR); put("martin_loef_df", ml$df)
p <- person.parameter(m)
put("reliability", SepRel(p)$sep.rel)
f <- itemfit(p); g <- personfit(p)
put(paste0("outfit_", 0:7), f$i.outfitMSQ)
put(paste0("infit_", 0:7), f$i.infitMSQ)
put(paste0("row_outfit_", names(g$p.outfitMSQ)), g$p.outfitMSQ)
put(paste0("row_infit_", names(g$p.infitMSQ)), g$p.infitMSQ)
