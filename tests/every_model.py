"""One small fitted model of every kind that can be saved, with rows to score."""

import warnings
from functools import cache

import numpy as np
import polars as pl
from scipy import sparse
from sklearn.linear_model import LogisticRegression

import aucmax
from aucmax.linear.additive_logistic import AdditiveCox, AdditiveLogistic
from aucmax.linear.kernel_logistic import KernelLogistic
from aucmax.metrics import survival_target
from aucmax.model_selection import LambdaRankBaseline, LightGBMBaseline
from aucmax.model_selection.baselines import XGBoostRanker
from aucmax.model_selection.forest import Forest
from aucmax.model_selection.network import Network
from aucmax.tables import TableEncoder
from aucmax.trees import LambdaMART
from graphs.ranker_samples import graphs_of

N = 40
RNG = np.random.RandomState(3)  # its numbers never change, and golden files need them
X = RNG.normal(size=(N, 3)).round(3)
Y = np.array(["no", "yes"])[(X[:, 0] + 0.5 * X[:, 1] + RNG.normal(size=N) > 0) * 1]
LEVELS = np.digitize(X[:, 0] + 0.3 * X[:, 1], [-0.5, 0.5])
TABLE = pl.DataFrame(
    {
        "size": X[:, 0],
        "kind": RNG.choice(["red", "größe", "x=y"], N),
        "day": [f"2024-{1 + k % 9:02d}-{1 + 3 * k % 25:02d}" for k in range(N)],
        "gaps": [None if k % 5 == 0 else float(k % 7) for k in range(N)],
    }
)
TIMES = survival_target(np.arange(N) % 4 > 0, np.exp(-X[:, 0]).round(2) + 0.01)
GRAPHS, NODE_LABELS = graphs_of(0)

#: name -> (unfitted model, training rows, labels)
MODELS = {
    "additive_cox": (AdditiveCox(n_ramps=3), X, TIMES),
    "additive_logistic": (AdditiveLogistic(n_ramps=3), X, Y),
    "auto_ranker_survival": (
        aucmax.AutoRanker(models=["cox"], cv=2, time_limit=None),
        TABLE,
        TIMES,
    ),
    "auc_svc_survival": (aucmax.AUCSVC(loss="logistic"), X, TIMES),
    "lambdamart_survival": (aucmax.LambdaMART("cox", n_estimators=3), X, TIMES),
    "auto_ranker": (
        aucmax.AutoRanker(
            models=["logistic", "kernel", LambdaMART(n_estimators=3)],
            cv=2,
            time_limit=None,
            calibrate="sigmoid",
        ),
        TABLE,
        Y,
    ),
    "kernel_logistic": (KernelLogistic(n_landmarks=5), X, Y),
    "forest": (Forest(n_estimators=3), X, Y),
    "network": (Network(n_networks=2, n_units=3, n_epochs=2), X, Y),
    "lambdarank_baseline": (LambdaRankBaseline(n_estimators=3), X, LEVELS),
    "auc_svc": (aucmax.AUCSVC(), X, Y),
    "auc_svc_sigmoid": (aucmax.AUCSVC(loss="sigmoid"), X, Y),
    "level_sum_ranker": (aucmax.LevelSumRanker(), X, LEVELS),
    "linear_ranker_cv": (aucmax.LinearRankerCV(C_values=(1.0,), cv=2), X, Y),
    "margin_ranker": (aucmax.MarginRanker(), X, Y),
    "margin_ranker_global": (
        aucmax.MarginRanker("stumps", formulation="global"),
        X,
        Y,
    ),
    "rank_boost": (aucmax.RankBoost(n_estimators=9), X, Y),
    "soft_rank_boost": (aucmax.SoftRankBoost(n_estimators=9), X, Y),
    "lambdamart": (aucmax.LambdaMART(n_estimators=3), X, Y),
    "lambdamart_ordinal": (aucmax.LambdaMART("ordinal", n_estimators=3), X, LEVELS),
    "lightgbm_baseline": (LightGBMBaseline(n_estimators=3), X, Y),
    "xgboost_ranker": (XGBoostRanker(n_estimators=3), X, LEVELS),
    "logistic_regression": (LogisticRegression(), X, Y),
    "graph_ranker": (aucmax.GraphRanker(), GRAPHS, NODE_LABELS),
    "table_encoder": (TableEncoder(min_frequency=1), TABLE, None),
    "table_encoder_sparse": (TableEncoder(), sparse.csr_array(X), None),
}


@cache
def fitted(name):
    """Return the model of a name, fitted once."""
    model, rows, labels = MODELS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(rows, labels)


def scores(name, model):
    """Score the training rows by a model like that of the name, as one array."""
    rows = MODELS[name][1]
    if hasattr(model, "transform"):
        matrix = model.transform(rows)
        matrix = matrix.toarray() if sparse.issparse(matrix) else matrix
        return np.nansum(matrix, axis=1)
    scored = model.decision_function(rows)
    return np.concatenate(scored) if isinstance(scored, list) else scored
