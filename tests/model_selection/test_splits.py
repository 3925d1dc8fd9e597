"""Groups, times, other tables and weights: what is tested, and what it counts."""

import json

import numpy as np
import polars as pl
import pytest
from scipy import sparse
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier

from aucmax import AutoRanker
from aucmax.inference import auc_interval, compare_auc
from aucmax.metrics import roc_auc_score
from aucmax.model_selection import compare_models
from aucmax.tables import encode_target
from aucmax.tables.folds import split_rows
from model_selection.ranked_samples import Column

ROWS = 300
RNG = np.random.default_rng(0)
X = RNG.normal(size=(ROWS, 2))
LABELS = X[:, 0] + RNG.normal(size=ROWS) > 0.5
PATIENTS = np.array([f"patient {k}" for k in RNG.integers(0, 40, ROWS)])
DAYS = RNG.integers(0, 50, ROWS)
WEIGHTS = RNG.uniform(0.5, 3, ROWS)


def described(labels=LABELS, qid=None, **rows):
    return encode_target(labels, qid=qid, **rows)


def count_folds(target, n_folds=None):
    return len(split_rows(target, n_folds, 0))


def test_no_group_is_in_two_folds_and_every_row_is_tested_once():
    folds = split_rows(described(groups=PATIENTS), 4, 0)
    assert len(folds) == 4
    for train, test in folds:
        assert not set(PATIENTS[train]) & set(PATIENTS[test])
        assert min(np.bincount(LABELS[test])) >= 2
    assert sorted(np.concatenate([test for _, test in folds])) == list(range(ROWS))


def test_groups_that_know_their_label_do_not_help():
    # each patient is ill or well throughout, and told by a number of no meaning
    ill = RNG.random(40) < 0.4
    number = RNG.normal(size=40)
    who = np.arange(ROWS) % 40
    table = pl.DataFrame({"number": number[who], "noise": RNG.normal(size=ROWS)})
    model = ("neighbours", KNeighborsClassifier(1))
    naive = compare_models(table[["number"]], ill[who], [model], cv=4)
    honest = compare_models(table[["number"]], ill[who], [model], cv=4, groups=who)
    assert naive.results[0].auc > 0.95
    assert honest.results[0].auc < 0.75
    assert honest.scheme == "groups"
    assert "4 folds of whole groups" in str(honest)


def test_few_groups_get_fewer_folds():
    halves = np.arange(ROWS) % 3
    assert count_folds(described(groups=halves)) == 3
    with pytest.raises(ValueError, match="these groups cannot be divided into 4 folds"):
        count_folds(described(groups=halves), 4)
    divided = np.where(LABELS, "a", "b")
    with pytest.raises(ValueError, match=r"into 2 folds.*Use other groups"):
        count_folds(described(groups=divided))
    with pytest.raises(ValueError, match="cv must be an integer of at least 2, got 1"):
        count_folds(described(groups=halves), 1)


def test_a_splitter_of_scikit_learn_makes_the_folds():
    splitter = StratifiedKFold(3, shuffle=True, random_state=5)
    expected = [*splitter.split(X, LABELS)]
    comparison = compare_models(X, LABELS, [Column()], cv=splitter)
    model = AutoRanker(models=["logistic"], cv=splitter).fit(X, LABELS)
    assert model.n_folds_ == comparison.n_folds == 3
    for k, (_, test) in enumerate(expected):
        np.testing.assert_array_equal(
            np.flatnonzero(comparison.fold_numbers == k), test
        )
    groups = np.arange(ROWS) // 2
    grouped = compare_models(X, LABELS, [Column()], groups=groups, cv=GroupKFold(3))
    assert grouped.n_folds == 3


