"""Numbers of R, which `r/concordance.R` prints, and of scikit-survival 0.28."""

from pathlib import Path

import numpy as np
import pytest

from aucmax._core.censored_times import SurvivalRows
from aucmax.inference import (
    compare_concordance,
    concordance_interval,
    cumulative_dynamic_auc,
)
from aucmax.metrics import concordance_index
from aucmax.metrics.concordance import concordance_shares
from inference.test_against_r import read

R = read(Path(__file__).parent / "r" / "concordance.csv")
EVENT, A, B = R["e"], R["a"], R["b"]

OPTIONS = {
    "harrell": {},
    "harrell coarse": {},
    "harrell strata": {"qid": R["strata"]},
    "harrell weights": {"sample_weight": R["w"]},
    "harrell ymax": {"horizon": 0.7},
    "uno": {"method": "uno"},
    "uno coarse": {"method": "uno"},
    "uno ymax": {"method": "uno", "horizon": 0.7},
}
COARSE = {"harrell coarse", "harrell strata", "harrell weights", "uno coarse"}


@pytest.mark.parametrize("name", OPTIONS)
def test_concordance_is_that_of_survival(name):
    options = dict(OPTIONS[name])
    time = R["coarse" if name in COARSE else "time"]
    value, variance = R[name]
    assert concordance_index(EVENT, time, A, **options) == pytest.approx(value)
    rows = options.pop("sample_weight", None), options.pop("qid", None)
    sample = SurvivalRows(EVENT, time, *rows)
    result = concordance_shares(sample, A, **options)
    effects = sample.weight * result.effects
    if name.startswith("harrell"):
        assert effects @ effects == pytest.approx(variance, rel=1e-9)
    else:  # R takes the estimated weights as known
        event = np.asarray(EVENT, dtype=bool)
        computed = concordance_shares(sample, A, **options, censoring=(event, time))
        assert computed.effects @ computed.effects == pytest.approx(variance, rel=1e-9)


def test_clusters_and_differences_are_those_of_survival():
    interval = concordance_interval(EVENT, R["coarse"], A, groups=R["cluster"])
    value, variance = R["harrell cluster"]
    assert interval.value == pytest.approx(value)
    assert interval.standard_error**2 == pytest.approx(
        variance, rel=0.05
    )  # n / (n - 1)
    both = compare_concordance(EVENT, R["coarse"], {"a": A, "b": B})
    assert both.values == pytest.approx(R["two models"][:2])
    covariance = both.covariance.ravel()
    assert covariance == pytest.approx(R["two models"][2:], rel=0.02)


@pytest.mark.parametrize(
    ("name", "time", "times"),
    [("auc", "time", [0.2, 0.5, 1.0]), ("auc coarse", "coarse", [1, 2, 4])],
)
def test_areas_at_times_are_those_of_risk_regression(name, time, times):
    curve = cumulative_dynamic_auc(EVENT, R[time], A, times)
    assert [one.value for one in curve.areas] == pytest.approx(R[name][:3])
    errors = [one.standard_error for one in curve.areas]
    assert errors == pytest.approx(R[name][3:], rel=0.02)  # n / (n - 1), by class


def test_values_are_those_of_scikit_survival():
    rows = EVENT, R["time"], A
    assert concordance_index(*rows) == pytest.approx(0.7364857302742026)
    assert concordance_index(*rows, method="uno") == pytest.approx(0.7261306376001041)
    early = concordance_index(*rows, method="uno", horizon=0.7)
    assert early == pytest.approx(0.755094029099011)
    curve = cumulative_dynamic_auc(*rows, [0.2, 0.5, 1.0])
    areas = [0.75905561303145, 0.83297912549759, 0.84032890477334]
    assert [one.value for one in curve.areas] == pytest.approx(areas)
    assert curve.mean.value == pytest.approx(0.8138155361610823)
    # events at one time with censored rows: it has G(t), and aucmax and R G(t-)
    tied = EVENT, R["coarse"], A
    assert concordance_index(*tied) == pytest.approx(0.7660150006147793)
    uno = concordance_index(*tied, method="uno")
    assert uno != pytest.approx(0.7465716271163939, abs=0.004)
    assert uno == pytest.approx(0.7518634393331081)
