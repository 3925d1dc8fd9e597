"""
Few weights: L1, elastic net and groups
=======================================

Which pixels separate a 9 from the other digits? ``penalty="l1"`` and ``"elasticnet"``
use few of them, ``penalty="group"`` few blocks of them. All other weights are exactly
0. A path shows the partial AUC for each number of weights.
"""

# %%
# Images of 8 x 8 pixels; one in ten is a 9. Half of them are for the test. All pixels
# have the same unit, so they are not scaled. The pixels of a group form a block of
# 2 x 2.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from aucmax import AUCSVC
from aucmax.metrics import partial_auc_score

EARLY = (0, 0.1)
COLORS = {"l2": "#767676", "elasticnet": "#009e73", "l1": "#0072b2", "group": "#d55e00"}

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(
    X / 16, y == 9, test_size=0.5, stratify=y == 9, random_state=0
)
pixels = np.arange(64).reshape(8, 8)
blocks = [
    pixels[row : row + 2, column : column + 2].ravel()
    for row in range(0, 8, 2)
    for column in range(0, 8, 2)
]

# %%
# One path per penalty, from strong to weak, with warm starts.
C_values = np.logspace(0.7, 3, 14)
paths = {
    penalty: AUCSVC(fpr_range=EARLY, penalty=penalty, groups=blocks).fit_path(
        X_train, y_train, C_values
    )
    for penalty in COLORS
}


def early_area(model):
    """Return the partial AUC of the test rows."""
    return partial_auc_score(y_test, model.decision_function(X_test), fpr_range=EARLY)


_, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for penalty, path in paths.items():
    used = [np.count_nonzero(model.coef_) for model in path]
    areas = [early_area(model) for model in path]
    passes = sum(model.n_passes_ for model in path)
    print(f"{penalty:10} best pAUC {max(areas):.3f}, {passes:g} passes for the path")
    ax.plot(used, areas, "o-", color=COLORS[penalty], label=penalty)
ax.set(
    xlabel="weights in use, of 64",
    ylabel="pAUC up to 0.1, test rows",
    ylim=(0.85, 0.97),
)
ax.legend(frameon=False, loc="lower right")
ax.spines[["top", "right"]].set_visible(False)

# %%
# The weights at one ``C`` as images: red is evidence for a 9, blue against it, white is
# 0. (A pixel that is empty in every image has no weight.)
_, axes = plt.subplots(1, 4, figsize=(9, 2.8), layout="constrained")
for ax, (penalty, path) in zip(axes, paths.items(), strict=True):
    weights = path[8].coef_.reshape(8, 8)
    largest = np.abs(weights).max()
    ax.imshow(weights, cmap="RdBu_r", vmin=-largest, vmax=largest)
    ax.set_title(f"{penalty}: {np.count_nonzero(weights)} weights")
    ax.set(xticks=[], yticks=[])
