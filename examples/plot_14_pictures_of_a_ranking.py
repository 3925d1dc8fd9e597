"""
Pictures for decisions
======================

A ranking is used by people: how many cases can they open, how sure is a case, and what
does the model look at? Each picture answers one of these questions, with the counts
that it rests on. All of them are displays in the manner of scikit-learn's, with
``from_predictions`` and ``from_estimator``.
"""

# %%
# Rare positives, and two models for them; the second gives probabilities that are too
# sure of themselves.
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

from aucmax.plots import (
    CalibrationDisplay,
    GainsDisplay,
    ImportanceDisplay,
    LearningCurveDisplay,
    PrecisionRecallDisplay,
    ScoreDensityDisplay,
    roc_curve,
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
# **We can open 100 cases.** The curves tell how many positives are among them; the
# same as lift, compared with a list in any order.
GainsDisplay.from_predictions(y_test, chances, opened=100)

# %%
GainsDisplay.from_predictions(y_test, chances, opened=100, kind="lift")

# %%
# **How clean is the list?** Precision falls as one wants to find more.
PrecisionRecallDisplay.from_predictions(y_test, chances)

# %%
# **At most one false alarm in twenty negatives.** A narrow range gets an inset; so do
# curves that hide each other.
roc_curve(y_test, chances, fpr_range=(0, 0.05))

# %%
# **How sure is a case?** On the dashed line probabilities are what they say.
CalibrationDisplay.from_predictions(y_test, chances)

# %%
# **Where do the classes overlap?** Densities of the scores, and what a threshold does.
ScoreDensityDisplay.from_estimator(linear, X_test, y_test, threshold=-1.5)

# %%
# **What does the model look at?** The loss of AUC when a column is shuffled.
ImportanceDisplay.from_estimator(linear, X_test, y_test)

# %%
# **Would more rows help?** The same test rows, by models of more and more rows.
LearningCurveDisplay.from_estimator(LogisticRegression(), X, y)
