# Sample sizes and powers by pROC's power.roc.test, for tests/metrics/test_planning.py.
# Rscript planning.R > planning.csv
suppressMessages(library(pROC))
row <- function(kind, auc, other, ratio, r_p, r_n, low, high, r, n, level = .05)
  cat(sprintf("%s,%.12f,%.12f,%g,%g,%g,%g,%g,%d,%g,%.10f\n",
              kind, auc, other, ratio, r_p, r_n, low, high, n, level, r$power))
cat("kind,auc,other,ratio,correlation_p,correlation_n,low,high,n_positive,level,power\n")
for (auc in c(.6, .75, .9)) for (kappa in c(.5, 1, 4)) for (level in c(.01, .05)) {
  n <- 30L
  r <- power.roc.test(auc = auc, ncases = n, ncontrols = n * kappa, sig.level = level)
  row("one", auc, .5, kappa, 0, 0, 0, 1, r, n, level)
}
two <- function(a1, a2, rn, ra, kappa, n, ends = NULL) {
  area <- function(a) if (is.null(ends)) pnorm(a / sqrt(2)) else
    integrate(function(t) pnorm(a + qnorm(t)), ends[1], ends[2], rel.tol = 1e-10)$value
  p <- list(A1 = a1, B1 = 1, A2 = a2, B2 = 1, rn = rn, ra = ra, delta = area(a1) - area(a2))
  if (!is.null(ends))
    p <- c(p, list(FPR11 = ends[1], FPR12 = ends[2], FPR21 = ends[1], FPR22 = ends[2]))
  r <- power.roc.test(p, ncases = n, ncontrols = n * kappa)
  if (is.null(ends)) ends <- c(0, 1)
  row("two", area(a1) / diff(ends), area(a2) / diff(ends), kappa, ra, rn, ends[1], ends[2], r, n)
}
two(2.6, 1.9, .6, .6, 1, 100L)
two(1.3, .9, .5, .3, 2, 120L)
two(1.3, .9, .5, .3, 2, 120L, c(0, .2))
