"""LightGBM's parameters: ours by name, and all others passed through."""

import difflib
import os
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from aucmax._parameters import check_interval

__all__ = ["merge_parameters", "n_threads", "own_parameters"]

#: what LambdaMART settles itself: the parameter to use instead, or why there is none
_OURS = {
    "objective": "use the parameter objective",
    "metric": "use eval_metric",
    "num_iterations": "use n_estimators",
    "num_threads": "use n_jobs",
    "early_stopping_round": "use n_iter_no_change",
    "categorical_feature": "use categorical_features",
    "monotone_constraints": "use the parameter monotone_constraints",
    "verbosity": "use verbose",
    "num_class": "there is one score a row",
    "linear_tree": "models of linear trees cannot be saved safely",
}
_BOOSTING = ("gbdt", "gbrt", "goss")


def own_parameters(estimator: Any) -> dict[str, Any]:
    """Check the parameters of LambdaMART that are LightGBM's; return all by its names.

    Parameters
    ----------
    estimator : LambdaMART
        Has the parameters.

    Returns
    -------
    dict
        For LightGBM; with those that must be so for a model that can be repeated.
    """
    _check_number("learning_rate", estimator.learning_rate, zero=False)
    _check_number("reg_alpha", estimator.reg_alpha)
    _check_number("reg_lambda", estimator.reg_lambda)
    check_interval("subsample", estimator.subsample, 1.0)
    check_interval("colsample_bytree", estimator.colsample_bytree, 1.0)
    _check_whole("num_leaves", estimator.num_leaves, 2, 131_072)
    _check_whole("max_depth", estimator.max_depth, -1, 2**31 - 1)
    _check_whole("min_child_samples", estimator.min_child_samples, 0, 2**31 - 1)
    seed = estimator.random_state
    if not isinstance(seed, Integral):
        seed = check_random_state(seed).randint(2**31 - 1)
    _check_whole("random_state", seed, 0, 2**31 - 1)
    return {
        "objective": "none",
        "metric": "None",
        "num_iterations": estimator.n_estimators,
        "learning_rate": estimator.learning_rate,
        "num_leaves": estimator.num_leaves,
        "max_depth": estimator.max_depth,
        "min_data_in_leaf": estimator.min_child_samples,
        "bagging_fraction": estimator.subsample,
        "bagging_freq": int(estimator.subsample < 1.0),
        "feature_fraction": estimator.colsample_bytree,
        "lambda_l1": estimator.reg_alpha,
        "lambda_l2": estimator.reg_lambda,
        "num_threads": n_threads(estimator.n_jobs),
        "seed": int(seed),
        "deterministic": True,
        "force_row_wise": True,
        "verbosity": -1,
    }


def n_threads(n_jobs: Any) -> int:
    """Return how many threads the parameter `n_jobs` asks for; 0 and -1 are all."""
    if n_jobs in (0, -1):
        return os.cpu_count() or 1
    if not isinstance(n_jobs, Integral) or int(n_jobs) < 1:
        raise ValueError(
            f"n_jobs must be a number of threads, or 0 for all cores, got {n_jobs!r}."
        )
    return int(n_jobs)


def merge_parameters(
    own: Mapping[str, Any], extra: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Return `own` parameters, changed and extended by the `extra` ones.

    Other names of a parameter (``eta`` for ``learning_rate``) count as that parameter.

    Parameters
    ----------
    own : mapping
        LightGBM's parameters by their main names.
    extra : mapping, or None
        What the user wants besides, or instead.

    Returns
    -------
    dict
        For LightGBM.

    Raises
    ------
    ValueError
        A name is unknown to LightGBM, or is one that the model settles itself.
    """
    if extra is None:
        return dict(own)
    if not isinstance(extra, Mapping):
        raise TypeError(
            f"params must be a dict of LightGBM parameters, got {type(extra).__name__}."
        )
    main_names = _main_names()
    merged, seen = dict(own), dict[str, str]()
    for name, value in extra.items():
        main = main_names.get(name) if main_names else name
        if main is None:
            raise ValueError(_unknown(name, list(main_names)))
        if main in _OURS:
            raise ValueError(f"params cannot hold {name!r}: {_OURS[main]}.")
        if main in seen:
            raise ValueError(f"params holds {name!r} and {seen[main]!r}: one of both.")
        if main == "boosting" and value not in _BOOSTING:
            raise ValueError(
                f"params has boosting={value!r}; only {', '.join(_BOOSTING)} add trees "
                "and leave those before as they are, on which rounds rely."
            )
        seen[main] = name
        merged[main] = value
    return merged


def _check_number(name: str, value: Any, *, zero: bool = True) -> None:
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not is_number or not 0.0 <= float(value) < np.inf or (value == 0 and not zero):
        what = "not negative" if zero else "positive"
        raise ValueError(f"{name} must be {what} and finite, got {value!r}.")


def _check_whole(name: str, value: Any, low: int, high: int) -> None:
    is_whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not is_whole or not low <= int(value) <= high:
        raise ValueError(
            f"{name} must be a whole number from {low} to {high}, got {value!r}."
        )


def _unknown(name: Any, known: list[str]) -> str:
    close = difflib.get_close_matches(str(name), known, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    return f"params has {name!r}, which is no parameter of LightGBM.{hint}"


def _main_names() -> dict[str, str]:
    """Return the main name of each name of a parameter; nothing if it cannot be told.

    LightGBM knows them, but has no public function that lists them.
    """
    try:
        from lightgbm.basic import _ConfigAliases

        table: dict[str, list[str]] = _ConfigAliases._get_all_param_aliases()
    except (ImportError, AttributeError):
        return {}
    return {alias: main for main, aliases in table.items() for alias in aliases}
