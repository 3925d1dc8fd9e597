"""Descriptions of parameters that many public functions and models share.

Parameters
----------
X : array-like or sparse matrix of shape (n_rows, n_features)
    The features.
y : array-like of shape (n_rows,)
    Two distinct labels; the second in sorted order is the positive class.
y_true : array-like of shape (n_rows,)
    Labels of two classes: booleans, numbers or strings.
y_score : array-like of shape (n_rows,)
    Finite scores: the higher, the more likely positive or the more relevant. Only
    their order matters; they are compared as float64.
fpr_range, tpr_range : pair of float, default=(0.0, 1.0)
    The part of the ROC curve that counts: ``fpr_range=(0, 0.1)`` looks at the
    highest-ranked tenth of the negatives, ``tpr_range=(0.9, 1)`` at the
    lowest-ranked tenth of the positives.
sample_weight : array-like of shape (n_rows,), default=None
    Nonnegative row weights; a pair weighs the product of its rows'. Rows of weight 0
    are left out.
qid : array-like of shape (n_rows,), default=None
    The query of each row. Pairs are then within queries, and the value is the plain
    mean over the queries whose rows are not all of one class.
average : {"macro", "micro", "impressions", None}, default="macro"
    How to average over queries: all count the same; by what the metric is a share of
    (pairs, relevant rows, retrieved rows, the largest gain), so that all queries are
    pooled; by their rows (GAUC). None returns the value of each query, in the sorted
    order of the ids (of objects, by first appearance), NaN where it has none.
groups : array-like of shape (n_rows,), default=None
    Rows of one group are in one fold.
pos_label : label, default=None
    The positive class; by default, the second of the two labels in sorted order.
confidence : float, default=0.95
    Probability that the interval is meant to cover.
event : array-like of shape (n_rows,)
    1 or True for an observed event, 0 or False for a censored row.
time : array-like of shape (n_rows,)
    Time from the start to the event or to censoring, at least 0.
scores : array-like of shape (n_rows,)
    Predicted risks: high for early events.
horizon : float, default=None
    Pairs count if their event is before it. For Uno's C, choose a time at which some
    rows are still under observation.
censoring : pair of array-like, default=None
    Events and times to estimate the censoring from, such as those of training rows; by
    default the rows themselves. The estimate of other rows counts as known.
estimator : object
    A fitted binary classifier with ``decision_function`` or ``predict_proba``.
model : estimator
    Any fitted model that scores rows.
y_scores : array-like of shape (n_rows,), or a mapping from names to such
    Scores of one model, or of several by name, for the same rows.
name : str, default=None
    Name of the model in the legend.
ax : matplotlib.axes.Axes, default=None
    Where to draw; a new figure by default.
max_time : float, default=None
    Stop after this many seconds, with the best solution so far.
n_jobs : int, default=1
    Number of folds that run at the same time, each in its own process.
callback : callable, default=None
    Called after each iteration with its progress; the fit stops if it returns true.
    Not stored by :func:`aucmax.save`.
verbose : int, default=0
    Whether to write one line per iteration or round to standard output.
figure_, ax_
    The figure and the axes drawn on.
classes_ : ndarray of shape (2,)
    The labels; the second is the positive class.
n_features_in_ : int
    Number of features.
feature_names_in_ : ndarray of shape (`n_features_in_`,)
    Names of the features, if the training data had names that are all strings.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import is_dataclass
from inspect import (
    Signature,
    cleandoc,
    get_annotations,
    isfunction,
    isgeneratorfunction,
    signature,
)
from types import UnionType
from typing import Any, TypeVar, get_args, get_origin

T = TypeVar("T")
Entries = Mapping[str, str]


def _entries(section: str) -> dict[str, str]:
    """Split a section into the entry of each name; names may share one."""
    entries = re.split(r"\n(?=\S)", section) if section else []
    return {
        name.strip(" *\\"): entry
        for entry in entries
        for name in entry.partition("\n")[0].partition(" :")[0].split(",")
    }


_SELF = "self : object\n    The fitted model."


def documented(target: T) -> T:
    """Add the entries of parameters that a docstring omits."""
    # A class gets entries for its constructor and annotated fitted attributes, also of
    # its bases. Methods take theirs from these, fit and earlier methods, and Returns
    # sections from the method that they override, or else from their annotation.
    if not isinstance(target, type):
        _complete(target, _SHARED)
        return target
    shared = dict(_SHARED)
    for base in reversed(target.__mro__[1:]):
        shared |= _entries(_sections(base).get("Parameters", ""))
    is_record = is_dataclass(target) and not hasattr(target, "set_params")
    if not is_record:  # which has attributes alone
        annotated = [name for base in target.__mro__ for name in get_annotations(base)]
        _complete(target, shared, attributes=[n for n in annotated if n[-1] == "_"])
    for described in (target, getattr(target, "fit", None)):
        shared |= _entries(_sections(described).get("Parameters", ""))
    for name, member in vars(target).items():
        method = getattr(member, "__func__", member)  # of a class method
        if isfunction(method) and not name.startswith("_"):
            overridden = _sections(getattr(super(target, target), name, None))
            _complete(method, shared, overridden.get("Returns", ""))
            shared = _entries(_sections(method).get("Parameters", "")) | shared
    return target


def _complete(
    target: Any, shared: Entries, returns: str = "", attributes: Iterable[str] = ()
) -> None:
    """Write the sections of parameters, of what is returned and of attributes."""
    if target.__doc__ is None:  # python -OO
        return
    found = _sections(target)
    sections = {title: found.pop(title, "") for title in ("", "Parameters")}
    shape = signature(target)
    own = _entries(sections["Parameters"])
    # of a record, attributes such as `ax_` are described as such
    names = [name for name in shape.parameters if not name.endswith("_")]
    named = [own.get(name) or shared.get(name, "") for name in names]
    sections["Parameters"] = "\n".join(dict.fromkeys(filter(None, named)))
    sections["Returns"] = _SELF if target.__name__ == "fit" else returns
    if isgeneratorfunction(target):
        yielded = get_args(shape.return_annotation)
        sections["Yields"] = ", ".join(map(_type_name, yielded))
    elif isfunction(target) and not sections["Returns"]:
        sections["Returns"] = _type_name(shape.return_annotation)
    sections |= found
    if "Attributes" in sections:
        own = _entries(sections["Attributes"])
        missing = [shared.get(name, "") for name in attributes if name not in own]
        added = dict.fromkeys(filter(None, missing))
        sections["Attributes"] = "\n".join([sections["Attributes"], *added])
    text = [
        f"{title}\n{'-' * len(title)}\n{body}" if title else body
        for title, body in sections.items()
        if body
    ]
    target.__doc__ = "\n\n".join(text)


def _type_name(annotation: Any) -> str:
    """Write the type of what is returned as a docstring names it."""
    if annotation in (None, "None", Signature.empty):
        return ""
    annotation = getattr(annotation, "__forward_arg__", annotation)
    if isinstance(annotation, str):
        return annotation.replace("pl.", "polars.")
    if isinstance(annotation, UnionType):
        names = (_type_name(one) or "None" for one in get_args(annotation))
        return ", or ".join(names).replace("NoneType", "None")
    if get_origin(annotation) is list:
        return f"list of {_type_name(get_args(annotation)[0])}"
    return str((get_origin(annotation) or annotation).__name__)


def _sections(target: Any) -> dict[str, str]:
    """Split a numpydoc docstring by its headings; the summary has none."""
    return _split(cleandoc(getattr(target, "__doc__", None) or ""))


def _split(text: str) -> dict[str, str]:
    summary, *rest = re.split(r"^([A-Z][A-Za-z ]+)\n-{3,}\n", text, flags=re.MULTILINE)
    bodies = map(str.strip, rest[1::2])
    return {"": summary.strip(), **dict(zip(rest[::2], bodies, strict=True))}


_SHARED = {} if __doc__ is None else _entries(_split(__doc__)["Parameters"])
