# Slope and intercept by rms, for tests/decisions/test_reliability.py.
# Rscript calibration.R > calibration.csv
suppressMessages(library(rms))
cat("rows,shift,tilt,intercept,slope,in_the_large,brier\n")
for (n in c(40, 200)) for (shift in c(-.7, .4)) for (tilt in c(.5, 1, 2)) {
  k <- seq_len(n)
  x <- 2 * sin(12.9898 * k)                    # log-odds; no random numbers
  u <- (78.233 * k) %% 1
  y <- as.integer(u < plogis(shift + tilt * x))
  p <- plogis(x)
  v <- val.prob(p, y, pl = FALSE)
  large <- coef(glm(y ~ 1, family = binomial, offset = qlogis(p), epsilon = 1e-14))
  cat(sprintf("%d,%g,%g,%.10f,%.10f,%.10f,%.10f\n", n, shift, tilt,
              v["Intercept"], v["Slope"], large, v["Brier"]))
}
