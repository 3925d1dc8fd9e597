import subprocess
import sys

import numpy as np

from aucmax.trees._plugin_pairs import LabelledRows, Recent


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


def test_rows_are_told_apart_by_all_their_values():
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


def test_the_last_few_data_sets_are_kept_and_no_more():
    prepared = []
    recent = Recent(lambda rows: prepared.append(rows.labels[0]))
    for label in [0, 1, 2, 3, 3, 0, 1, 2]:
        recent.get(rows_of([label]))
    assert prepared == [0, 1, 2, 3]
    recent.get(rows_of([4]))
    recent.get(rows_of([1]))
    recent.get(rows_of([0]))  # the oldest has made room
    assert prepared == [0, 1, 2, 3, 4, 0]


def test_labels_changed_in_place_are_noticed():
    prepared = []
    recent = Recent(lambda rows: prepared.append(rows.labels[0]))
    labels = np.array([0, 1])
    recent.get(LabelledRows(labels))
    labels[0] = 5
    recent.get(LabelledRows(labels))
    assert prepared == [0, 5]
