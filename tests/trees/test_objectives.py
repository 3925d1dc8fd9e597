import subprocess
import sys

import numpy as np
import pytest

from aucmax import objectives
from aucmax.objectives import LabelledRows, lightgbm


@pytest.mark.slow
def test_importing_objectives_loads_no_training_library():
    code = (
        "import sys, aucmax.objectives as o; o.lightgbm(); o.xgboost();"
        "print({'lightgbm', 'xgboost', 'catboost'} & set(sys.modules))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    assert ran.stdout.strip() == "set()"


def rows_of(labels, **others):
    return LabelledRows(np.array(labels), **{k: np.array(v) for k, v in others.items()})


def test_rows_differ_if_any_value_differs():
    kinds = [
        rows_of([0, 1]),
        rows_of([1, 0]),
        rows_of([0, 1, 1]),
        rows_of([0, 1], weights=[1, 2]),
        rows_of([0, 1], sizes=[2]),
        rows_of([0, 1], sizes=[1, 1]),
        rows_of([0, 1], sizes=[2], query_weights=[3]),
    ]
    for i, one in enumerate(kinds):
        for j, other in enumerate(kinds):
            assert one.is_equal(other) == (i == j)


def bound_labels(monkeypatch):
    """Return the first labels of the data sets that a plug-in binds."""
    bound, original = [], objectives._BoundRows.__init__

    def noted(self, plugin, rows):
        bound.append(rows.labels[0])
        original(self, plugin, rows)

    monkeypatch.setattr(objectives._BoundRows, "__init__", noted)
    return bound


def test_the_last_few_data_sets_are_kept_and_no_more(monkeypatch):
    bound, plugin = bound_labels(monkeypatch), lightgbm("ordinal")
    for label in [0, 1, 2, 3, 3, 0, 1, 2]:
        plugin._bound(rows_of([label]))
    assert bound == [0, 1, 2, 3]
    plugin._bound(rows_of([4]))
    plugin._bound(rows_of([1]))
    plugin._bound(rows_of([0]))  # the oldest was dropped
    assert bound == [0, 1, 2, 3, 4, 0]


def test_labels_changed_in_place_are_noticed(monkeypatch):
    bound, plugin = bound_labels(monkeypatch), lightgbm("ordinal")
    labels = np.array([0, 1])
    plugin._bound(LabelledRows(labels))
    labels[0] = 5
    plugin._bound(LabelledRows(labels))
    assert bound == [0, 5]
