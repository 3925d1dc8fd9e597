import numpy as np
import pytest

from aucmax.exceptions import NotEnoughClassesError
from aucmax.inference import (
    auc_interval,
    compare_auc,
    compare_concordance,
    concordance_interval,
    cumulative_dynamic_auc,
)
from aucmax.metrics import concordance_index, survival_target
from metrics.test_concordance import draw
from reference_concordance import (
    comparable_pairs,
    concordance,
    dynamic_auc,
    mean_dynamic_auc,
    not_yet_censored,
    without_event,
)

pytestmark = pytest.mark.kernel


def drawn(seed=0, size=120):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=size).round(1)
    death, left = rng.exponential(np.exp(-scores)), rng.exponential(size=size)
    return death <= left, np.minimum(death, left), scores


EVENT, TIME, SCORES = drawn()
OTHER = np.random.default_rng(1).normal(SCORES).round(1)


def literal_error(value, weight, shares):
    """Standard error from numerical derivatives by the weights of rows.

    The shares are those of the pairs that have the row.
    """
    variance = 0.0
    for row in range(weight.size):
        step = 1e-6 * np.eye(weight.size)[row]
        slope = (value(weight + step) - value(weight - step)) / 2e-6
        variance += (weight[row] * slope) ** 2 / (1.0 - shares[row])
    return np.sqrt(variance)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(30))
def test_errors_are_the_definition(seed):
    event, time, scores, weight, strata = draw(seed)
    time[2:4], event[2:4], strata[2:4] = (2.0, 13.0), (True, False), 0
    method, power = (("harrell", 0), ("uno", 2))[seed % 2]
    options = {"method": method, "sample_weight": weight, "qid": strata}
    interval = concordance_interval(event, time, scores, **options)

    def value(weight):
        return concordance(event, time, scores, weight, strata, power)

    shares = np.zeros(time.size)
    for i, j in comparable_pairs(event, time, strata):
        left = not_yet_censored(event, time, weight, time[i])
        shares[[i, j]] += weight[i] * weight[j] / left**power
    error = literal_error(value, weight, 2.0 * shares / shares.sum())
    assert interval.value == pytest.approx(value(weight), rel=1e-12)
    assert interval.standard_error == pytest.approx(error, rel=1e-5)


@pytest.mark.parametrize("seed", range(30))
def test_dynamic_areas_and_their_mean_are_the_definition(seed):
    event, time, scores, weight, _ = draw(seed)
    time[2:5], event[2:5] = (2.0, 13.0, 14.0), (True, True, False)
    times = [3.0, 7.0, 9.5]
    curve = cumulative_dynamic_auc(event, time, scores, times, sample_weight=weight)
    left = np.array([not_yet_censored(event, time, weight, t) for t in time])
    pair_weights = []
    for now, area in zip(times, curve.areas, strict=True):

        def value(weight, now=now):
            return dynamic_auc(event, time, scores, weight, now)

        cases = np.where(event & (time <= now), weight / left, 0.0)
        controls = np.where(time > now, weight, 0.0)
        pair_weights.append(cases / cases.sum() + controls / controls.sum())
        error = literal_error(value, weight, pair_weights[-1])
        assert area.value == pytest.approx(value(weight), rel=1e-12)
        assert area.standard_error == pytest.approx(error, rel=1e-5, abs=1e-9)

    def mean(weight):
        return mean_dynamic_auc(event, time, scores, weight, times)

    events = 1.0 - np.array([without_event(event, time, weight, t) for t in times])
    between = np.diff(events, prepend=0.0) / events[-1]
    error = literal_error(mean, weight, between @ pair_weights)
    assert curve.mean.value == pytest.approx(mean(weight), rel=1e-12)
    assert curve.mean.standard_error == pytest.approx(error, rel=1e-5, abs=1e-9)


