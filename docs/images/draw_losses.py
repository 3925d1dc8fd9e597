"""Draw the picture of the page on losses again: run this file."""

import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from aucmax import AUCSVC
from aucmax.metrics import partial_auc_score, roc_curve

BLUE, ORANGE, GREEN, GREY = "#0072b2", "#d55e00", "#009e73", "#767676"
END = 0.1


def overlapping(n_rows, seed):
    """Make two kinds of positives: a few stand out, most are among the negatives."""
    rng = np.random.default_rng(seed)
    y = rng.random(n_rows) < 0.2
    X = rng.normal(size=(n_rows, 5))
    X[y, 0] += 0.8
    X[y & (rng.random(n_rows) < 0.3), 1] += 3
    X[~y & (rng.random(n_rows) < 0.1), 1] += 0.8
    return X, y


X, y = overlapping(4000, seed=0)
X_test, y_test = overlapping(20_000, seed=1)
warnings.simplefilter("ignore")
models = {
    f"hinge, fpr_range=(0, {END})": (AUCSVC(100, fpr_range=(0, END)), ORANGE),
    "hinge, whole curve": (AUCSVC(100), BLUE),
    f"sigmoid, fpr_range=(0, {END})": (
        AUCSVC(100, loss="sigmoid", fpr_range=(0, END)),
        GREEN,
    ),
}

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.6), layout="constrained")
margin = np.linspace(-4, 4, 400)
left.plot(margin, np.maximum(0, 1 - margin), color=BLUE, label="hinge")
left.plot(margin, np.logaddexp(0, -margin), color=GREY, label="logistic")
left.plot(margin, 1 / (1 + np.exp(margin)), color=GREEN, label="sigmoid", lw=2.2)
left.step([-4, 0, 4], [1, 1, 0], where="pre", color="black", ls=":", label="1 - AUC")
left.set(xlabel="score of the positive less that of the negative", ylabel="cost")
left.set_title("What a pair costs")
left.legend(frameon=False)
left.set_ylim(0, 4)

for name, (model, color) in models.items():
    scores = model.fit(X, y).decision_function(X_test)
    part = partial_auc_score(y_test, scores, fpr_range=(0, END))
    fpr, tpr, _ = roc_curve(y_test, scores)
    label = f"{name}\npartial AUC {part:.3f}"
    right.plot(fpr, tpr, color=color, label=label, linewidth=1.8)
right.axvspan(0, END, color="0.93", zorder=0)
right.set(xlim=(0, 0.4), ylim=(0, 0.8), title="The start of the ROC curve")
right.set(xlabel="false positive rate", ylabel="true positive rate")
right.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
for axes in (left, right):
    axes.spines[["top", "right"]].set_visible(False)
figure.savefig(Path(__file__).with_name("losses.png"), dpi=140)
