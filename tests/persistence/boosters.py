"""Models to check, and tools to spoil them one way at a time."""

import re

import lightgbm as lgb
import numpy as np

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 4))
X[:, 3] = RNG.integers(0, 70, 400)
X[RNG.random((400, 4)) < 0.1] = np.nan
Y = ((np.nan_to_num(X[:, 0]) + (X[:, 3] % 3 == 0)) > 0.3).astype(float)


def train(n_trees=3, X=X, y=Y, dataset=None, **params):
    data = lgb.Dataset(X, y, free_raw_data=False, **(dataset or {}))
    settings = {"verbose": -1, "num_threads": 1, "min_data_in_leaf": 5, **params}
    return lgb.train({"objective": "binary", **settings}, data, n_trees)


def logistic(scores, data):
    probability = 1 / (1 + np.exp(-scores))
    return probability - data.get_label(), probability * (1 - probability)


CATEGORICAL = {"categorical_feature": [3]}
CATEGORICAL_PARAMS = {"min_data_per_group": 5, "cat_smooth": 1, "max_cat_to_onehot": 1}


TEXT = train(
    2, num_leaves=5, dataset=CATEGORICAL, **CATEGORICAL_PARAMS
).model_to_string()


def fields_of_first_tree(text=TEXT):
    block = text[text.index("Tree=0\n") : text.index("\n\n\nTree=1")]
    return dict(line.split("=", 1) for line in block.split("\n"))


def fit_sizes(text):
    """Make tree_sizes right again, so that only the change itself can be noticed."""
    body, end, tail = text.partition("end of trees")
    head, *blocks = re.split(r"(?=^Tree=)", body, flags=re.MULTILINE)
    sizes = " ".join(str(len(block.encode())) for block in blocks)
    head = re.sub(r"(?m)^tree_sizes=.*$", f"tree_sizes={sizes}", head)
    return "".join([head, *blocks, end, tail])


def change(**fields):
    """Replace fields of the first tree (None removes one) and mend the sizes."""
    text = TEXT
    for key, value in fields.items():
        line = "" if value is None else f"{key}={value}\n"
        text, n = re.subn(rf"(?m)^{key}=.*\n", lambda _, line=line: line, text, count=1)
        assert n == 1
    return fit_sizes(text)


def entry(key, place, value):
    """Replace one entry of a list in the first tree."""
    entries = fields_of_first_tree()[key].split(" ")
    entries[place] = str(value)
    return change(**{key: " ".join(entries)})


def add_line(line, before="shrinkage="):
    return fit_sizes(TEXT.replace(before, f"{line}\n{before}", 1))


def header(old, new, text=TEXT):
    assert len(re.findall(old, text, flags=re.MULTILINE)) >= 1
    return re.sub(old, new, text, count=1, flags=re.MULTILINE)


def lengths(key, delta):
    entries = fields_of_first_tree()[key].split(" ")
    entries = entries[:delta] if delta < 0 else entries + entries[-1:] * delta
    return change(**{key: " ".join(entries)})
