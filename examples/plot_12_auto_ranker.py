"""
The best ranking of a table, with an honest number
==================================================

Which model ranks best is known only after trying. :class:`aucmax.AutoRanker` tries
several on the same folds, combines those that help, and estimates how well the result
ranks rows that nobody has seen.
"""

# %%
# Cells of 569 tumours, of which we look for the malignant ones. Some are kept aside to
# see whether the estimate tells the truth.
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
    models=["logistic", "lightgbm-small", "kernel", "additive", "forest"]
)
model.fit(X_train, y_train)
print(model.summary())

# %%
# The same as a table: each model on the folds, tested against the best of them.
print(model.leaderboard())

# %%
# The models with their intervals; the combination is measured by weights that have not
# seen the rows. The line is the truth, as far as 269 other rows tell it.
board = model.leaderboard().reverse()
truth = roc_auc_score(y_test, model.decision_function(X_test))
figure, axes = plt.subplots(figsize=(6, 3))
reach = [board["metric"] - board["low"], board["high"] - board["metric"]]
axes.errorbar(board["metric"], board["model"], xerr=reach, fmt="o", capsize=3)
axes.axvline(truth, color="tab:red", label="combination, other rows")
axes.set_xlabel("AUC on the folds, with 95% interval")
axes.legend(loc="center left")
figure.tight_layout()
