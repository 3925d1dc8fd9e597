"""
Trees for rare positives: likelihood, all pairs, low false positive rates
=========================================================================

Boosted trees are usually grown for the likelihood of each row.
:class:`aucmax.LambdaMART` grows the same trees for the order of the rows: by all pairs
(``"logistic"``), or by the pairs at low false positive rates (``"pauc"``). Does that
help?
"""

# %%
# Simulated machines, 3% of which fail. Failure depends on a product, a sine, a slope
# and noise; four more columns are irrelevant.
import lightgbm
import matplotlib.pyplot as plt
import numpy as np

from aucmax import LambdaMART, objectives
from aucmax.inference import bootstrap_interval
from aucmax.metrics import partial_auc_score, roc_auc_score
from aucmax.plots import ROCCurveDisplay

EARLY = (0, 0.05)


def machines(n_machines, seed):
    """Make machines; the labels are their failures."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_machines, 8))
    strain = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + X[:, 3]
    return X, strain + rng.logistic(size=n_machines) > 4.5


X_train, y_train = machines(8000, seed=0)
X_other, y_other = machines(8000, seed=1)  # for validation
X_test, y_test = machines(40_000, seed=2)
print(f"{y_train.sum()} of {y_train.size} machines fail")

# %%
# Equal conditions: trees of eight leaves, small steps, three penalties. The penalty and
# the number of rounds are those with the best partial AUC on the validation rows, also
# for LightGBM's classifier.
TREES = {
    "learning_rate": 0.05,
    "num_leaves": 8,
    "min_child_samples": 20,
    "colsample_bytree": 1.0,
}
MAX_ROUNDS, PATIENCE = 300, 30


def classifier(penalty):
    """Grow trees for the likelihood; return their best area and the test scores."""
    metric = objectives.lightgbm("pauc", fpr_range=EARLY)
    settings = {**TREES, "lambda_l2": penalty, "num_threads": 1, "verbose": -1}
    rows = lightgbm.Dataset(X_train, y_train)
    booster = lightgbm.train(
        {**settings, "objective": "binary", "metric": "None"},
        rows,
        MAX_ROUNDS,
        valid_sets=[lightgbm.Dataset(X_other, y_other, reference=rows)],
        feval=metric.metric,
        callbacks=[lightgbm.early_stopping(PATIENCE, verbose=False)],
    )
    return booster.best_score["valid_0"][metric.name], booster.predict(X_test)


def ranker(objective, penalty):
    """Grow trees for pairs; return their best area and the test scores."""
    model = LambdaMART(
        objective,
        fpr_range=EARLY,
        **TREES,
        reg_lambda=penalty,
        n_estimators=MAX_ROUNDS,
        eval_metric="partial_auc",
        n_iter_no_change=PATIENCE,
    ).fit(X_train, y_train, eval_set=(X_other, y_other))
    return model.best_score_, model.decision_function(X_test)


fits = {
    "LightGBM binary": [classifier(penalty) for penalty in (0.1, 1, 10)],
    "logistic": [ranker("logistic", penalty) for penalty in (1, 10, 100)],
    "pauc": [ranker("pauc", penalty) for penalty in (1, 10, 100)],
}
scores = {name: max(tried, key=lambda fit: fit[0])[1] for name, tried in fits.items()}
for name, ranking in scores.items():
    part = bootstrap_interval(
        partial_auc_score,
        y_test,
        ranking,
        fpr_range=EARLY,
        n_resamples=100,
        random_state=0,
    )
    whole = roc_auc_score(y_test, ranking)
    print(f"{name:15} AUC {whole:.3f}, pAUC {part.value:.3f}", end=" ")
    print(f"[{part.low:.3f}, {part.high:.3f}]")

# %%
# All three have about the same AUC. At low false positive rates ``"pauc"`` is slightly
# ahead of plain pairs and slightly behind the classifier, all within their intervals. A
# classifier that approximates the odds of failure ranks best at every false positive
# rate, and trees can do that. Pairs are needed within queries and for relevance levels.
_, axes = plt.subplots(1, 2, figsize=(9, 4.6), layout="constrained")
ROCCurveDisplay.from_predictions(y_test, scores, fpr_range=EARLY, ax=axes[0])
ROCCurveDisplay.from_predictions(y_test, scores, ax=axes[1])
axes[1].set(xlim=EARLY, ylim=(0, 0.5), aspect="auto")
axes[1].get_legend().remove()

# %%
# With 236 positives, trees must be regularized, whatever the objective. LightGBM's
# defaults (large steps, 31 leaves, no penalty) soon overfit; the defaults of
# :class:`~aucmax.LambdaMART` are more conservative, and small trees with a large
# penalty are hardly better. A dot marks the best round, where ``n_iter_no_change`` ends
# a fit.
COLORS = {"LightGBM's": "#d55e00", "defaults": "#009e73", "regularized": "#0072b2"}
settings = {
    "LightGBM's": {**TREES, "learning_rate": 0.1, "num_leaves": 31, "reg_lambda": 0},
    "defaults": {},
    "regularized": {**TREES, "reg_lambda": 10},
}
_, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
for name, options in settings.items():
    model = LambdaMART(n_estimators=200, **options)
    model.fit(X_train, y_train, eval_set=(X_other, y_other))
    rounds = np.arange(1, model.n_iter_ + 1)
    ax.plot(rounds, model.history_["validation"], color=COLORS[name], label=name)
    ax.plot(model.best_iteration_, model.best_score_, "o", color=COLORS[name])
ax.set(xlabel="rounds", ylabel="AUC, validation rows")
ax.legend(frameon=False, loc="lower right", title="settings")
ax.spines[["top", "right"]].set_visible(False)
