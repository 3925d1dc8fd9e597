"""
Diagnosis: which tumours need a biopsy
======================================

Thirty measurements of the cells of 569 tumours (real data, from Wisconsin). A missed
cancer is far worse than a needless biopsy: at most 2 of 100 may be missed.
"""

# %%
# The table, a model of three combined ones, and its estimate for new patients.
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from aucmax import AutoRanker
from aucmax.decisions import operating_point
from aucmax.plots import DecisionCurveDisplay
from aucmax.report import report_model

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(
    X, y == 0, stratify=y, test_size=0.4, random_state=0
)
model = AutoRanker(models=["logistic", "extra-trees", "kernel"]).fit(X_train, y_train)
print(model.summary())

# %%
# **The decision**: biopsy above the threshold that finds 98% of the cancers. The
# intervals state how far 228 patients can be trusted.
print(operating_point(y_test, model.decision_function(X_test), sensitivity=0.98))

# %%
# Is that better than a biopsy for everybody? The net benefit, at any weight of a
# needless biopsy against a cancer that is found:
probabilities = model.predict_proba(X_test)[:, 1]
display = DecisionCurveDisplay.from_predictions(y_test, probabilities)

# %%
# The report for the tumour board. ``.save("biopsies.html")`` writes the whole page.
report_model(model, X_test, y_test, title="Which tumours need a biopsy?")
