"""
The best ranking of a table, with an estimate for new rows
==========================================================

:class:`aucmax.AutoRanker` tries several models on the same folds, combines those that
help each other, and estimates the AUC on new rows.
"""

# %%
# Cells of 569 tumours; the positive class is malignant. Some are held out to check the
# estimate.
import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from aucmax import AutoRanker
from aucmax.metrics import roc_auc_score

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(
    X, y == 0, train_size=300, stratify=y, random_state=0
)
model = AutoRanker(
    models=["logistic", "lightgbm-small", "kernel", "additive", "extra-trees"]
)
model.fit(X_train, y_train)
print(model.summary())

# %%
# The same as a table: each model on the folds, tested against the best of them.
print(model.leaderboard())

# %%
# The models with their intervals; the combination is evaluated with weights from other
# rows. The line is the AUC on 269 held-out rows.
board = model.leaderboard().reverse()
truth = roc_auc_score(y_test, model.decision_function(X_test))
figure, axes = plt.subplots(figsize=(6, 3))
reach = [board["metric"] - board["low"], board["high"] - board["metric"]]
axes.errorbar(board["metric"], board["model"], xerr=reach, fmt="o", capsize=3)
axes.axvline(truth, color="tab:red", label="combination, held-out rows")
axes.set_xlabel("AUC on the folds, with 95% interval")
axes.legend(loc="center left")
figure.tight_layout()
