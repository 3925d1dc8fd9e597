"""One name per thing: parameters of all public functions and methods."""

import dataclasses
import importlib
import inspect
from pathlib import Path

import pytest

PUBLIC = (Path(__file__).parents[1] / "public_names.txt").read_text().split()
MAX_PARAMETERS = 14
# the name that a parameter must not have, and the one that it has everywhere instead
SYNONYMS = {
    "y_scores": "y_score",
    "y_score_a": "y_score_1",
    "y_score_b": "y_score_2",
    "scores_a": "y_score_1",
    "scores_b": "y_score_2",
    "preds": "y_score",
    "logits": "y_score",
    "probabilities": "y_prob",
    "proba": "y_prob",
    "y_proba": "y_prob",
    "positive": "pos_label",
    "positive_class": "pos_label",
    "n_folds": "cv",
    "n_splits": "cv",
    "confidence": "confidence_level",
    "clusters": "groups",
    "n_groups": "n_bins",
    "n_quantiles": "n_bins",
    "eval_times": "horizons",
    "duration": "time",
    "durations": "time",
    "opened": "alerts",
    "n_alerts": "alerts",
    "seed": "random_state",
    "weight": "sample_weight",
    "sample_weights": "sample_weight",
}


# as in PyTorch's losses and samplers, and in torchmetrics
NAMES_OF_TORCH = {"logits", "preds", "seed"}


def resolve(name):
    if name.startswith("aucmax.torch"):
        pytest.importorskip("torch", reason="PyTorch is not installed")
    parts = name.split(".")
    for n_parts in range(len(parts), 0, -1):
        try:
            public = importlib.import_module(".".join(parts[:n_parts]))
        except ModuleNotFoundError:
            continue
        for part in parts[n_parts:]:
            public = getattr(public, part)
        return public
    raise AssertionError(f"there is no {name}")


def signatures(name, public):
    """Yield a function, or the methods of a class; results have fields instead."""
    if inspect.isclass(public):
        is_ours = public.__module__.startswith("aucmax")
        if is_ours and not issubclass(public, BaseException):
            if not dataclasses.is_dataclass(public):
                yield name, public.__init__
            for method, function in inspect.getmembers(public, inspect.isroutine):
                module = getattr(function, "__module__", None) or ""
                if not method.startswith("_") and module.startswith("aucmax"):
                    yield f"{name}.{method}", function
    elif inspect.isroutine(public):
        yield name, public


@pytest.mark.parametrize("name", PUBLIC)
def test_parameters_have_one_name_per_thing(name):
    for where, function in signatures(name, resolve(name)):
        for parameter in inspect.signature(function).parameters:
            if name.startswith("aucmax.torch") and parameter in NAMES_OF_TORCH:
                continue
            assert parameter not in SYNONYMS, f"{where}: use {SYNONYMS[parameter]}"


@pytest.mark.parametrize("name", PUBLIC)
def test_functions_have_few_parameters_and_keywords_after_the_data(name):
    public = resolve(name)
    if not inspect.isfunction(public):
        return
    parameters = inspect.signature(public).parameters.values()
    named = [one for one in parameters if one.kind is not one.VAR_KEYWORD]
    positional = [one for one in named if one.kind is one.POSITIONAL_OR_KEYWORD]
    assert len(named) <= MAX_PARAMETERS
    assert len(positional) <= 4  # event, time, scores and horizons
