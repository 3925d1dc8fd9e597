"""LightGBM's boosters: their parameters, the data they read, the scores they return."""

import difflib
import os
import re
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any
from weakref import WeakKeyDictionary

import joblib
import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.utils import check_random_state

from aucmax._core.parameters import (
    check_integer,
    check_interval,
    check_number,
    check_positive,
)
from aucmax._core.threads import has_lost_threads, import_package, note_threads
from aucmax._core.validation import FloatArray
from aucmax.exceptions import IncompatibleError
from aucmax.trees.tree_columns import monotone_signs

#: parameters of a silent model that does not depend on the number of threads
REPEATABLE = {"deterministic": True, "force_row_wise": True, "verbosity": -1}

# parameters of files or other machines, by their main names
_OUTSIDE = (
    "config", "convert_model", "convert_model_language", "data", "forcedbins_filename",
    "forcedsplits_filename", "input_model", "local_listen_port",
    "machine_list_filename", "machines", "num_machines", "output_model",
    "output_result", "parser_config_file", "pre_partition", "save_binary",
    "snapshot_freq", "task", "time_out", "tree_learner", "two_round", "valid",
)  # fmt: skip
# what `params` cannot hold: the parameter to use instead, or why there is none
_REJECTED = dict.fromkeys(_OUTSIDE, "a fit does not use files or other machines") | {
    "objective": "use the parameter objective",
    "metric": "use eval_metric",
    "num_iterations": "use n_estimators",
    "num_threads": "use n_jobs",
    "early_stopping_round": "use n_iter_no_change",
    "categorical_feature": "use categorical_features",
    "monotone_constraints": "use the parameter monotone_constraints",
    "verbosity": "use verbose",
    "num_class": "there is one score per row",
    "linear_tree": "models of linear trees cannot be saved safely",
}
_WORD = re.compile(r"[A-Za-z0-9_.+-]*")
_BOOSTING = ("gbdt", "gbrt", "goss")  # which add trees and never change earlier ones
# leaves of trees up to this many rows
_LEAVES = ((50_000, 15), (500_000, 31), (np.inf, 63))

_MAX_INT = 2**31 - 1  # of LightGBM
_MAX_THREADS = 256  # LightGBM allocates buffers for each
_ROWS_PER_THREAD = 2000  # fewer take longer with another thread

# boosters by estimator, with the text they were built from; not part of the state of an
# estimator, so that a saved or copied model has text alone
_BOOSTERS: "WeakKeyDictionary[Any, tuple[str, Any]]" = WeakKeyDictionary()


def booster_parameters(estimator: Any, n_rows: int) -> dict[str, Any]:
    """Check the parameters of LambdaMART; return LightGBM's, by its names."""
    num_leaves, seed = estimator.num_leaves, estimator.random_state
    if isinstance(num_leaves, str) and num_leaves == "auto":
        num_leaves = next(leaves for most, leaves in _LEAVES if n_rows <= most)
    if not isinstance(seed, Integral):
        seed = check_random_state(seed).randint(_MAX_INT)
    check_positive("learning_rate", estimator.learning_rate)
    check_number("reg_alpha", estimator.reg_alpha, 0.0, np.inf)
    check_number("reg_lambda", estimator.reg_lambda, 0.0, np.inf)
    check_interval("subsample", estimator.subsample, 1.0)
    check_interval("colsample_bytree", estimator.colsample_bytree, 1.0)
    check_integer("num_leaves", num_leaves, 2, 131_072)
    check_integer("max_depth", estimator.max_depth, -1, _MAX_INT)
    check_integer("min_child_samples", estimator.min_child_samples, 0, _MAX_INT)
    check_integer("random_state", seed, 0, _MAX_INT)
    parameters = {
        "objective": "none",
        "metric": "None",
        "num_iterations": estimator.n_estimators,
        "learning_rate": estimator.learning_rate,
        "num_leaves": num_leaves,
        "max_depth": estimator.max_depth,
        "min_data_in_leaf": estimator.min_child_samples,
        "bagging_fraction": estimator.subsample,
        "bagging_freq": int(estimator.subsample < 1.0),
        "feature_fraction": estimator.colsample_bytree,
        "lambda_l1": estimator.reg_alpha,
        "lambda_l2": estimator.reg_lambda,
        "num_threads": n_threads(estimator.n_jobs, n_rows),
        "seed": int(seed),
        **REPEATABLE,
    }
    if estimator.monotone_constraints is not None:
        parameters["monotone_constraints"] = monotone_signs(estimator)
    return merge_parameters(parameters, estimator.params)


