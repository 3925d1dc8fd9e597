"""
Early recognition: the left end of the ROC curve
================================================

A clinic can call back one healthy person in twenty, so it is the curve up to a false
positive rate of 0.05 that counts. A model trained for the whole area gives up some of
that part for gains where nobody looks. ``AUCSVC(fpr_range=(0, 0.05))`` does not.
"""

# %%
# Made-up screening. A marker is raised in the sick, but even more in 5 % of the
# healthy, who have something harmless. A second marker knows those; for all others it
# is noise, as are two more columns.
import warnings

import matplotlib.pyplot as plt
import numpy as np

from aucmax import AUCSVC
from aucmax.exceptions import ConstantScoresWarning
from aucmax.metrics import partial_auc_score, roc_auc_score
from aucmax.plots import roc_curve

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
# Two machines that differ in the range alone. Their whole areas are nearly equal. But
# the second one heeds the second marker more, because the healthy that it knows are
# just those who stand above the sick at the top of the list.
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
# Left, the curves; right, the part that counts, drawn larger.
_, axes = plt.subplots(1, 2, figsize=(9, 4.6), layout="constrained")
roc_curve(y_test, scores, fpr_range=EARLY, ax=axes[0])
roc_curve(y_test, scores, ax=axes[1])
axes[1].set(xlim=EARLY, ylim=(0, 0.9), aspect="auto")
axes[1].get_legend().remove()

# %%
# Which range to train with? Not always the one you are judged by. The narrower it is,
# the fewer rows it learns from; and where in every direction the first of the negatives
# are ahead of the mean positive, weights of 0 are the convex optimum. A
# :class:`~aucmax.exceptions.ConstantScoresWarning` says so. Here that happens up to
# 0.03, and anything from 0.04 to 0.1 is about equally good. Choose the upper end as you
# choose ``C``: by cross-validation.
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
ax.annotate(" judged by", (EARLY[1], 0.3), color=GREY)
ax.set(
    xlabel="upper end of the range trained with",
    ylabel="pAUC up to 0.05, other rows",
    ylim=(0, 0.62),
    xticks=[0.01, 0.03, 0.1, 0.3, 1],
    xticklabels=["0.01", "0.03", "0.1", "0.3", "1"],
)
ax.minorticks_off()
ax.spines[["top", "right"]].set_visible(False)
