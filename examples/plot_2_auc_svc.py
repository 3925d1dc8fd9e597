"""
A linear model for the AUC, and its certificate
===============================================

:class:`aucmax.AUCSVC` minimises the hinge over all pairs of a positive and a negative
row. Here it uses a hundred million pairs without forming them, shows how its certified
gap shrinks, and is compared with balanced logistic regression by a paired test.
"""

# %%
# Rare positives, some wrong labels. The penalty depends on the units of the columns,
# hence the scaler.
import matplotlib.pyplot as plt
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from aucmax import AUCSVC
from aucmax.inference import auc_interval, compare_auc

X, y = make_classification(
    n_samples=40_000,
    n_features=30,
    n_informative=10,
    weights=[0.9],
    flip_y=0.1,
    random_state=0,
)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
n_positive = int(y_train.sum())
print(f"{n_positive * (y_train.size - n_positive):,} training pairs")

# %%
# The callback is called after each iteration. It receives the best objective so far and
# the certified gap, the largest possible distance from the optimum.
progress = []
svc = AUCSVC(C=10, tol=1e-5, callback=progress.append)
model = make_pipeline(StandardScaler(), svc).fit(X_train, y_train)
svc = model[-1]
print(f"objective {svc.objective_:.5f}, at most {svc.dual_gap_:.1e} above the optimum,")
print(f"after {svc.n_passes_:g} passes over the data")

# %%
_, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
passes = [step.n_passes for step in progress]
ax.semilogy(passes, [step.gap / step.value for step in progress], "o-", color="#0072b2")
ax.axhline(1e-3, color="#767676", linestyle="--", linewidth=1)
ax.annotate("the default tol", (passes[-1], 1e-3), ha="right", va="bottom")
ax.set(xlabel="passes over the data", ylabel="certified gap, relative")
ax.spines[["top", "right"]].set_visible(False)

# %%
# A paired test against balanced logistic regression, on simulated data; run ``aucmax
# compare`` for yours.
balanced = make_pipeline(StandardScaler(), LogisticRegression(class_weight="balanced"))
balanced.fit(X_train, y_train)
ours, theirs = model.decision_function(X_test), balanced.decision_function(X_test)
print(f"AUCSVC              {auc_interval(y_test, ours)}")
print(f"balanced logistic   {auc_interval(y_test, theirs)}")
test = compare_auc(y_test, ours, theirs)
print(f"difference          {test.difference:+.4f} [{test.low:+.4f}, {test.high:+.4f}]")