@pytest.mark.parametrize(
    ("cv", "rows", "message"),
    [
        (ShuffleSplit(3), {}, "tests some rows in several folds"),
        (StratifiedKFold(3), {"groups": np.arange(ROWS) // 2}, "divides a group"),
        (KFold(3), {"times": DAYS}, "times make their own folds"),
        (KFold(ROWS), {}, "gives a fold without two rows of either class"),
        ("five", {}, "must be a number of folds or a splitter"),
    ],
)
def test_splitters_that_do_not_fit_the_rows_are_rejected(cv, rows, message):
    with pytest.raises(ValueError, match=message):
        compare_models(X, LABELS, [Column()], cv=cv, **rows)
    with pytest.raises(ValueError, match=message):
        AutoRanker(models=["logistic"], cv=cv).fit(X, LABELS, **rows)


def test_groups_of_queries_are_kept_together():
    queries = np.arange(ROWS) // 10
    users = queries // 3
    target = described(qid=queries, groups=users)
    for train, test in split_rows(target, 3, 0):
        assert not set(users[train]) & set(users[test])
    with pytest.raises(ValueError, match="rows of one query belong to several groups"):
        split_rows(described(qid=queries, groups=PATIENTS), 3, 0)


def test_folds_are_later_than_what_models_learn_from():
    folds = split_rows(described(times=DAYS), 4, 0)
    assert len(folds) == 4
    tested: set[int] = set()
    for train, test in folds:
        assert DAYS[train].max() < DAYS[test].min()
        # all of the past
        assert set(train) == set(np.flatnonzero(DAYS[test].min() > DAYS))
        assert not tested & set(test)
        tested |= set(test)
    assert len(tested) > 0.7 * ROWS


def test_only_later_rows_are_tested_by_time():
    dates = [f"2024-{1 + day // 28:02d}-{1 + day % 28:02d}" for day in DAYS]
    comparison = compare_models(X, LABELS, [Column()], times=dates, cv=3)
    assert comparison.scheme == "times"
    assert comparison.target.labels.size == comparison.positions["Column"].size < ROWS
    text = " ".join(str(comparison).split())
    assert "3 folds, each later than the training rows of its models" in text
    folds = split_rows(described(times=DAYS), 3, 0)
    aucs = [roc_auc_score(LABELS[test], X[test, 0]) for _, test in folds]
    assert comparison.results[0].folds == pytest.approx(aucs)


def test_times_that_allow_fewer_folds():
    # no positive row among the first third
    labels = np.arange(ROWS) > 100
    labels[100::5] = False
    target = described(labels, times=np.arange(ROWS))
    assert count_folds(target) < 5
    with pytest.raises(ValueError, match="these times cannot be divided into 5 folds"):
        count_folds(target, 5)
    with pytest.raises(ValueError, match="these times cannot be divided into 1 fold:"):
        count_folds(described(times=np.where(LABELS, 1, 0)))
    with pytest.raises(ValueError, match="cannot be combined with groups or queries"):
        count_folds(described(times=DAYS, groups=PATIENTS))


def test_other_rows_are_tested_by_models_of_all():
    new = RNG.normal(size=(80, 2))
    truth = new[:, 0] + RNG.normal(size=80) > 0.5
    models = [("first", Column(0)), ("second", Column(1))]
    comparison = compare_models(X, LABELS, models[::-1], test=(new, truth))
    interval = auc_interval(truth, new[:, 0])
    first = comparison.results[1]
    assert (first.auc, first.low, first.high) == pytest.approx(
        (interval.value, interval.low, interval.high), abs=1e-3
    )
    (test,) = comparison.tests
    difference = compare_auc(truth, new[:, 0], new[:, 1]).difference
    assert test.difference == pytest.approx(difference, abs=1e-3)
    assert (comparison.scheme, comparison.n_folds) == ("test", 1)
    assert comparison.target.labels.size == 80
    assert "over the test rows; 1 is perfect" in str(comparison)
    record = json.loads(json.dumps(comparison.to_dict(), allow_nan=False))
    assert (record["scheme"], record["rows"]) == ("test", 80)


def test_sparse_rows_of_another_width_are_tested():
    new = sparse.csr_matrix(RNG.normal(size=(60, 4)))
    truth = np.arange(60) % 3 == 0
    models = ["logistic"]
    comparison = compare_models(sparse.csr_array(X), LABELS, models, test=(new, truth))
    assert comparison.target.labels.tolist() == truth.tolist()


@pytest.mark.parametrize(
    ("rows", "truth", "message"),
    [
        (
            pl.DataFrame({"x0": [1.0] * 9}),
            [True, False, True] * 3,
            "lack columns of the training rows: 'x1'",
        ),
        (X[:9], [True] + [False] * 8, "1 of 9 test rows are positive"),
        (X[:9], [3] * 9, "values that did not occur in training"),
        (sparse.csr_array(X[:9]), [True, False, True] * 3, "both be tables"),
    ],
    ids=["columns", "one positive", "values", "kind"],
)
def test_other_rows_that_do_not_fit(rows, truth, message):
    with pytest.raises(ValueError, match=message):
        compare_models(X, LABELS, [Column()], test=(rows, truth))


def test_weights_are_learned_from():
    # the first half of the rows says one thing, the second the opposite
    labels = (X[:, 0] > 0) ^ (np.arange(ROWS) % 2 == 0)
    for heavy in (0, 1):
        weights = np.where(np.arange(ROWS) % 2 == heavy, 10.0, 1.0)
        comparison = compare_models(
            X, labels, ["logistic", "svm-auc", "lightgbm"], sample_weight=weights,
            cv=2,
        )  # fmt: skip
        assert min(result.auc for result in comparison.results) > 0.75


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ({"groups": ["a"] * ROWS}, "groups has a single group, but at least two are"),
        ({"groups": range(ROWS)}, "groups has a different group in each of the 300"),
        ({"groups": [None] + ["a", "b"] * 149 + ["a"]}, "groups is missing in 1 of"),
        ({"groups": ["a", "b"]}, "groups has 2 rows, but the target has 300"),
        ({"times": ["2024-01-01"] * 299 + ["soon"]}, "row (299|300) has 'soon'"),
        ({"sample_weight": [0.0] + [1.0] * 299}, "row 1 has 0 .1 such rows."),
        ({"sample_weight": [1.0] * 299 + [np.inf]}, "row 300: inf is not a finite"),
        ({"sample_weight": [1.0] * 299 + [None]}, "sample_weight is missing in 1 of"),
        ({"sample_weight": ["heavy"] * 300}, "must hold numbers to be weights, got"),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_groups_times_and_weights_are_checked(rows, message):
    with pytest.raises(ValueError, match=message):
        described(**{name: list(values) for name, values in rows.items()})
