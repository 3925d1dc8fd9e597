# Numbers of pROC and riskRegression on drawn rows, for tests/metrics/test_against_r.py.
# Rscript inference.R > inference.csv
suppressMessages({library(pROC); library(riskRegression)})
set.seed(7)
n <- 150
y <- rbinom(n, 1, 0.4)
a <- round(rnorm(n) + 1.0 * y, 2)
b <- round(rnorm(n) + 0.6 * y + 0.3 * a, 1)
c <- round(rnorm(n) + 0.8 * y, 3)
u <- rbinom(90, 1, 0.5)
v <- round(rnorm(90) + 0.9 * u, 2)
cat("# pROC", as.character(packageVersion("pROC")), "riskRegression",
    as.character(packageVersion("riskRegression")), "\n")
show <- function(name, ...) cat(paste(c(name, sprintf("%.12g", c(...))), collapse = ","), "\n", sep = "")
for (name in c("y", "a", "b", "c", "u", "v")) show(name, get(name))
quick <- function(y, s) roc(y, s, levels = c(0, 1), direction = "<", quiet = TRUE)
ra <- quick(y, a); rb <- quick(y, b); rv <- quick(u, v)
show("auc", auc(ra), auc(rb))
show("ci.auc", ci.auc(ra))
show("ci.auc 90", ci.auc(ra, conf.level = 0.9))
show("var", var(ra))
show("cov", cov(ra, rb))
t <- roc.test(ra, rb, method = "delong", paired = TRUE)
show("roc.test paired", t$statistic, t$p.value, t$conf.int)
t <- roc.test(ra, rv, method = "delong", paired = FALSE)
show("roc.test unpaired", t$statistic, t$p.value, t$parameter)
show("partial spec", auc(ra, partial.auc = c(1, 0.8)), auc(ra, partial.auc = c(0.9, 0.6)))
show("partial spec correct", auc(ra, partial.auc = c(1, 0.8), partial.auc.correct = TRUE))
show("partial sens", auc(ra, partial.auc = c(1, 0.8), partial.auc.focus = "sens"))
show("partial sens correct", auc(ra, partial.auc = c(1, 0.8), partial.auc.focus = "sens",
     partial.auc.correct = TRUE))
k <- coords(ra, x = c(0.5, 1, 1.5), input = "threshold",
  ret = c("sensitivity", "specificity", "ppv", "npv", "accuracy", "youden", "tp", "fp"),
  transpose = TRUE)
show("coords", k)
show("coords best", coords(ra, "best", ret = c("threshold", "specificity", "sensitivity"), transpose = TRUE))
d <- data.frame(y = y, a = a, b = b, c = c)
d$pa <- plogis(a); d$pb <- plogis(b); d$pc <- plogis(c)
x <- Score(list(A = d$pa, B = d$pb, C = d$pc), formula = y ~ 1, data = d,
  metrics = "auc", se.fit = TRUE, contrasts = TRUE, null.model = FALSE)
show("Score", x$AUC$score$AUC, x$AUC$score$se)
show("Score contrasts", x$AUC$contrasts$delta.AUC, x$AUC$contrasts$se, x$AUC$contrasts$p)
show("Score limits", x$AUC$contrasts$lower, x$AUC$contrasts$upper)
