"""No fold divides a group or a query, and none learns from later rows."""

from functools import partial

import numpy as np
import polars as pl
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression

from aucmax import AutoRanker
from aucmax.model_selection import auto_ranker, compare_models
from aucmax.model_selection.goals import Goal
from aucmax.model_selection.held_out import HeldOutRows
from aucmax.model_selection.stacking import combine
from aucmax.tables import TableEncoder, Target, encode_target
from aucmax.tables.cross_fit import TableCandidate, fit_estimator
from aucmax.tables.target import Grading

N_ROWS = 240
RNG = np.random.default_rng(0)
KEYS = RNG.normal(size=N_ROWS)
LABELS = (KEYS + RNG.normal(size=N_ROWS) > 0).astype(int)
UNITS = RNG.integers(0, 24, N_ROWS)
OTHER_UNITS = RNG.integers(0, 24, N_ROWS)
TIMES = RNG.permutation(N_ROWS) // 2
TABLE = pl.DataFrame({"key": KEYS, "noise": RNG.normal(size=N_ROWS)})

# what is known of the rows; None where no folds can respect all of it
STRUCTURES = {
    "nothing": {},
    "groups": {"groups": UNITS},
    "queries": {"qid": UNITS},
    "times": {"times": TIMES},
    "groups of queries": {"qid": UNITS, "groups": UNITS // 2},
    "queries across groups": {"qid": UNITS, "groups": OTHER_UNITS},
    "times and groups": {"times": TIMES, "groups": UNITS},
    "times and queries": {"times": TIMES, "qid": UNITS},
}
IMPOSSIBLE = ("queries across groups", "times and groups", "times and queries")


class Spy(ClassifierMixin, BaseEstimator):
    """Ranks by the first column, and remembers which rows it saw."""

    seen = ()

    def __init__(self, encoder=None):
        self.encoder = encoder  # as of a model that gets the whole table

    def fit(self, X, y):
        self.classes_, self.n_features_in_ = np.unique(y), X.shape[1]
        Spy.seen = [*Spy.seen, [rows_of(X), None]]
        return self

    def decision_function(self, X):
        Spy.seen[-1][1] = rows_of(X)
        return X["key"].to_numpy()


def rows_of(X):
    return np.array([int(np.flatnonzero(key == KEYS)[0]) for key in X["key"]])


def target_of(qid=None, **known):
    return encode_target(LABELS, qid=qid, **known)


def folds_of_comparison(known):
    compare_models(TABLE, LABELS, [("spy", Spy(TableEncoder()))], cv=3, **known)
    return Spy.seen


def folds_of_auto(monkeypatch, known):
    plans, plan_folds = [], auto_ranker.plan_folds

    def spied(*args, **options):
        plans.append(plan_folds(*args, **options))
        return plans[-1]

    monkeypatch.setattr(auto_ranker, "plan_folds", spied)
    model = AutoRanker(models=["logistic"], time_limit=None, calibrate="auto")
    model.fit(TABLE, LABELS, **known)
    return plans[0].folds


class Chooser(LogisticRegression):
    """Says by which folds it would choose, if it is given any."""

    def __init__(self, cv=3):
        super().__init__()
        self.cv = cv

    def fit(self, X, y):
        Spy.seen = () if self.cv == 3 else self.cv
        return super().fit(X, y)


def folds_within(known):
    target = target_of(**known)
    encoder = TableEncoder().fit(TABLE)
    candidate = TableCandidate("chooser", Chooser())
    model = fit_estimator(candidate, encoder, encoder.transform(TABLE), target)
    assert model.cv == 3
    return Spy.seen


@pytest.mark.parametrize("name", STRUCTURES)
@pytest.mark.parametrize("where", ["comparison", "auto", "within"])
def test_folds_respect_what_is_known_of_the_rows(where, name, monkeypatch):
    structure = STRUCTURES[name]
    monkeypatch.setattr(Spy, "seen", ())

    makers = {
        "comparison": folds_of_comparison,
        "auto": partial(folds_of_auto, monkeypatch),
        "within": folds_within,
    }
    if name in IMPOSSIBLE:
        with pytest.raises(
            ValueError, match=r"times cannot be combined|several groups"
        ):
            makers[where](structure)
        return
    folds = makers[where](structure)
    assert len(folds) > 1 or (where, name) == ("within", "nothing")
    for train, test in folds:
        assert not set(train) & set(test)
        for unit in (structure.get("qid"), structure.get("groups")):
            assert unit is None or not set(unit[train]) & set(unit[test])
        if "times" in structure:
            assert TIMES[train].max() < TIMES[test].min()


@pytest.mark.parametrize("name", ["groups", "times"])
def test_shares_of_positives_are_learned_from_other_groups_and_earlier_rows(name):
    words = pl.DataFrame({"word": [f"w{k}" for k in RNG.integers(0, 60, N_ROWS)]})
    encoder = TableEncoder(max_categories=5).fit(words, LABELS)
    structure = UNITS if name == "groups" else TIMES
    row = int(np.argsort(TIMES)[N_ROWS // 2])

    def share(labels):
        rows = encoder.training_rows(words, labels, "trees", **{name: structure})
        return rows[row, -1]

    hidden = structure == structure[row] if name == "groups" else TIMES[row] <= TIMES
    others = LABELS.copy()
    # the overall share stays, so that only what is hidden from the row differs
    others[hidden] = RNG.permutation(LABELS[hidden])
    assert (others != LABELS).any()
    assert share(others) == pytest.approx(share(LABELS), abs=1e-12)


def test_weights_of_a_combination_come_from_earlier_blocks():
    logits = RNG.normal(size=(N_ROWS, 3)) + LABELS[:, None]
    blocks = np.array_split(np.arange(N_ROWS), 4)

    def honest(labels):
        target = Target(np.where(labels > 0, 1, 0), Grading((0, 1), (0, 1)))
        rows = HeldOutRows(target, np.zeros(N_ROWS, int), Goal("auc"))
        return combine(rows, logits, blocks, is_forward=True).honest_scores

    later = LABELS.copy()
    later[blocks[2]] = 1 - later[blocks[2]]
    same = np.concatenate(blocks[:3])
    np.testing.assert_array_equal(honest(later)[same], honest(LABELS)[same])
    np.testing.assert_allclose(
        honest(LABELS)[blocks[0]], logits[blocks[0]].mean(axis=1)
    )
