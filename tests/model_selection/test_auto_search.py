import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from aucmax import AutoRanker
from aucmax.exceptions import NotEnoughClassesError
from aucmax.model_selection import LightGBMBaseline, fitted_candidates
from aucmax.model_selection.auto_search import AutoSearch, SearchClock, TimeUpError
from aucmax.model_selection.models import choose_candidates
from model_selection.test_fitted_candidates import SETTING, Recorder, training_table


class Slow(Recorder):
    def fit(self, X, y):
        time.sleep(0.05)
        return super().fit(X, y)


class Broken(Recorder):
    def __init__(self, error=NotEnoughClassesError, callback=None):
        super().__init__(callback)
        self.error = error

    def fit(self, X, y):
        raise self.error("cannot learn\nthis")


class Interrupted(Recorder):
    def fit(self, X, y):
        raise KeyboardInterrupt


def run(*models, time_limit=None, report=None):
    candidates = choose_candidates(list(models), SETTING)
    return search(candidates, SearchClock(time_limit), report)


def search(candidates, clock, report=None, setting=SETTING):
    found = AutoSearch(training_table(), setting, clock, report)
    found.run(candidates)
    return found


def names(found):
    return [one.candidate.name for one in found.fitted]


def test_every_candidate_has_its_turn_and_is_reported():
    progress = []
    found = run(LogisticRegression(), GaussianNB(), report=progress.append)
    assert names(found) == ["LogisticRegression", "GaussianNB"]
    assert [one.candidate for one in progress] == [*names(found), "combination"]
    assert [one.n_done for one in progress] == [0, 1, 2]
    assert progress[0].best == ""
    assert np.isnan(progress[0].score)
    assert progress[1].best == "LogisticRegression"
    assert 0.6 < progress[1].score <= progress[2].score
    assert "1 of 2 done" in str(progress[1])
    assert "best so far 0." in str(progress[1])


def test_a_notebook_shows_a_bar_and_a_script_does_not(monkeypatch, capsys):
    X = np.random.default_rng(0).normal(size=(60, 2))
    model = AutoRanker(models=["logistic"], folds=2)
    model.fit(X, X[:, 0] > 0)
    assert capsys.readouterr().out == ""
    shell = type("ZMQInteractiveShell", (), {})()
    ipython = SimpleNamespace(get_ipython=lambda: shell)
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    model.fit(X, X[:, 0] > 0)
    first, last = capsys.readouterr().out.split("\r")[1:]
    assert first.startswith("[....................] 0 of 1 done")
    assert last.startswith("[####################] 1 of 1 done")
    assert last.endswith("\n")
    model.set_params(verbose=0).fit(X, X[:, 0] > 0)
    assert capsys.readouterr().out == ""


def test_the_first_is_fitted_whatever_time_it_takes():
    with pytest.warns(UserWarning, match="enough for one model only, 'Slow'"):
        found = run(Slow(), GaussianNB(), time_limit=0.01)
    assert names(found) == ["Slow"]
    assert "left no time for GaussianNB" in found.notices[0]


def test_a_candidate_that_is_not_done_in_time_is_dropped():
    models = [(str(k), Slow()) for k in range(50)]
    start = time.perf_counter()
    found = run(*models, time_limit=1.0)
    assert 1 < len(found.fitted) < 50
    assert time.perf_counter() - start < 2.0
    assert "left no time for" in found.notices[0]


def test_time_is_left_to_fit_what_is_done_to_all_rows():
    clock = SearchClock(2.0)
    candidates = choose_candidates([(str(k), Slow()) for k in range(50)], SETTING)
    found = search(candidates, clock)
    # three fits of two thirds of the rows each; half as long to fit all of them once
    once = sum(one.seconds for one in found.fitted) / 2.0
    assert once / 2.0 < 2.0 - clock.seconds < 2.0 * once


def test_a_candidate_that_fails_is_noted():
    found = run(Broken(), GaussianNB())
    assert names(found) == ["GaussianNB"]
    notice = "Broken is left out: NotEnoughClassesError: cannot learn"
    assert found.notices == [notice]
    with pytest.raises(ValueError, match="cannot learn"):
        run(Broken())


def test_a_candidate_with_a_fault_is_noted_for_users_and_raised_in_tests(monkeypatch):
    with pytest.raises(IndexError, match="cannot learn"):
        run(Broken(IndexError), GaussianNB())
    monkeypatch.setattr("aucmax.model_selection.auto_search.RAISES", False)
    found = run(Broken(IndexError), GaussianNB())
    assert found.notices == ["Broken is left out: IndexError: cannot learn"]


def test_an_interrupt_keeps_what_is_done():
    found = run(GaussianNB(), Interrupted(), LogisticRegression())
    assert names(found) == ["GaussianNB"]
    assert "interrupted at 'Interrupted'" in found.notices[0]
    assert found.is_stopped
    with pytest.raises(KeyboardInterrupt):
        run(Interrupted(), GaussianNB())


def test_the_callback_may_end_the_search():
    found = run(GaussianNB(), Slow(), report=lambda progress: progress.n_done == 1)
    assert names(found) == ["GaussianNB"]
    assert found.notices == ["the callback ended the search"]


def test_an_error_of_the_callback_is_not_one_of_a_model():
    def fail(progress):
        if progress.n_done == 1:
            raise RuntimeError("of the callback")

    with pytest.raises(RuntimeError, match="of the callback"):
        run(GaussianNB(), ("other", GaussianNB()), report=fail)


def test_large_tables_are_encoded_view_by_view(monkeypatch):
    monkeypatch.setattr(fitted_candidates, "_MANY_CELLS", 1)
    trees = LightGBMBaseline(n_estimators=3)
    found = run(("a", GaussianNB()), ("b", trees), ("c", LogisticRegression()))
    assert names(found) == ["a", "c", "b"]


def test_candidates_are_compared_by_the_part_that_counts():
    progress = []
    run(("first", Recorder()), report=progress.append)
    assert progress[-1].best == "first"


def test_a_fit_that_cannot_be_stopped_is_tried_with_some_rows(monkeypatch):
    monkeypatch.setattr(fitted_candidates, "_MANY_ROWS", 10)
    sizes = []

    class Blind(GaussianNB):
        def fit(self, X, y, sample_weight=None):
            sizes.append(y.size)
            time.sleep(0.02 * y.size)
            return super().fit(X, y)

    candidates = choose_candidates([GaussianNB(), Blind()], SETTING)
    setting = SETTING._replace(is_limited=True)
    start = time.perf_counter()
    with pytest.warns(UserWarning, match="enough for one model only"):
        search(candidates, SearchClock(0.5), setting=setting)
    assert sizes == [60 // 16]
    assert time.perf_counter() - start < 0.5


def test_time_is_up_when_what_is_reserved_is_no_longer_left():
    clock = SearchClock(100.0)
    assert 0.0 <= clock.seconds < 10.0
    clock.check(reserved=80.0)
    with pytest.raises(TimeUpError):
        clock.check(reserved=101.0)


def test_without_a_limit_time_is_never_up():
    SearchClock(None).check(reserved=1e9)
