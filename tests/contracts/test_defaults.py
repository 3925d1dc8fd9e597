"""Default parameters rank about as well as a logistic regression, or better.

GraphRanker is exempt: it ranks the nodes of a graph, which a table does not have.
"""

import warnings
from functools import cache

import numpy as np
import pytest
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_wine,
    make_classification,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from aucmax import (
    AUCSVC,
    LambdaMART,
    LevelSumRanker,
    MarginRanker,
    RankBoost,
    SoftRankBoost,
)

N_SPLITS = 3
MAY_BE_LESS_BY = 0.02


def one_against_the_rest(load, label):
    X, y = load(return_X_y=True)
    return X, (y == label).astype(int)


TABLES = {
    "breast cancer": lambda: load_breast_cancer(return_X_y=True),
    "digit 8": lambda: one_against_the_rest(load_digits, 8),
    "wine 1": lambda: one_against_the_rest(load_wine, 1),
    # a third of the labels are drawn at random
    "noise": lambda: make_classification(
        1000, 20, n_informative=5, flip_y=0.3, random_state=0
    ),
}
# scaling columns is not a default: the documentation recommends a scaler
MODELS = {
    "AUCSVC": lambda: make_pipeline(StandardScaler(), AUCSVC()),
    "LevelSumRanker": lambda: make_pipeline(StandardScaler(), LevelSumRanker()),
    "MarginRanker": MarginRanker,
    "RankBoost": RankBoost,
    "SoftRankBoost": SoftRankBoost,
    "LambdaMART": LambdaMART,
}


def mean_auc(model, table):
    X, y = TABLES[table]()
    areas = []
    for seed in range(N_SPLITS):
        X_train, X_test, y_train, y_test = train_test_split(
            X, y, test_size=0.4, stratify=y, random_state=seed
        )
        with warnings.catch_warnings():
            # the rounds of SoftRankBoost do not suffice on noise, and need not
            warnings.simplefilter("ignore", ConvergenceWarning)
            fitted = model().fit(X_train, y_train)
        areas.append(roc_auc_score(y_test, fitted.decision_function(X_test)))
    return np.mean(areas)


@cache
def mean_auc_of_logistic_regression(table):
    return mean_auc(
        lambda: make_pipeline(StandardScaler(), LogisticRegression()), table
    )


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("model", MODELS)
def test_defaults_rank_about_as_well_as_a_logistic_regression(model, table):
    least = mean_auc_of_logistic_regression(table) - MAY_BE_LESS_BY
    assert mean_auc(MODELS[model], table) >= least
