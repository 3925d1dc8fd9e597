"""The methods: each takes a split and the seconds, and scores test rows.

FLAML, AutoGluon and XGBoost must be installed; aucmax needs none of them.
"""

import tempfile
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from aucmax import AutoRanker
from benchmarks.papers.tables.data import Split


def _plain(data: Split) -> tuple[Any, Any]:
    """Scaled, one-hot encoded, gaps at the median: what linear models need."""
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, StandardScaler

    if data.is_sparse:
        scaler = MaxAbsScaler().fit(data.X)
        return scaler.transform(data.X), scaler.transform(data.X_test)
    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    words = OneHotEncoder(handle_unknown="ignore")
    prepared = make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")),
        (words, make_column_selector(dtype_exclude="number")),
    ).fit(data.X)
    return prepared.transform(data.X), prepared.transform(data.X_test)


def _with_categories(data: Split) -> tuple[Any, Any]:
    """Texts as pandas categories, as LightGBM and XGBoost take them."""
    if data.is_sparse:
        return data.X, data.X_test
    X, X_test = data.X.copy(), data.X_test.copy()
    for name in X.select_dtypes(exclude="number"):
        kinds = pd.CategoricalDtype(sorted(X[name].dropna().unique()))
        X[name], X_test[name] = X[name].astype(kinds), X_test[name].astype(kinds)
    return X, X_test


def _dense(data: Split) -> tuple[pd.DataFrame, pd.DataFrame]:
    if not data.is_sparse:
        return data.X, data.X_test
    names = [f"x{k}" for k in range(data.X.shape[1])]
    return tuple(
        pd.DataFrame(sparse.csr_matrix(X).toarray(), columns=names)
        for X in (data.X, data.X_test)
    )


def logistic(data: Split, seconds: float, class_weight: Any = None) -> np.ndarray:
    from sklearn.linear_model import LogisticRegression

    X, X_test = _plain(data)
    model = LogisticRegression(max_iter=1000, class_weight=class_weight)
    return model.fit(X, data.y).decision_function(X_test)


def lightgbm(data: Split, seconds: float) -> np.ndarray:
    from lightgbm import LGBMClassifier

    X, X_test = _with_categories(data)
    if data.is_sparse:
        X, X_test = X.astype(np.float64), X_test.astype(np.float64)
    model = LGBMClassifier(n_jobs=1, verbosity=-1).fit(X, data.y)
    return model.predict_proba(X_test)[:, 1]


def xgboost(data: Split, seconds: float) -> np.ndarray:
    from xgboost import XGBClassifier

    X, X_test = _with_categories(data)
    model = XGBClassifier(n_jobs=1, enable_categorical=True).fit(X, data.y)
    return model.predict_proba(X_test)[:, 1]


def flaml(data: Split, seconds: float) -> np.ndarray:
    from flaml import AutoML

    X, X_test = _dense(data)
    options = {"task": "classification", "metric": "roc_auc", "time_budget": seconds}
    model = AutoML()
    model.fit(X, data.y, **options, n_jobs=1, verbose=0, seed=0)
    return model.predict_proba(X_test)[:, 1]


def autogluon(data: Split, seconds: float) -> np.ndarray:
    from autogluon.tabular import TabularPredictor

    X, X_test = _dense(data)
    with tempfile.TemporaryDirectory() as folder:
        options = {"eval_metric": "roc_auc", "path": folder, "verbosity": 0}
        model = TabularPredictor("the target", **options)
        table = X.assign(**{"the target": data.y})
        options = {"presets": "best_quality", "num_cpus": 1, "num_gpus": 0}
        model.fit(table, time_limit=seconds, **options)
        return model.predict_proba(X_test)[1].to_numpy()


def auto_ranker(data: Split, seconds: float) -> np.ndarray:
    model = AutoRanker(time_limit=seconds)
    return model.fit(data.X, data.y).decision_function(data.X_test)


Method = Callable[[Split, float], np.ndarray]

#: Library defaults, one fit each.
SINGLE: dict[str, Method] = {
    "logistic regression": logistic,
    "balanced logistic regression": partial(logistic, class_weight="balanced"),
    "LightGBM": lightgbm,
    "XGBoost": xgboost,
}
AUTOMATIC: dict[str, Method] = {
    "AutoRanker": auto_ranker,
    "FLAML": flaml,
    "AutoGluon": autogluon,
}
METHODS = {**SINGLE, **AUTOMATIC}
#: they want dense frames
NOT_FOR_MANY_COLUMNS = ("FLAML", "AutoGluon")
