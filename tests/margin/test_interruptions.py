"""Callbacks, time limits, Ctrl-C and threads: fits that do not run to their end."""

import time
from _thread import interrupt_main
from functools import partial
from itertools import count
from threading import Event, Thread

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from aucmax.margin import MarginRanker
from builders import linear_rows

FORMULATIONS = ("pairs", "instances", "adaptive", "global")
KINDS = ("signed", "stumps")
for_every_formulation = pytest.mark.parametrize("formulation", FORMULATIONS)
for_every_kind = pytest.mark.parametrize("kind", KINDS)


def data(n_rows=80):
    return linear_rows(n_rows, 8, noise=0.5, cut=0.5, slopes=(1.0, 0.5))


def has_reached(last, progress):
    return progress.n_iter >= last


@for_every_kind
@for_every_formulation
def test_a_callback_sees_one_record_an_iteration(formulation, kind, capsys):
    X, y = data()
    seen = []
    model = MarginRanker(kind, formulation, 0.2, callback=seen.append, verbose=1)
    model.fit(X, y)
    assert [progress.n_iter for progress in seen] == list(range(1, model.n_iter_ + 1))
    assert np.diff([progress.seconds for progress in seen]).min() >= 0.0
    passes = np.diff([progress.n_passes for progress in seen])
    assert passes.min() >= 0.0
    # what the last iteration leaves to do is not more than one of them
    last = seen[-1].n_passes
    assert last <= model.n_passes_ <= last + max(passes.max(), 3.0)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(seen)
    assert lines[-1].startswith(f"MarginRanker: iteration {model.n_iter_}, ")
    if formulation in ("pairs", "instances"):
        # margins, which grow, and what is left of the gap over all hypotheses
        assert np.diff([progress.value for progress in seen]).min() >= -1e-12
        assert seen[-1].value == pytest.approx(model.objective_, rel=1e-3)
        assert all(
            progress.value + progress.gap >= model.objective_ for progress in seen
        )


@pytest.mark.slow
@for_every_kind
@for_every_formulation
def test_a_true_answer_of_the_callback_stops_everything(formulation, kind):
    X, y = data()
    whole = MarginRanker(kind, formulation, 0.2).fit(X, y)
    for last in {1, max(whole.n_iter_ // 2, 1)}:
        model = clone(whole).set_params(callback=partial(has_reached, last))
        with pytest.warns(ConvergenceWarning, match=f"after {last} iterations"):
            model.fit(X, y)
        assert model.n_iter_ == last
        assert np.isfinite(model.decision_function(X)).all()
        assert model.certificate_.pairs_achieved >= model.certificate_.pairs_guaranteed
        if formulation != "adaptive":  # whose optimum depends on where it stands
            assert abs(model.objective_ - whole.objective_) <= (
                model.dual_gap_ + whole.dual_gap_
            )


@for_every_kind
@for_every_formulation
def test_no_time_is_time_for_one_iteration_a_solve(formulation, kind):
    X, y = data()
    model = MarginRanker(kind, formulation, 0.2, max_time=0.0)
    with pytest.warns(ConvergenceWarning):
        model.fit(X, y)
    assert model.n_iter_ == 1
    assert np.isfinite(model.decision_function(X)).all()
    assert model.dual_gap_ > 0.0


@for_every_kind
@pytest.mark.parametrize("formulation", ["pairs", "adaptive", "global"])
def test_time_runs_out_for_all_solves_together(formulation, kind, monkeypatch):
    # a clock that advances by a second at each call
    monkeypatch.setattr(time, "perf_counter", map(float, count()).__next__)
    X, y = data(400)
    model = MarginRanker(
        kind, formulation, 0.3, tol=1e-300, max_iter=10**6, max_time=10.0
    )
    with pytest.warns(ConvergenceWarning, match="relative gap of .* Raise max_time"):
        model.fit(X, y)
    assert 1 <= model.n_iter_ <= 10


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"max_iter": 3}, "Raise max_iter"),
        ({"callback": lambda progress: True}, "The callback stopped the fit"),
    ],
)
def test_the_warning_says_what_ended_the_fit(options, why):
    X, y = data()
    with pytest.warns(ConvergenceWarning, match=f"1e-300 was not reached. {why}"):
        MarginRanker("signed", "pairs", 0.5, tol=1e-300, **options).fit(X, y)


def test_a_missed_tolerance_is_a_warning_with_the_gap():
    X, y = data()
    with pytest.warns(ConvergenceWarning) as caught:
        model = MarginRanker("signed", "pairs", 0.5, tol=1e-9, max_iter=3).fit(X, y)
    relative = model.dual_gap_ / model.objective_
    assert f"relative gap of {relative:.2g} after 3 iterations" in str(
        caught[0].message
    )
    assert caught[0].filename == __file__
    assert model.n_iter_ == 3
    assert model.certificate_.gap == pytest.approx(relative)


@pytest.mark.parametrize(
    ("formulation", "kind"), [("pairs", "signed"), ("global", "stumps")]
)
def test_ctrl_c_ends_a_fit(formulation, kind):
    X, y = data()
    is_going = Event()
    endless = MarginRanker(
        kind,
        formulation,
        0.1,
        tol=1e-300,
        max_iter=10**9,
        max_time=300.0,
        callback=lambda progress: is_going.set(),
    )

    def press_ctrl_c():
        is_going.wait()
        interrupt_main()

    keyboard = Thread(target=press_ctrl_c)
    keyboard.start()
    with pytest.raises(KeyboardInterrupt):
        endless.fit(X, y)
    keyboard.join()
    assert not hasattr(endless, "n_features_in_")
