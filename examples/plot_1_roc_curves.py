"""
ROC curves with confidence bands
================================

Two models, one test set. The figure shows each ROC curve with its band, the AUC with
its interval, and a shaded range of false positive rates; a paired test compares the
models.
"""

# %%
# Data where positives are rare, and two models for it.
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

from aucmax.inference import auc_interval, compare_auc
from aucmax.metrics import partial_auc_score
from aucmax.plots import ROCCurveDisplay

X, y = make_classification(
    n_samples=4000,
    n_features=20,
    n_informative=8,
    weights=[0.9],
    flip_y=0.05,
    random_state=0,
)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)

linear = LogisticRegression().fit(X_train, y_train)
tree = DecisionTreeClassifier(max_depth=4, random_state=0).fit(X_train, y_train)
scores = {
    "logistic regression": linear.decision_function(X_test),
    "tree of depth 4": tree.predict_proba(X_test)[:, 1],
}

# %%
# A mapping from names to scores draws one curve each. ``fpr_range`` shades a range of
# false positive rates, and the legend adds the partial AUC over it (1 is perfect).
display = ROCCurveDisplay.from_predictions(y_test, scores, fpr_range=(0, 0.1))
display.ax_.set_title("Same test rows, two models")

# %%
# The numbers behind the legend:
for name, values in scores.items():
    low_part = partial_auc_score(y_test, values, fpr_range=(0, 0.1))
    print(f"{name:20} {auc_interval(y_test, values)}  pAUC {low_part:.3f}")

# %%
# Overlapping intervals do not mean that the models are equal, because both were
# tested on the same rows. The paired test uses that:
test = compare_auc(y_test, *scores.values())
print(test)
