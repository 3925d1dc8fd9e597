# Numbers of survival and riskRegression on drawn rows, for tests/metrics/test_concordance_against.py.
# Rscript concordance.R > concordance.csv
suppressMessages({library(survival); library(riskRegression); library(prodlim)})
set.seed(11)
n <- 160
a <- round(rnorm(n), 1)
b <- round(0.6 * a + rnorm(n), 1)
t <- rexp(n) * exp(-0.8 * a - 0.3 * b)
u <- rexp(n, 0.6)
e <- as.numeric(t <= u)
time <- round(pmin(t, u), 6)
coarse <- ceiling(4 * time)                  # ties of times, also of events with censored rows
strata <- rbinom(n, 2, 0.5)
cluster <- rep(1:40, 4)
w <- round(runif(n) + 0.5, 2)
cat("# survival", as.character(packageVersion("survival")), "riskRegression",
    as.character(packageVersion("riskRegression")), "\n")
show <- function(name, ...) cat(paste(c(name, sprintf("%.12g", c(...))), collapse = ","), "\n", sep = "")
for (name in c("e", "time", "coarse", "a", "b", "strata", "cluster", "w")) show(name, get(name))
of <- function(name, f) show(name, f$concordance, f$var)
of("harrell", concordance(Surv(time, e) ~ a, reverse = TRUE))
of("harrell coarse", concordance(Surv(coarse, e) ~ a, reverse = TRUE))
of("harrell strata", concordance(Surv(coarse, e) ~ a + strata(strata), reverse = TRUE))
of("harrell weights", concordance(Surv(coarse, e) ~ a, weights = w, reverse = TRUE))
of("harrell cluster", concordance(Surv(coarse, e) ~ a, cluster = cluster, reverse = TRUE))
of("harrell ymax", concordance(Surv(time, e) ~ a, ymax = 0.7, reverse = TRUE))
of("uno", concordance(Surv(time, e) ~ a, timewt = "n/G2", reverse = TRUE))
of("uno coarse", concordance(Surv(coarse, e) ~ a, timewt = "n/G2", reverse = TRUE))
of("uno ymax", concordance(Surv(time, e) ~ a, timewt = "n/G2", ymax = 0.7, reverse = TRUE))
fit <- coxph(Surv(coarse, e) ~ a); other <- coxph(Surv(coarse, e) ~ b)
both <- concordance(fit, other)
show("two models", both$concordance, both$var)
d <- data.frame(time = time, e = e, coarse = coarse, a = a, b = b)
scored <- function(name, formula) {
  # risks are probabilities; only their order matters to the AUC
  x <- Score(list(A = matrix(rep(plogis(a), 3), ncol = 3), B = matrix(rep(plogis(b), 3), ncol = 3)),
    formula = formula, data = d, metrics = "auc", times = if (name == "auc") c(0.2, 0.5, 1) else c(1, 2, 4),
    cens.model = "km", se.fit = TRUE, conservative = FALSE, null.model = FALSE, contrasts = TRUE)
  s <- x$AUC$score[x$AUC$score$model == "A", ]
  show(name, s$AUC, s$se)
}
scored("auc", Hist(time, e) ~ 1)
scored("auc coarse", Hist(coarse, e) ~ 1)
