"""
A scorecard with a certificate
==============================

Which tumours are malignant? :class:`aucmax.MarginRanker` answers with a short list of
rules and points, proves that no other weighting of such rules has a larger margin, and
reports how many pairs of patients reach that margin.
"""

# %%
# 569 tumours, 30 measurements. The positive class is malignant.
import polars as pl
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

import aucmax
from aucmax import MarginRanker
from aucmax.inference import auc_interval

cancer = load_breast_cancer()
X = pl.DataFrame(cancer.data, schema=list(cancer.feature_names))
is_malignant = cancer.target == 0
X_train, X_test, y_train, y_test = train_test_split(
    X, is_malignant, stratify=is_malignant, random_state=0
)

# %%
# A path over `epsilon`, the share of the pairs that may miss the margin: the larger it
# is, the fewer rules are needed. Each fit is warm-started.
path = MarginRanker("stumps").fit_path(X_train, y_train, epsilons=[0.02, 0.1, 0.3])
for model in path:
    interval = auc_interval(y_test, model.decision_function(X_test))
    print(f"epsilon {model.epsilon:<4}  {model.weights_.size:3} rules  AUC {interval}")

# %%
# The shortest one fits on a card. All thresholds of all columns were candidates.
model = path[-1]
print(model.scorecard())

# %%
# The guarantee on the training rows:
print(model.certificate_)

# %%
# The same card as a figure.
display = aucmax.plots.ScorecardDisplay(model.scorecard()).plot()
