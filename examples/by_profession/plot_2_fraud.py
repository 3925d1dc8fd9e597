"""
Fraud: which 100 payments to check today
========================================

Two people check 100 payments a day, at present the largest ones. Does a model that is
chosen by its first 100 rows find more? Payments are simulated: about 2% are fraud,
mostly at night, in new shops, by cards that are a few weeks old.
"""

# %%
# 9,000 payments of the past, 3,000 of today.
import numpy as np
import polars as pl

from aucmax import AutoRanker
from aucmax.decisions import operating_point
from aucmax.inference import compare_metric
from aucmax.plots import GainsDisplay
from aucmax.report import report_model

rng = np.random.default_rng(0)
columns = {
    "amount": rng.lognormal(3.5, 1.0, 12_000).round(2),
    "hour": rng.integers(0, 24, 12_000),
    "shop": rng.choice(["food", "fuel", "travel", "gift cards"], 12_000),
    "new shop": rng.random(12_000) < 0.3,
    "card days": rng.exponential(400, 12_000).round(),
}
risk = 0.7 * np.log(columns["amount"]) + 1.5 * (columns["shop"] == "gift cards")
is_night = columns["hour"] < 6
risk += 5.0 * (is_night & columns["new shop"] & (columns["card days"] < 90))
is_fraud = rng.random(12_000) < 1.0 / (1.0 + np.exp(7.5 - risk))
payments, past, today = pl.DataFrame(columns), slice(9000), slice(9000, None)

model = AutoRanker(metric="precision@100", models=["logistic", "lightgbm-small"])
model.fit(payments[past], is_fraud[past])
scores = {
    "model": model.decision_function(payments[today]),
    "largest first": columns["amount"][today],
}
y = is_fraud[today]
print(compare_metric(y, scores, "precision@100").differences[0])

# %%
# **The decision**: check the 100 highest-scored payments.
print(operating_point(y, scores["model"], alerts=100))
display = GainsDisplay.from_predictions(y, scores["model"])

# %%
# The report for the team. ``.save("fraud.html")`` writes the whole page.
report_model(model, payments[today], y, title="Which payments are fraud?")
