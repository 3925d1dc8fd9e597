"""
Search: whether to ship a new ranking
=====================================

A shop ranks products by how often their words match. Is a model of three columns
better, by enough to change the shop? People have judged the first 20 products of 300
queries from 0 (wrong) to 3 (perfect). Queries and judgements are simulated.
"""

# %%
# Some queries have good answers only, others none: levels compare within a query.
import matplotlib.pyplot as plt
import numpy as np
import polars as pl

from aucmax import AutoRanker
from aucmax.inference import compare_metric
from aucmax.metrics import ndcg_score
from aucmax.report import report_model

rng = np.random.default_rng(0)
query = np.repeat(np.arange(300), 20)
match = rng.gamma(2.0, size=6000) + rng.gamma(2.0, size=300)[query]
rating = rng.normal(4.0, 0.5, 6000).clip(1, 5).round(1)
is_sold_out = rng.random(6000) < 0.15
quality = match + 1.5 * rating - 3.0 * is_sold_out + rng.normal(0.0, 1.5, 6000)
quality -= rng.normal(size=300)[query]
grade = np.digitize(quality, np.quantile(quality, [0.6, 0.85, 0.95]))
X = pl.DataFrame({"match": match, "rating": rating, "sold out": is_sold_out})
past, test = query < 200, query >= 200

model = AutoRanker(models=["lambdamart-ndcg", "logistic"], metric="ndcg@10")
model.fit(X.filter(past), grade[past], qid=query[past])
print(model.summary())

# %%
# **The decision**: ship, if the interval of the gain over 100 other queries lies above
# the 0.02 that a change of the shop costs.
scores = {"new": model.decision_function(X.filter(test)), "words alone": match[test]}
comparison = compare_metric(grade[test], scores, "ndcg@10", qid=query[test])
print(comparison.differences[0])

# %%
# Query by query: the gain is not everywhere.
one_by_one = {"qid": query[test], "k": 10, "average": None}
new, words = (ndcg_score(grade[test], s, **one_by_one) for s in scores.values())
_, axes = plt.subplots(figsize=(5, 3), layout="constrained")
axes.hist(new - words, bins=30)
axes.axvline(0.0, color="black")
axes.set(xlabel="gain of a query in NDCG@10", ylabel="queries")

# %%
# The report for the shop. ``.save("search.html")`` writes the whole page.
report_model(
    model, X.filter(test), grade[test], qid=query[test], title="Ship the new ranking?"
)
