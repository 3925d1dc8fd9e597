"""
Figures for decisions
=====================

How many cases can we review, how likely is a case, and which columns matter? Each
figure answers one question. All are displays like those of scikit-learn, with
``from_predictions`` and ``from_estimator``.
"""

# %%
# Rare positives, and two models; the second is overconfident.
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

from aucmax.plots import (
    CalibrationDisplay,
    DecisionCurveDisplay,
    GainsDisplay,
    ImportanceDisplay,
    PrecisionRecallDisplay,
    ROCCurveDisplay,
    ScoreDensityDisplay,
)

X, y = make_classification(
    n_samples=6000,
    n_features=12,
    n_informative=5,
    weights=[0.93],
    flip_y=0.03,
    random_state=1,
)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
linear = LogisticRegression().fit(X_train, y_train)
bayes = GaussianNB().fit(X_train, y_train)
chances = {
    "logistic regression": linear.predict_proba(X_test)[:, 1],
    "naive Bayes": bayes.predict_proba(X_test)[:, 1],
}

# %%
# **We can review 100 cases.** The curves show how many positives are among them; the
# lift compares that with a random order.
GainsDisplay.from_predictions(y_test, chances, alerts=100)

# %%
GainsDisplay.from_predictions(y_test, chances, alerts=100, kind="lift")

# %%
# **How precise is the list?** Precision falls as recall rises.
PrecisionRecallDisplay.from_predictions(y_test, chances)

# %%
# **At most one false alarm in twenty negatives.** The legend has the partial AUC
# over this range.
ROCCurveDisplay.from_predictions(y_test, chances, fpr_range=(0, 0.05))

# %%
# **How likely is a case?** On the dashed line, predicted and observed probabilities
# agree.
CalibrationDisplay.from_predictions(y_test, chances)

# %%
# **Does acting on these probabilities help?** Above both grey lines it does.
DecisionCurveDisplay.from_predictions(y_test, chances)

# %%
# **Where do the classes overlap?** Densities of the scores, with a threshold.
ScoreDensityDisplay.from_estimator(linear, X_test, y_test, threshold=-1.5)

# %%
# **Which columns matter?** The drop in AUC when a column is shuffled.
ImportanceDisplay.from_estimator(linear, X_test, y_test)
