"""Draw the picture of the page on partial AUC again: run this file."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from aucmax import AUCSVC
from aucmax.metrics import partial_auc_score, roc_auc_score, roc_curve

BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#767676"
END = 0.05


def screening(n_people, seed):
    """Make people, one in ten of them sick."""
    rng = np.random.default_rng(seed)
    is_sick = rng.random(n_people) < 0.1
    is_harmless = ~is_sick & (rng.random(n_people) < 0.05)
    X = rng.normal(size=(n_people, 4))
    X[:, 0] += 3 * is_sick + 4 * is_harmless
    X[:, 1] += 3 * is_harmless
    return X, is_sick


X, y = screening(4000, seed=0)
X_test, y_test = screening(20_000, seed=1)
models = {
    "whole curve": (AUCSVC().fit(X, y), BLUE),
    f"fpr_range=(0, {END})": (AUCSVC(fpr_range=(0, END)).fit(X, y), ORANGE),
}

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
scores = models["whole curve"][0].decision_function(X_test)
positive, negative = scores[y_test], scores[~y_test]
end = np.quantile(negative, 1 - END)
bins = end + 0.1 * np.arange(-50, 36)
left.hist(negative[negative <= end], bins, color="#c9c9c9")
left.hist(negative[negative > end], bins, color=ORANGE)
left.hist(positive, bins, histtype="step", color="black")
left.annotate("negatives", (-2.2, 500), ha="right", color=GREY)
left.annotate("positives:\nall count", (1.5, 110), xytext=(2.3, 150))
left.annotate(
    f"the first {END:.0%}\nof the negatives:\nonly they count",
    (0.8, 60),
    xytext=(0.5, 330),
    color=ORANGE,
    arrowprops={"arrowstyle": "-", "color": ORANGE},
)
left.set(xlabel="score", ylabel="rows", title="Which rows count", xlim=(-4, 4))

for name, (model, color) in models.items():
    scores = model.decision_function(X_test)
    fpr, tpr, _ = roc_curve(y_test, scores)
    part = partial_auc_score(y_test, scores, fpr_range=(0, END))
    label = f"{name}\nAUC {roc_auc_score(y_test, scores):.3f}, pAUC {part:.3f}"
    right.plot(fpr, tpr, color=color, label=label, linewidth=1.8)
    is_early = fpr <= END
    right.fill_between(
        fpr[is_early],
        tpr[is_early],
        color=color,
        alpha=0.25,
        linewidth=0,
    )
right.axvline(END, color=GREY, linewidth=1)
right.set(
    xlim=(0, 0.2),
    ylim=(0, 1),
    xticks=[0, 0.05, 0.1, 0.15, 0.2],
    xlabel="false positive rate",
    ylabel="true positive rate",
    title="The area that counts",
)
right.legend(frameon=False, loc="lower right", fontsize=9)
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)
figure.savefig(Path(__file__).parent / "partial-auc.png", dpi=150)
