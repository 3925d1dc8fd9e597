"""Rows apart from the training rows, in the ways that people write them."""

from collections.abc import Mapping
from typing import Any, NamedTuple

__all__ = ["EvalSet", "unpack_eval_set"]


class EvalSet(NamedTuple):
    """Validation rows, not checked yet."""

    X: Any
    y: Any
    sample_weight: Any = None
    qid: Any = None


def unpack_eval_set(eval_set: Any) -> EvalSet:
    """Read ``(X, y)``, ``[(X, y)]``, or a dict that may also name weights and queries.

    The keys of the dict are the parameters of ``fit``: X, y, sample_weight, qid.
    """
    if isinstance(eval_set, list) and len(eval_set) == 1:
        eval_set = eval_set[0]
    if isinstance(eval_set, Mapping):
        unknown = sorted(set(map(str, eval_set)) - set(EvalSet._fields))
        missing = [name for name in ("X", "y") if name not in eval_set]
        if unknown or missing:
            fault = f"an unknown key {unknown[0]!r}" if unknown else f"no {missing[0]}"
            raise ValueError(
                f"eval_set has {fault}; its keys are 'X', 'y', and if need be "
                "'sample_weight' and 'qid'."
            )
        return EvalSet(**eval_set)
    if isinstance(eval_set, tuple | list) and len(eval_set) == 2:
        return EvalSet(*eval_set)
    raise ValueError(
        "eval_set must be one pair (X, y), or a dict with the keys 'X', 'y', and if "
        f"need be 'sample_weight' and 'qid'; got {_shape(eval_set)}."
    )


def _shape(eval_set: Any) -> str:
    kind = type(eval_set).__name__
    if isinstance(eval_set, tuple | list):
        return f"a {kind} of {len(eval_set)}"
    return f"a {kind}"