@pytest.mark.parametrize("groups", [None, np.arange(120) // 3])
@pytest.mark.parametrize("method", ["harrell", "uno"])
def test_two_times_have_the_interval_and_the_test_of_the_auc(groups, method):
    # corrections for few groups differ a little
    same = {"rel": 1e-9 if groups is None else 0.02}
    times = np.where(EVENT, 1.0, 2.0)
    rows = {"groups": groups}
    interval = concordance_interval(
        EVENT, times, SCORES, method=method, null=0.6, **rows
    )
    area = auc_interval(EVENT, SCORES, null=0.6, **rows)
    dynamic = cumulative_dynamic_auc(EVENT, times, SCORES, 1.5, **rows)
    for one in (interval, dynamic.areas[0], dynamic.mean):
        assert one.value == pytest.approx(area.value)
        assert one.standard_error == pytest.approx(area.standard_error, **same)
        assert one.rows == pytest.approx(area.rows, rel=0.05)
        # degrees of freedom differ
        assert (one.low, one.high) == pytest.approx((area.low, area.high), abs=4e-3)
    assert dynamic.areas[0].low == pytest.approx(area.low, **same)
    assert interval.p_value == pytest.approx(area.p_value, abs=0.02)
    models = {"one": SCORES, "two": OTHER}
    options = {"method": method, "margin": 0.1, **rows}
    (difference,) = compare_concordance(EVENT, times, models, **options).differences
    result = compare_auc(EVENT, SCORES, OTHER, margin=0.1, **rows)
    assert difference.difference == pytest.approx(result.difference)
    assert difference.p_value == pytest.approx(result.p_value, abs=0.02)
    assert difference.standard_error == pytest.approx(result.standard_error, **same)


def test_perfect_scores_have_an_exact_bound():
    interval = concordance_interval(EVENT, TIME, -TIME)
    assert interval.value == interval.high == 1.0
    assert 0.9 < interval.low < 1.0
    (again,) = compare_concordance(EVENT, TIME, [-TIME, -2.0 * TIME]).differences
    assert again.difference == 0.0
    assert again.low < 0.0 < again.high


def test_several_models_have_simultaneous_intervals():
    models = {"one": SCORES, "two": OTHER, "three": -OTHER}
    comparison = compare_concordance(EVENT, TIME, models, reference="one", method="uno")
    values = [concordance_index(EVENT, TIME, s, method="uno") for s in models.values()]
    assert comparison.values == pytest.approx(values)
    both = compare_concordance(EVENT, TIME, [OTHER, SCORES], method="uno")
    (pair,) = both.differences
    assert comparison.differences[0].names == ("two", "one")
    assert comparison.differences[0].standard_error == pytest.approx(
        pair.standard_error
    )
    assert comparison.differences[0].low < pair.low
    assert repr(pair).startswith("Uno's C model 0 0.")
    errors = np.sqrt(comparison.covariance.diagonal())
    alone = concordance_interval(EVENT, TIME, SCORES, method="uno").standard_error
    assert errors[0] == pytest.approx(alone)


def test_repeated_rows_in_groups_have_the_error_of_the_rows():
    groups = np.tile(np.arange(120), 3)
    rows = [np.tile(one, 3) for one in (EVENT, TIME)]
    once = concordance_interval(EVENT, TIME, SCORES)
    # pairs of copies of an event are not comparable, so the index stays
    again = concordance_interval(*rows, np.tile(SCORES, 3), groups=groups)
    assert again.value == pytest.approx(once.value)
    assert again.standard_error == pytest.approx(once.standard_error, rel=0.02)


def test_censoring_of_other_rows_counts_as_known():
    rows = EVENT, TIME, SCORES
    members = concordance_interval(*rows, method="uno", horizon=0.8)
    result = concordance_interval(
        *rows, method="uno", horizon=0.8, censoring=(EVENT, TIME)
    )
    assert members.value == pytest.approx(result.value)
    assert members.standard_error != result.standard_error


def test_scores_may_change_with_time():
    columns = np.column_stack([SCORES, OTHER])
    curve = cumulative_dynamic_auc(EVENT, TIME, columns, [0.2, 0.6])
    first = cumulative_dynamic_auc(EVENT, TIME, SCORES, [0.2])
    second = cumulative_dynamic_auc(EVENT, TIME, OTHER, [0.6])
    assert curve.areas == (first.areas[0], second.areas[0])
    frame = curve.to_frame()
    assert frame["horizon"].to_list() == [0.2, 0.6]
    assert frame["value"].to_list() == [area.value for area in curve.areas]
    assert repr(curve).count("\n") == 2


@pytest.mark.parametrize(
    ("times", "message"),
    [
        ([0.2, 99.0], r"before the last time under observation, .* got 99"),
        ([-1.0], r"from the first event, .* got -1"),
        ([0.5, 0.2], r"horizons must rise, got \[0.5, 0.2\]"),
        ([0.5, np.nan], "horizons must be finite, but row 1 is nan"),
        ([0.2, 0.5, 0.6], r"y_score has 2 columns for 3 horizons"),
    ],
)
def test_bad_times_are_explained(times, message):
    columns = np.column_stack([SCORES, OTHER])
    with pytest.raises(ValueError, match=message):
        cumulative_dynamic_auc(EVENT, TIME, columns, times)


def test_too_few_rows_are_explained():
    time = np.arange(1.0, 5.0)
    with pytest.raises(ValueError, match="at least two rows before other rows, but"):
        concordance_interval([1, 0, 0, 0], time, time)
    with pytest.raises(ValueError, match="two rows after an event, but there is one"):
        concordance_interval([1, 1, 1, 0], [1.0, 1.0, 1.0, 2.0], time)
    with pytest.raises(ValueError, match=r"two rows before other rows at time 1\.5"):
        cumulative_dynamic_auc([1, 1, 0, 0], time, time, [1.5])
    with pytest.raises(ValueError, match="before other rows, of different groups"):
        concordance_interval([1, 1, 0, 0], time, time, groups=[1, 1, 2, 3])
    with pytest.raises(NotEnoughClassesError, match="There are no events"):
        cumulative_dynamic_auc([0, 0], [1.0, 2.0], [0.0, 1.0], 1.0)
    with pytest.raises(NotEnoughClassesError, match="No two rows are comparable"):
        concordance_interval([0, 0], [1.0, 2.0], [0.0, 1.0])


def test_events_and_times_may_be_one_target():
    target = survival_target(EVENT, TIME)
    expected = concordance_interval(EVENT, TIME, SCORES)
    assert concordance_interval(target, SCORES) == expected
    assert concordance_interval(target, y_score=SCORES) == expected
    both = compare_concordance(target, [SCORES, OTHER])
    assert both.values == compare_concordance(EVENT, TIME, [SCORES, OTHER]).values
    assert concordance_index(target, SCORES) == expected.value
    horizons = np.quantile(TIME, [0.4, 0.6])
    areas = cumulative_dynamic_auc(EVENT, TIME, SCORES, horizons).areas
    assert cumulative_dynamic_auc(target, SCORES, horizons).areas == areas
    with pytest.raises(TypeError, match="horizons is missing"):
        cumulative_dynamic_auc(target, SCORES)
    with pytest.raises(TypeError, match="so only y_score follows it; got two more"):
        concordance_interval(target, TIME, SCORES)
    with pytest.raises(TypeError, match=r"give \(event, time, y_score\), or"):
        concordance_interval(EVENT, SCORES)
