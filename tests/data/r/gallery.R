# Numbers of the gallery from R, for tests/gallery: lme4's glmer, survival's clogit, glm and t.test.
#
#   Rscript tests/data/r/gallery.R FOLDER > tests/data/r/gallery.csv
#
# FOLDER holds mistral.csv (TruthfulQA, the three Mistral models in English and Galician: model, subset, language, item, correct)
# and, where there is one, veritas.csv (gemma-2-9b in English and Galician: subset, language, item, crm_logit).
# R 4.2.2, lme4 1.1-31, survival 3.5-3. Logits.
suppressMessages({library(lme4); library(survival)})
folder <- commandArgs(trailingOnly = TRUE)[1]
out <- function(what, estimate, sd) cat(sprintf("%s,%.6f,%.6f\n", what, estimate, sd))
cat("what,estimate,sd\n")

mistral <- read.csv(file.path(folder, "mistral.csv"), colClasses = c(item = "character"))
for (subset in c("CA", "CS")) {
  own <- mistral[mistral$subset == subset, ]
  own$cell <- factor(paste(own$model, own$language))
  fitted <- glmer(correct ~ 0 + cell + (1 | item), own, binomial, nAGQ = 25)
  weight <- ifelse(grepl(" gl$", names(fixef(fitted))), 1, -1) / 3
  out(paste0("mistral gl ", subset, " glmer"), sum(weight * fixef(fitted)),
      sqrt(drop(t(weight) %*% as.matrix(vcov(fitted)) %*% weight)))
}

one <- mistral[mistral$model == "mistralai/Mistral-7B-v0.3" & mistral$subset == "CA", ]
one$local <- as.numeric(one$language == "gl")
paired <- clogit(correct ~ local + strata(item), one, method = "exact")
out("Mistral-7B-v0.3 gl CA clogit", coef(paired), sqrt(vcov(paired)[1, 1]))

# latxa-70b-v1 on BertaQA, as printed: Basque and English on 2,392 global and 2,364 local questions
counts <- data.frame(p = c(71.78, 75.04, 59.98, 56.73) / 100, n = c(2392, 2392, 2364, 2364),
                     local = c(0, 0, 1, 1), eu = c(1, 0, 1, 0))
crossed <- suppressWarnings(glm(p ~ local * eu, binomial, counts, weights = n))
out("latxa-70b-v1 glm", coef(crossed)["local:eu"], sqrt(vcov(crossed)["local:eu", "local:eu"]))

veritas <- file.path(folder, "veritas.csv")
if (file.exists(veritas)) {
  frame <- read.csv(veritas, colClasses = c(item = "character"))
  for (subset in c("CA", "CS")) {
    own <- frame[frame$subset == subset & !is.na(frame$crm_logit), ]
    both <- merge(own[own$language == "gl", ], own[own$language == "en", ], by = "item")
    test <- t.test(both$crm_logit.x, both$crm_logit.y, paired = TRUE)
    out(paste0("gemma-2-9b gl ", subset, " t.test"), unname(test$estimate), test$stderr)
  }
}
