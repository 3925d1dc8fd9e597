"""Numbers of pROC 1.18 and riskRegression, which `r/inference.R` prints."""

from pathlib import Path

import numpy as np
import pytest

from aucmax import decisions, inference, metrics
from aucmax.decisions import operating_point
from aucmax.inference import auc_interval, compare_auc, compare_metric
from aucmax.metrics import partial_auc_score, roc_auc_score


def read(path=Path(__file__).parent / "r" / "inference.csv"):
    lines = [line.split(",") for line in path.read_text().splitlines()]
    return {
        name: np.array(values, dtype=float)
        for name, *values in lines
        if not name.startswith("#")
    }


R = read()
Y, A, B, C = (R[name] for name in "yabc")


def close(found, name, places=slice(None)):
    assert found == pytest.approx(R[name][places], rel=1e-9, abs=1e-9)


def test_areas_and_delongs_intervals_are_those_of_proc():
    close([roc_auc_score(Y, A), roc_auc_score(Y, B)], "auc")
    for name, confidence_level in (("ci.auc", 0.95), ("ci.auc 90", 0.9)):
        interval = auc_interval(
            Y, A, method="delong", confidence_level=confidence_level
        )
        close([interval.low, interval.value, interval.high], name)
    close([auc_interval(Y, A).standard_error ** 2], "var")
    covariance = compare_metric(Y, {"a": A, "b": B}).covariance
    close([covariance[0, 1]], "cov")


def test_delongs_tests_are_those_of_proc():
    difference = compare_auc(Y, A, B, method="delong")
    close(
        [difference.z, difference.p_value, difference.low, difference.high],
        "roc.test paired",
    )
    difference = compare_auc([Y, R["u"]], A, R["v"], method="delong")
    close([difference.z, difference.p_value], "roc.test unpaired", slice(2))


def test_partial_areas_are_those_of_proc():
    area = [
        partial_auc_score(Y, A, fpr_range=ends, standardize="area")
        for ends in ((0, 0.2), (0.1, 0.4))
    ]
    close(area, "partial spec")
    early, sensitive = {"fpr_range": (0, 0.2)}, {"tpr_range": (0.8, 1)}
    close(
        [partial_auc_score(Y, A, **early, standardize="mcclish")],
        "partial spec correct",
    )
    close([partial_auc_score(Y, A, **sensitive, standardize="area")], "partial sens")
    corrected = auc_interval(Y, A, **sensitive, standardize="mcclish")
    close([corrected.value], "partial sens correct")


def test_contrasts_of_several_models_are_those_of_score():
    comparison = compare_metric(Y, {"A": A, "B": B, "C": C}, method="delong")
    errors = np.sqrt(comparison.covariance.diagonal())
    close([*comparison.values, *errors], "Score")
    differences = [
        [-one.difference, one.standard_error, one.unadjusted_p_value]
        for one in comparison.differences
    ]
    close(np.transpose(differences).ravel(), "Score contrasts")
    pairs = [compare_auc(Y, a, b, method="delong") for a, b in ((B, A), (C, A), (C, B))]
    close([*(one.low for one in pairs), *(one.high for one in pairs)], "Score limits")


def test_counts_and_rates_at_thresholds_are_those_of_proc():
    # pROC calls scores from the threshold on positive, we those above it
    for k, threshold in enumerate(np.nextafter([0.5, 1.0, 1.5], -np.inf)):
        at = operating_point(Y, A, threshold=threshold)
        rates = [at.recall, 1.0 - at.fpr, at.precision]
        close(rates, "coords", slice(8 * k, 8 * k + 3))
        close([at.tp, at.fp], "coords", slice(8 * k + 6, 8 * k + 8))
    best = operating_point(Y, A)
    threshold, *rates = R["coords best"]
    assert [1 - best.fpr, best.recall] == pytest.approx(rates)
    assert not ((best.threshold < A) ^ (threshold < A)).any()


PAGE = Path(__file__).parents[2] / "docs" / "user_guide" / "coming_from_proc.md"
_TABLE = PAGE.read_text().partition("| pROC | aucmax |")[2].partition("\n\n")[0]
ROWS = [line.split("|")[1:3] for line in _TABLE.splitlines()[2:]]
#: the number that a call of the table returns, and that of R
KNOWN = {
    "auc(roc(y, s))": (float, R["auc"][0]),
    "ci.auc(r)": (lambda found: found.high, R["ci.auc"][2]),
    "var(r)": (float, R["var"][0]),
    "cov(r1, r2)": (float, R["cov"][0]),
    "roc.test(r1, r2, paired = TRUE)": (lambda f: f.p_value, R["roc.test paired"][1]),
    "roc.test(r1, r2, paired = FALSE)": (
        lambda found: found.p_value,
        R["roc.test unpaired"][1],
    ),
    "auc(r, partial.auc = c(1, 0.8))": (float, R["partial spec"][0]),
    "coords(r, t)": (lambda found: found.tp, R["coords"][6]),
    'coords(r, "best")': (lambda found: found.recall, R["coords best"][2]),
}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0].strip(" `"))
def test_every_row_of_the_table_of_calls_runs(row):
    theirs, ours = (one.strip(" `") for one in row)
    options = {"y": Y, "s": A, "a": A, "b": B, "y2": R["u"], "s2": R["v"]}
    options |= {"t": np.nextafter(0.5, 0.0), "metrics": metrics, "decisions": decisions}
    options["inference"] = inference
    result = eval(ours, options)
    if theirs in KNOWN:
        read_number, expected = KNOWN[theirs]
        assert read_number(result) == pytest.approx(expected, rel=1e-9)


def test_the_table_has_all_known_calls():
    assert set(KNOWN) <= {theirs.strip(" `") for theirs, _ in ROWS}