def merge_parameters(
    parameters: Mapping[str, Any], params: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Return parameters by their main names, overridden by the user's `params`."""
    if params is None:
        return dict(parameters)
    if not isinstance(params, Mapping):
        raise TypeError(
            f"params must be a dict of LightGBM parameters, got "
            f"{type(params).__name__}."
        )
    main_names = _main_names()
    merged, seen = dict(parameters), dict[str, str]()
    for name, value in params.items():
        main = main_names.get(name)
        if main is None:
            close = difflib.get_close_matches(str(name), main_names, n=1)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            raise ValueError(
                f"params has {name!r}, which is not a parameter of LightGBM.{hint}"
            )
        if main in _REJECTED:
            raise ValueError(f"params cannot hold {name!r}: {_REJECTED[main]}.")
        if not _is_plain(value):
            raise ValueError(
                f"params has {name}={value!r}; a value must be a number, True or "
                "False, a single word, or a list of these."
            )
        if main in seen:
            raise ValueError(
                f"params holds {name!r} and {seen[main]!r}, which name the same "
                "parameter. Pass one of them."
            )
        if main == "boosting" and value not in _BOOSTING:
            raise ValueError(
                f"params has boosting={value!r}, which is not supported; use one of "
                f"{', '.join(_BOOSTING)}."
            )
        seen[main] = name
        merged[main] = value
    return merged


def _is_plain(value: Any) -> bool:
    """Return whether a value cannot hold a second parameter in LightGBM's string."""
    if isinstance(value, str):
        return _WORD.fullmatch(value) is not None
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    return isinstance(value, Real | np.bool_)


def _main_names() -> dict[str, str]:
    """Return the main name of each alias; LightGBM has no public function for it."""
    import lightgbm

    try:
        table = lightgbm.basic._ConfigAliases._get_all_param_aliases()
        names = {alias: main for main, aliases in table.items() for alias in aliases}
    except (AttributeError, TypeError):
        names = {}
    # an alias that is not known could name a file
    if not _REJECTED.keys() <= set(names.values()):
        raise IncompatibleError(
            f"params cannot be checked: LightGBM {lightgbm.__version__} does not list "
            "all names of its parameters as earlier versions do. Use params=None, or "
            "another version of LightGBM."
        )
    return names


def new_dataset(
    parameters: Mapping[str, Any],
    X: Any,
    labels: ArrayLike,
    categorical: Sequence[int],
    names: Sequence[str] | str = "auto",
) -> Any:
    """Return LightGBM's data set of these rows, not yet in bins."""
    lightgbm = import_package("lightgbm", "a model of trees")

    return lightgbm.Dataset(
        readable_by_lightgbm(X),
        labels,
        feature_name=names,
        categorical_feature=list(categorical),
        params=dict(parameters),
        free_raw_data=True,
    )


def predict(estimator: Any, X: Any, **options: Any) -> Any:
    """Return the prediction of the booster of `estimator.model_text_`, built once."""
    text, booster = _BOOSTERS.get(estimator, ("", None))
    if booster is None or text != estimator.model_text_:
        lightgbm = import_package("lightgbm", "a model of trees")

        booster = lightgbm.Booster(model_str=estimator.model_text_)
        _BOOSTERS[estimator] = (estimator.model_text_, booster)
    return booster.predict(
        readable_by_lightgbm(X),
        num_threads=n_threads(estimator.n_jobs, X.shape[0]),
        **options,
    )


def contributions(estimator: Any, X: Any) -> FloatArray:
    """Split scores into contributions of columns; the last column is the mean."""
    table = predict(estimator, X, pred_contrib=True)
    return np.asarray(table.toarray() if hasattr(table, "toarray") else table)


def n_threads(n_jobs: Any, n_rows: int) -> int:
    """Return the number of threads for the parameter `n_jobs`; 0 and -1 are all cores.

    None takes one for few rows: threads would wait for each other longer than they
    work. A process that lost its threads by a fork also takes one: LightGBM would wait
    for them forever.
    """
    if n_jobs is None:
        n_jobs = min(_allowed_threads(), max(n_rows // _ROWS_PER_THREAD, 1))
    elif n_jobs in (0, -1):
        n_jobs = joblib.cpu_count()
    if not isinstance(n_jobs, Integral) or int(n_jobs) < 1:
        raise ValueError(
            "n_jobs must be a number of threads, 0 for all cores, or None, got "
            f"{n_jobs!r}."
        )
    threads = 1 if has_lost_threads() else min(int(n_jobs), _MAX_THREADS)
    note_threads(threads)
    return threads


def _allowed_threads() -> int:
    """Return the cores of this process that OMP_NUM_THREADS allows."""
    limit = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    cores: int = joblib.cpu_count()
    return min(cores, int(limit)) if limit.isdecimal() and int(limit) else cores


def readable_by_lightgbm(X: Any) -> Any:
    """Return the data without a copy; LightGBM does not read SciPy's sparse arrays."""
    if not sparse.issparse(X):
        return X
    by_column = getattr(X, "format", "") == "csc"
    as_matrix: Any = sparse.csc_matrix if by_column else sparse.csr_matrix
    return as_matrix(X)
