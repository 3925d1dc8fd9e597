"""Parameters of a model typed as name=value, checked before the fit."""

import ast
from collections.abc import Iterable, Mapping
from typing import Any

from aucmax.datasets.column_names import near_names

# parameters that the program sets itself, or that cannot be typed
_NOT_TYPED = {"callback", "verbose", "categorical_features"}

_TRUTH = {"true": True, "yes": True, "false": False, "no": False}


def parse_parameters(
    estimator: Any, settings: Iterable[str], model: str
) -> dict[str, Any]:
    """Turn strings such as ``C=1`` into parameters, of the types of the defaults.

    Where the default is None, the text decides the type, and the model checks it.
    """
    defaults = {
        name: value
        for name, value in estimator.get_params(deep=False).items()
        if name not in _NOT_TYPED
    }
    parameters: dict[str, Any] = {}
    for setting in settings:
        name, equals, text = (part.strip() for part in setting.partition("="))
        if not equals or not text:
            raise ValueError(
                f"set a parameter by NAME=VALUE, such as {_example(defaults)}, got "
                f"{setting!r}."
            )
        if name not in defaults:
            raise ValueError(
                f"{model} has no parameter {name!r}."
                f"{near_names(name, list(defaults), or_list=False)} Its parameters are "
                f"{', '.join(defaults)}."
            )
        if name in parameters:
            raise ValueError(f"{name} is set twice.")
        parameters[name] = _typed(name, text, defaults[name])
    return parameters


def _example(defaults: Mapping[str, object]) -> str:
    name, value = next(
        ((n, v) for n, v in defaults.items() if isinstance(v, int | float)),
        next(iter(defaults.items())),
    )
    return f"{name}={value}"


def _typed(name: str, text: str, default: object) -> Any:
    """Return the value with the type of the default."""
    if text.lower() == "none":
        return None
    if isinstance(default, bool):
        if text.lower() not in _TRUTH:
            raise ValueError(f"{name} must be true or false, got {text!r}.")
        return _TRUTH[text.lower()]
    value = _literal(text)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if isinstance(default, int):
        if not (is_number and float(value).is_integer()):
            raise ValueError(f"{name} must be an integer, got {text!r}.")
        return int(value)
    if isinstance(default, float):
        if not is_number:
            raise ValueError(f"{name} must be a number, got {text!r}.")
        return float(value)
    if isinstance(value, tuple | list):  # also for a default such as "default"
        return tuple(value)
    if isinstance(default, tuple | list):
        return (value,)
    return text if isinstance(default, str) else value


def _literal(text: str) -> Any:
    """Return the number, list or boolean of a string, or the string itself."""
    if text.lower() in _TRUTH:
        return _TRUTH[text.lower()]
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError):
        names = text.strip("[]()")  # a shell drops the quotes of ['a', 'b']
        parts = tuple(part.strip() for part in names.split(","))
        return text if parts == (text,) else parts
