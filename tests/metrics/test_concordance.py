import datetime

import numpy as np
import pytest

from aucmax._core.censored_times import SurvivalRows, split_target
from aucmax.exceptions import NotEnoughClassesError
from aucmax.metrics import concordance_index, roc_auc_score, survival_target
from aucmax.metrics.concordance import concordance_shares
from reference_concordance import concordance

pytestmark = pytest.mark.kernel


def draw(seed):
    """Rows with ties of times and scores, weights and strata."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(6, 30))
    event = rng.random(size) < 0.6
    event[0] = True
    time = rng.integers(1, 15, size).astype(float)
    time[:2], strata = (1.0, 14.0), rng.integers(0, 1 + seed % 3, size)
    strata[:2] = 0
    scores = rng.integers(0, 6, size).astype(float)
    return event, time, scores, rng.random(size) + 0.2, strata


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize(("method", "power"), [("harrell", 0), ("uno", 2)])
def test_value_and_effects_are_the_definition(seed, method, power):
    event, time, scores, weight, strata = draw(seed)
    horizon = 9.0 if seed % 2 else None
    settings = {"power": power, "horizon": horizon or np.inf}

    def literal(weight):
        return concordance(event, time, scores, weight, strata, **settings)

    rows = SurvivalRows(event, time, weight, strata)
    result = concordance_shares(rows, scores, method, horizon)
    assert result.value == pytest.approx(literal(weight), rel=1e-12)
    value = concordance_index(
        event,
        time,
        scores,
        method=method,
        horizon=horizon,
        sample_weight=weight,
        qid=strata,
    )
    assert value == pytest.approx(result.value, rel=1e-12)
    # the effect of a row is the derivative by its weight, that of censoring included
    for row in range(0, time.size, 4):
        step = 1e-6 * np.eye(time.size)[row]
        slope = (literal(weight + step) - literal(weight - step)) / 2e-6
        assert result.effects[row] == pytest.approx(slope, abs=1e-7)


def test_two_times_are_the_auc():
    rng = np.random.default_rng(0)
    y = rng.random(200) < 0.3
    scores = rng.normal(size=200).round(1) + y
    value = concordance_index(y, np.where(y, 1.0, 2.0), scores)
    assert value == pytest.approx(roc_auc_score(y, scores), rel=1e-12)


def test_rules_for_ties():
    # at one time, a censored row is observed for longer; two events are not compared
    assert concordance_index([1, 0], [3.0, 3.0], [1.0, 0.0]) == 1.0
    assert concordance_index([1, 0], [3.0, 3.0], [1.0, 1.0]) == 0.5
    with pytest.raises(NotEnoughClassesError, match="No two rows are comparable"):
        concordance_index([1, 1], [3.0, 3.0], [1.0, 0.0])


def test_censoring_of_other_rows():
    event, time = np.array([1, 0, 1, 1, 0]), np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    scores = np.array([5.0, 1.0, 2.0, 3.0, 4.0])
    value = concordance_index(event, time, scores, method="uno")
    same = concordance_index(event, time, scores, method="uno", censoring=(event, time))
    assert value == same
    with pytest.raises(ValueError, match=r"2 events are after .* Set horizon"):
        concordance_index(
            event, time, scores, method="uno", censoring=([0, 0], [1.0, 2.0])
        )


@pytest.mark.parametrize(
    ("event", "time", "message"),
    [
        ([0, 0], [1.0, 2.0], "No two rows are comparable"),
        ([1, 0], [1.0, -2.0], r"1 rows are below, the lowest -2 in row 1"),
        ([1, np.nan], [1.0, 2.0], r"event .*row 1"),
        ([1, 2], [1.0, 2.0], r"got 1, 2\. If one code is the event, write event == 2"),
        (["dead", "alive"], [1.0, 2.0], "write event == 'dead'"),
        ([1, 0], [1.0, np.nan], "time must be finite, but row 1 is nan"),
        ([1, 0], [datetime.date(2020, 1, 1)] * 2, "time holds dates"),
        ([1, 0], np.array(["2020-01-01"] * 2, dtype="M8[D]"), "time holds dates"),
        ([1, 0, 1], [1.0, 2.0], "one value per row"),
    ],
)
def test_bad_input_is_explained(event, time, message):
    with pytest.raises(ValueError, match=message):
        concordance_index(event, time, [0.0, 1.0])


def test_targets_are_arrays_or_frames():
    y = survival_target([1, 0], [5.0, 8.0])
    assert y.dtype.names == ("event", "time")
    assert split_target(y)[1].tolist() == [5.0, 8.0]
    with pytest.raises(ValueError, match="columns 'event' and 'time', got no columns"):
        split_target(np.zeros(3))


@pytest.mark.parametrize("censoring", [-1, "uno", ([1, 0],)])
def test_censoring_that_is_no_pair_is_an_error(censoring):
    with pytest.raises(ValueError, match=r"censoring must be a pair \(event, time\)"):
        concordance_index(
            [1, 0, 1],
            [1.0, 2.0, 3.0],
            [3.0, 1.0, 2.0],
            method="uno",
            censoring=censoring,
        )
