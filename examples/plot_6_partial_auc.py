"""
Partial AUC: low false positive rates
=====================================

A clinic can call back one healthy person in twenty, so only false positive rates up to
0.05 matter. ``AUCSVC(fpr_range=(0, 0.05))`` is trained for them, a model for the whole
AUC is not.
"""

# %%
# Simulated screening. A marker is raised in the sick, and even more in 5% of the
# healthy, who have a harmless condition. A second marker detects that condition; two
# more columns are noise.
import warnings

import matplotlib.pyplot as plt
import numpy as np

from aucmax import AUCSVC
from aucmax.exceptions import ConstantScoresWarning
from aucmax.metrics import partial_auc_score, roc_auc_score
from aucmax.plots import ROCCurveDisplay

BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#767676"
EARLY = (0, 0.05)


def screening(n_people, seed):
    """Make people, one in ten of them sick."""
    rng = np.random.default_rng(seed)
    is_sick = rng.random(n_people) < 0.1
    is_harmless = ~is_sick & (rng.random(n_people) < 0.05)
    X = rng.normal(size=(n_people, 4))
    X[:, 0] += 3 * is_sick + 4 * is_harmless
    X[:, 1] += 3 * is_harmless
    return X, is_sick


X_train, y_train = screening(4000, seed=0)
X_test, y_test = screening(20_000, seed=1)

# %%
# Two models that differ only in the range. Their AUCs are nearly equal, but the second
# one gives the second marker more weight, because the highest-scored negatives are the
# people whom that marker detects.
models = {
    "whole curve": AUCSVC().fit(X_train, y_train),
    "fpr_range=(0, 0.05)": AUCSVC(fpr_range=EARLY).fit(X_train, y_train),
}
scores = {name: model.decision_function(X_test) for name, model in models.items()}
for name, model in models.items():
    first, second = model.coef_[0, :2]
    whole = roc_auc_score(y_test, scores[name])
    early = partial_auc_score(y_test, scores[name], fpr_range=EARLY)
    print(f"{name:20} AUC {whole:.3f}, pAUC {early:.3f}", end="; ")
    print(f"one unit of the second marker offsets {-second / first:.2f} of the first")

# %%
# Left, the curves; right, an enlarged view of low false positive rates.
_, axes = plt.subplots(1, 2, figsize=(9, 4.6), layout="constrained")
ROCCurveDisplay.from_predictions(y_test, scores, fpr_range=EARLY, ax=axes[0])
ROCCurveDisplay.from_predictions(y_test, scores, ax=axes[1])
axes[1].set(xlim=EARLY, ylim=(0, 0.9), aspect="auto")
axes[1].get_legend().remove()

# %%
# The best range for training is not always that of the metric. A narrow range has few
# rows, and if in every direction the highest-scored negatives are above the mean
# positive, weights of 0 are the convex optimum
# (:class:`~aucmax.exceptions.ConstantScoresWarning`). Here that happens up to 0.03, and
# values from 0.04 to 0.1 are about equally good. Choose the upper end by
# cross-validation, as you choose ``C``.
ends = np.array([0.01, 0.02, 0.03, 0.04, 0.05, 0.07, 0.1, 0.2, 0.3, 0.5, 1.0])
early = []
with warnings.catch_warnings():
    warnings.simplefilter("ignore", ConstantScoresWarning)
    for end in ends:
        model = AUCSVC(fpr_range=(0, end)).fit(X_train, y_train)
        ranking = model.decision_function(X_test)
        early.append(partial_auc_score(y_test, ranking, fpr_range=EARLY))

_, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
ax.semilogx(ends, early, "o-", color=ORANGE)
ax.axhline(0.025, color=GREY, linestyle="--", linewidth=1)
ax.annotate("scores that all tie", (1, 0.035), ha="right", va="bottom", color=GREY)
ax.axvline(EARLY[1], color=GREY, linewidth=1)
ax.annotate(" evaluated at", (EARLY[1], 0.3), color=GREY)
ax.set(
    xlabel="upper end of the training range",
    ylabel="pAUC up to 0.05, test rows",
    ylim=(0, 0.62),
    xticks=[0.01, 0.03, 0.1, 0.3, 1],
    xticklabels=["0.01", "0.03", "0.1", "0.3", "1"],
)
ax.minorticks_off()
ax.spines[["top", "right"]].set_visible(False)
