"""
Drug discovery: which 50 compounds to test
==========================================

A screen has measured 2,000 compounds, about 6% of which are active. Which 50 of the
next 2,000 go to the laboratory? Compounds are simulated: 500 bits of substructures, in
families of similar compounds, as a screen has them.
"""

# %%
# A family shares most of its bits. What helps or hurts are 20 of the substructures.
import numpy as np
from scipy import sparse

from aucmax import AutoRanker
from aucmax.decisions import operating_point
from aucmax.plots import PrecisionRecallDisplay
from aucmax.report import report_model

rng = np.random.default_rng(0)
family = np.repeat(np.arange(400), 10)
bits = rng.random((400, 500))[family] < 0.08
bits ^= rng.random(bits.shape) < 0.02
effects = np.zeros(500)
effects[:20] = rng.normal(0.0, 2.0, 20)
is_active = rng.random(4000) < 1.0 / (1.0 + np.exp(4.0 - bits @ effects))
X, y = sparse.csr_array(bits.astype(float)), is_active
measured, new = slice(2000), slice(2000, None)

# %%
# New compounds come from other families: folds keep each family together, or the
# estimate is that of compounds that are nearly known.
model = AutoRanker(metric="precision@50", models=["logistic-strong", "extra-trees"])
model.fit(X[measured], y[measured], groups=family[measured])
print(model.summary())

# %%
# **The decision**: the 50 highest-scored compounds; of 50 drawn at random, three are
# active.
scores = model.decision_function(X[new])
print(operating_point(y[new], scores, alerts=50))
display = PrecisionRecallDisplay.from_predictions(y[new], scores)

# %%
# The report for the project. ``.save("compounds.html")`` writes the whole page.
report_model(model, X[new], y[new], title="Which compounds are active?")
