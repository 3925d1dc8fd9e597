"""The check before LightGBM's parser accepts real models, and nothing hostile."""

import os
import random
import re
import subprocess
import sys

import lightgbm as lgb
import numpy as np
import pytest

from aucmax.persistence import booster_text
from aucmax.persistence.booster_text import check_booster_text
from persistence.boosters import (
    CATEGORICAL,
    CATEGORICAL_PARAMS,
    RNG,
    TEXT,
    X,
    Y,
    fit_sizes,
    logistic,
    train,
)
from torture.amount import times


def early_stopped():
    data = lgb.Dataset(X, Y)
    stop = lgb.early_stopping(2, verbose=False)
    params = {"objective": "binary", "verbose": -1, "num_threads": 1, "metric": "auc"}
    valid = data.create_valid(X[:100], Y[:100])
    return lgb.train(params, data, 40, valid_sets=[valid], callbacks=[stop])


def infinite():
    odd = X.copy()
    odd[:20, 0], odd[20:40, 0], odd[:, 1] = np.inf, -np.inf, 0.0
    odd[40:60, 2] = 1e300
    return train(X=odd)


REAL = {
    "binary": lambda: train(),
    "stumps": lambda: train(num_leaves=2),
    "many leaves": lambda: train(num_leaves=200, min_data_in_leaf=1),
    "no split": lambda: train(
        min_data_in_leaf=300, dataset={"params": {"feature_pre_filter": False}}
    ),
    "no tree": lambda: lgb.Booster(
        {"objective": "binary", "verbose": -1}, lgb.Dataset(X, Y)
    ),
    "categorical": lambda: train(dataset=CATEGORICAL, **CATEGORICAL_PARAMS),
    "custom objective": lambda: train(objective=logistic),
    "early stopping": early_stopped,
    "random forest": lambda: train(boosting="rf", bagging_freq=1, bagging_fraction=0.5),
    "dart": lambda: train(boosting="dart"),
    "monotone": lambda: train(monotone_constraints=[1, 0, -1, 0]),
    "regression": lambda: train(objective="regression", reg_sqrt=True),
    "ranking": lambda: train(objective="lambdarank", dataset={"group": [200, 200]}),
    "names": lambda: train(
        dataset={"feature_name": ["a=b", "é✓", "num_class", "Tree=0"]}
    ),
    "infinite values": infinite,
}


@pytest.mark.parametrize("kind", REAL)
def test_a_real_model_passes_and_so_does_its_copy(kind):
    booster = REAL[kind]()
    text = booster.model_to_string()
    check_booster_text(text)
    again = lgb.Booster(model_str=text)
    check_booster_text(again.model_to_string())
    check_booster_text(text[: text.index("end of trees\n") + len("end of trees\n")])


def test_a_split_on_missing_alone_passes():
    missing = np.where(RNG.random(400) < 0.4, np.nan, RNG.normal(size=400))
    text = train(X=missing[:, None], y=np.isnan(missing) * 1.0).model_to_string()
    assert re.search(r"(?m)^threshold=.*\binf\b", text)
    check_booster_text(text)


@pytest.mark.parametrize("value", [None, b"tree\n", 3, ["tree"]])
def test_other_types_than_strings_are_rejected(value):
    with pytest.raises(ValueError, match="not a string"):
        check_booster_text(value)


def chain(n_leaves):
    """Return a tree that is one long branch."""
    n = n_leaves - 1
    left = " ".join(str(-1 - i) for i in range(n))
    right = " ".join([*(str(i + 1) for i in range(n - 1)), str(-n_leaves)])
    zeros, leaf_zeros = " ".join("0" * n), " ".join("0" * n_leaves)
    fields = dict.fromkeys(booster_text._SPLIT_KEYS, zeros)
    fields |= dict.fromkeys(booster_text._LEAF_KEYS, leaf_zeros)
    fields |= {"left_child": left, "right_child": right, "shrinkage": "1"}
    fields |= {"num_leaves": str(n_leaves), "num_cat": "0", "is_linear": "0"}
    return "".join(f"{key}={value}\n" for key, value in fields.items())


def test_limits_hold(monkeypatch):
    booster_text._check_tree(chain(4000), 1)
    with pytest.raises(ValueError, match="deeper than 4096"):
        booster_text._check_tree(chain(5000), 1)
    monkeypatch.setattr(booster_text, "MAX_LEAVES", 4)
    with pytest.raises(ValueError, match="num_leaves=5 is not"):
        check_booster_text(TEXT)
    monkeypatch.setattr(booster_text, "MAX_TEXT_BYTES", len(TEXT) - 1)
    with pytest.raises(ValueError, match="longer than"):
        check_booster_text(TEXT)


N_MUTANTS = times(200, 2000)


def mutants(n):
    rng = random.Random(7)
    digits = [m.start() for m in re.finditer(r"\d", TEXT[: TEXT.index("parameters:")])]
    for i in range(n):
        start = rng.randrange(len(TEXT))
        if i % 5 == 0:
            yield TEXT[:start]
        elif i % 5 == 1:
            yield TEXT[:start] + chr(rng.randrange(128)) + TEXT[start + 1 :]
        elif i % 5 == 2:
            yield TEXT[:start] + TEXT[start + rng.randint(1, 49) :]
        else:
            text = list(TEXT)
            for place in rng.sample(digits, rng.randint(1, 3)):
                text[place] = rng.choice("0123456789")
            mutant = "".join(text)
            yield fit_sizes(mutant) if i % 5 == 4 else mutant


PARSE_ALL = """
import sys, numpy as np, lightgbm as lgb
X = np.vstack([np.full((2, 4), np.nan), np.arange(400.0).reshape(-1, 4)])
for text in sys.stdin.read().split("\\x01"):
    try:
        booster = lgb.Booster(model_str=text)
        scores = booster.predict(X, num_threads=1)
        leaves = booster.predict(X, num_threads=1, pred_leaf=True)
    except (lgb.basic.LightGBMError, ValueError) as error:
        continue
    assert np.isfinite(scores).all()
    assert (leaves < 5).all()
print("survived")
"""


@pytest.mark.slow
def test_no_mutant_that_passes_harms_lightgbm():
    passed = []
    for text in mutants(N_MUTANTS):
        try:
            check_booster_text(text)
        except ValueError:
            continue
        passed.append(text)
    assert len(passed) < 0.75 * N_MUTANTS
    assert len(passed) > 0.05 * N_MUTANTS  # other thresholds make another, sound model
    done = subprocess.run(
        [sys.executable, "-c", PARSE_ALL],
        input="\x01".join(passed),
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert done.stdout.endswith("survived\n"), done.stderr[-2000:]
