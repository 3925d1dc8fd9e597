"""
Credit: whom to lend to, and whether age decides
================================================

A default costs five times as much as a good customer who is turned down: the costs of
the German credit data. Applications are simulated, with the columns that a small bank
has.
"""

# %%
# 4,000 applications, 15% of which default. A scorecard can be read and printed.
import numpy as np
import polars as pl
from scipy.special import expit

from aucmax import MarginRanker
from aucmax.decisions import compare_groups, operating_point
from aucmax.plots import ScorecardDisplay
from aucmax.report import report_model

rng = np.random.default_rng(0)
age = rng.integers(20, 75, 4000)
income = rng.lognormal(10.3, 0.4, 4000).round(-2)
loan = rng.lognormal(9.0, 0.7, 4000).round(-2)
late = rng.poisson(0.4, 4000)
years = (rng.random(4000) * (age - 18)).round()
risk = 2.5 * loan / income + 0.8 * late - 0.06 * years
is_default = rng.random(4000) < expit(risk - 3.0)
X = pl.DataFrame(
    {"loan": loan, "income": income, "late payments": late, "years in job": years}
)
train, test = slice(2000), slice(2000, None)
model = MarginRanker("stumps", epsilon=0.5).fit(X[train], is_default[train])
display = ScorecardDisplay(model.scorecard()).plot()

# %%
# **The decision**: turn down above the threshold with the lowest cost, chosen on the
# applications of training.
costs = (5, 1)  # of a missed default, and of a rejected good customer
point = operating_point(
    is_default[train], model.decision_function(X[train]), costs=costs
)
scores, y = model.decision_function(X[test]), is_default[test]
print(operating_point(y, scores, threshold=point.threshold))

# %%
# The card has no age. Are good customers below 30 turned down more often even so?
young = np.where(age[test] < 30, "below 30", "30 and older")
print(compare_groups(y, scores, young, threshold=point.threshold))

# %%
# The report for the auditors, with the two groups.
report_model(model, X[test], y, by=young, title="Who will default?")
