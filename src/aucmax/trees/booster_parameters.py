"""LightGBM's parameters: ours by name, and all others passed through."""

import difflib
import re
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from aucmax._core.parameters import check_interval, check_positive
from aucmax.exceptions import IncompatibleError
from aucmax.trees.booster import REPEATABLE, n_threads
from aucmax.trees.tree_columns import monotone_signs

#: what LambdaMART sets itself: the parameter to use instead, or why there is none
_OURS = {
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
#: parameters of files or other machines, which a fit must not open
_OUTSIDE = {
    "config", "convert_model", "convert_model_language", "data", "forcedbins_filename",
    "forcedsplits_filename", "input_model", "local_listen_port",
    "machine_list_filename", "machines", "num_machines", "output_model",
    "output_result", "parser_config_file", "pre_partition", "save_binary",
    "snapshot_freq", "task", "time_out", "tree_learner", "two_round", "valid",
}  # fmt: skip
_WORD = re.compile(r"[A-Za-z0-9_.+-]*")
_BOOSTING = ("gbdt", "gbrt", "goss")  # which add trees and never change earlier ones
# leaves of trees up to this many rows
_LEAVES = ((50_000, 15), (500_000, 31), (np.inf, 63))


def booster_parameters(estimator: Any, n_rows: int) -> dict[str, Any]:
    """Check the parameters of LambdaMART; return LightGBM's, by its names."""
    own = _own_parameters(estimator, n_rows)
    if estimator.monotone_constraints is not None:
        own["monotone_constraints"] = monotone_signs(estimator)
    return merge_parameters(own, estimator.params)


def merge_parameters(
    own: Mapping[str, Any], extra: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Return `own` parameters, by their main names, overridden by the `extra` ones."""
    if extra is None:
        return dict(own)
    if not isinstance(extra, Mapping):
        raise TypeError(
            f"params must be a dict of LightGBM parameters, got {type(extra).__name__}."
        )
    main_names = _main_names()
    merged, seen = dict(own), dict[str, str]()
    for name, value in extra.items():
        main = main_names.get(name)
        if main is None:
            raise ValueError(_unknown(name, list(main_names)))
        if main in _OURS:
            raise ValueError(f"params cannot hold {name!r}: {_OURS[main]}.")
        if main in _OUTSIDE:
            raise ValueError(
                f"params cannot hold {name!r}: a fit does not use files or other "
                "machines."
            )
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
        return all(_is_plain(part) for part in value)
    return isinstance(value, Real | np.bool_)


def _own_parameters(estimator: Any, n_rows: int) -> dict[str, Any]:
    num_leaves = estimator.num_leaves
    if isinstance(num_leaves, str) and num_leaves == "auto":
        num_leaves = next(leaves for most, leaves in _LEAVES if n_rows <= most)
    check_positive("learning_rate", estimator.learning_rate)
    _check_not_negative("reg_alpha", estimator.reg_alpha)
    _check_not_negative("reg_lambda", estimator.reg_lambda)
    check_interval("subsample", estimator.subsample, 1.0)
    check_interval("colsample_bytree", estimator.colsample_bytree, 1.0)
    _check_whole("num_leaves", num_leaves, 2, 131_072)
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


def _check_not_negative(name: str, value: Any) -> None:
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not is_number or not 0.0 <= float(value) < np.inf:
        raise ValueError(f"{name} must be finite and not negative, got {value!r}.")


def _check_whole(name: str, value: Any, low: int, high: int) -> None:
    is_whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not is_whole or not low <= int(value) <= high:
        raise ValueError(
            f"{name} must be a whole number from {low} to {high}, got {value!r}."
        )


def _unknown(name: Any, known: list[str]) -> str:
    close = difflib.get_close_matches(str(name), known, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    return f"params has {name!r}, which is not a parameter of LightGBM.{hint}"


def _main_names() -> dict[str, str]:
    """Return the main name of each alias; LightGBM has no public function for it."""
    import lightgbm

    try:
        table = lightgbm.basic._ConfigAliases._get_all_param_aliases()
        names = {alias: main for main, aliases in table.items() for alias in aliases}
    except (AttributeError, TypeError):
        names = {}
    # an alias that is not known could name a file
    if not _OUTSIDE | set(_OURS) <= set(names.values()):
        raise IncompatibleError(
            f"params cannot be checked: LightGBM {lightgbm.__version__} does not list "
            "all names of its parameters as earlier versions do. Use params=None, or "
            "another version of LightGBM."
        )
    return names
