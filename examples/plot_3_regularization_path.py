"""
How much to regularize
======================

:meth:`aucmax.AUCSVC.fit_path` fits one model per value of ``C``, with warm
starts. Few rows, many columns: the training AUC keeps growing with ``C``, the test AUC
does not.
"""

# %%
# 1000 training rows, 60 columns of which 8 matter, one label in ten wrong.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.preprocessing import StandardScaler

from aucmax import AUCSVC
from aucmax.inference import auc_interval
from aucmax.metrics import roc_auc_score

X, y = make_classification(
    n_samples=6000,
    n_features=60,
    n_informative=8,
    weights=[0.85],
    flip_y=0.1,
    random_state=1,
)
X_train, X_test, y_train, y_test = X[:1000], X[1000:], y[:1000], y[1000:]
scaler = StandardScaler().fit(X_train)
X_train, X_test = scaler.transform(X_train), scaler.transform(X_test)

# %%
# The path needs fewer passes over the data than separate fits:
C_values = np.logspace(-1.5, 2, 15)
path = AUCSVC().fit_path(X_train, y_train, C_values)
alone = [AUCSVC(C=C).fit(X_train, y_train) for C in C_values]
print(f"path     {sum(model.n_passes_ for model in path):5g} passes")
print(f"separate {sum(model.n_passes_ for model in alone):5g} passes")

# %%
train = [roc_auc_score(y_train, model.decision_function(X_train)) for model in path]
test = [auc_interval(y_test, model.decision_function(X_test)) for model in path]

_, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.semilogx(C_values, train, "o-", color="#d55e00", label="training rows")
ax.semilogx(C_values, [t.value for t in test], "o-", color="#0072b2", label="test rows")
ax.fill_between(
    C_values,
    [t.low for t in test],
    [t.high for t in test],
    color="#0072b2",
    alpha=0.16,
    linewidth=0,
)
ax.set(xlabel="C", ylabel="AUC")
ax.legend(frameon=False)
ax.spines[["top", "right"]].set_visible(False)

# %%
# For small ``C`` every pair stays within the margin. The solution then changes only its
# length with ``C``, not its direction: that of the difference between the class means.
direction = path[0].coef_[0] / np.linalg.norm(path[0].coef_[0])
means = X_train[y_train == 1].mean(axis=0) - X_train[y_train == 0].mean(axis=0)
print(f"cosine with that difference: {direction @ means / np.linalg.norm(means):.3f}")
