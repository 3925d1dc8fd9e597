"""Planned studies: published formulas, variances of drawn scores, and bad input."""

import csv
import re
from math import isnan, sqrt
from pathlib import Path

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from aucmax.inference import auc_interval, compare_auc, plan_auc
from aucmax.inference.sample_size import _Binormal
from aucmax.metrics import partial_auc_score

WHOLE = (0.0, 1.0, 0.0, 1.0)
HEAD = (0.0, 0.2, 0.0, 1.0)


def by_proc():
    with (Path(__file__).parent / "r" / "planning.csv").open() as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize(
    "row", by_proc(), ids=lambda row: f"{row['kind']}-{row['auc']}"
)
def test_published_powers_are_those_of_proc(row):
    kind = row.pop("kind")
    row = {name: float(value) for name, value in row.items()}
    other = {"null": row["other"]}
    if kind == "two":
        pair = (row["correlation_p"], row["correlation_n"])
        other = {"auc_2": row["other"], "correlation": pair}
    plan = plan_auc(
        row["auc"],
        **other,
        n_positive=int(row["n_positive"]),
        prevalence=1 / (1 + row["ratio"]),
        level=row["level"],
        fpr_range=(row["low"], row["high"]),
        method="obuchowski",
    )
    assert plan.power == pytest.approx(row["power"], abs=3e-4)


@pytest.mark.parametrize("box", [WHOLE, HEAD, (0.0, 1.0, 0.7, 1.0)])
def test_variances_of_shares_are_those_of_drawn_scores(box):
    rng = np.random.default_rng(3)
    scores = _Binormal(box)
    y = np.repeat([True, False], 40_000)
    z = rng.normal(size=y.size)
    area = 0.7
    s = np.where(y, scores.shift(area) + z, z)
    ranges = {"fpr_range": box[:2], "tpr_range": box[2:]}
    assert partial_auc_score(y, s, **ranges) == pytest.approx(area, abs=0.01)
    expected = float((scores.variances(area) / 40_000).sum())
    assert auc_interval(y, s, **ranges).standard_error == pytest.approx(
        sqrt(expected), rel=0.03
    )


@pytest.mark.parametrize("box", [WHOLE, HEAD])
def test_correlations_of_shares_are_those_of_drawn_scores(box):
    rng = np.random.default_rng(4)
    scores = _Binormal(box)
    areas, of_scores = (0.8, 0.65), (0.8, 0.3)
    y = np.repeat([True, False], 40_000)
    first, members = rng.normal(size=(2, y.size))
    r = np.where(y, *of_scores)
    second = r * first + np.sqrt(1 - r * r) * members
    drawn = [
        z + y * scores.shift(a) for z, a in zip((first, second), areas, strict=True)
    ]
    difference = compare_auc(y, *drawn, fpr_range=box[:2])
    one, two = (scores.variances(area) for area in areas)
    r = scores.correlations(areas, of_scores)
    expected = float((one + two - 2 * r * np.sqrt(one * two)).sum() / 40_000)
    assert difference.standard_error == pytest.approx(sqrt(expected), rel=0.03)


@pytest.mark.parametrize(
    "cell",
    [
        {"auc": 0.75, "null": 0.5},
        {"auc": 0.85, "null": 0.75, "prevalence": 0.2},
        {"auc": 0.8, "auc_2": 0.7, "correlation": 0.6},
    ],
)
def test_studies_of_the_planned_size_detect_as_often_as_planned(cell):
    plan = plan_auc(**cell, power=0.8)
    rng = np.random.default_rng(0)
    y = np.repeat([1, 0], [plan.n_positive, plan.n_negative])
    values = []
    for _ in range(300):
        one, two = rng.normal(size=(2, y.size))
        one = one + y * sqrt(2) * ndtri(cell["auc"])
        if "auc_2" in cell:
            r = cell["correlation"]
            two = r * (one - y * sqrt(2) * ndtri(cell["auc"])) + sqrt(1 - r * r) * two
            two = two + y * sqrt(2) * ndtri(cell["auc_2"])
            values.append(compare_auc(y, one, two).p_value < 0.05)
        else:
            values.append(auc_interval(y, one).low > cell["null"])
    assert np.mean(values) == pytest.approx(plan.power, abs=0.07)  # three errors


@pytest.mark.parametrize(
    ("area", "width", "options"),
    [
        (0.8, 0.1, {"prevalence": 0.2}),
        (0.6, 0.3, {"fpr_range": (0, 0.5), "level": 0.1}),
        (0.95, 0.15, {}),  # few errors
    ],
)
def test_a_planned_interval_is_as_wide_as_said_on_average(area, width, options):
    plan = plan_auc(area, width=width, **options)
    assert (plan.solved_for, plan.width) == ("n_positive", width)
    box = {name: options[name] for name in options.keys() & {"fpr_range"}}
    shift = sqrt(2) * ndtri(area)
    if box:  # the shift whose partial area this is
        shifts = np.linspace(0.0, 3.0, 301)
        rates = (np.arange(1000) + 0.5) / 2000
        areas = [ndtr(s + ndtri(rates)).mean() for s in shifts]
        shift = np.interp(area, areas, shifts)
    y = np.repeat([0, 1], [plan.n_negative, plan.n_positive])
    rng, level = np.random.default_rng(0), 1.0 - plan.level
    widths = []
    for _ in range(200):
        scores = rng.normal(size=y.size) + shift * y
        one = auc_interval(y, scores, confidence_level=level, **box)
        widths.append(one.high - one.low)
    assert np.mean(widths) == pytest.approx(width, rel=0.05)


def test_each_quantity_is_solved_from_the_others():
    whole = plan_auc(0.75, null=0.65, power=0.8, prevalence=1 / 3)
    given = {"null": 0.65, "prevalence": 1 / 3, "n_positive": whole.n_positive}
    assert plan_auc(0.75, **given).power == pytest.approx(whole.power)
    level = plan_auc(0.75, **given, power=whole.power, level=None)
    assert level.level == pytest.approx(0.05, abs=1e-6)
    area = plan_auc(**given, power=whole.power)
    assert area.auc == pytest.approx(0.75, abs=1e-6)
    solved = [one.solved_for for one in (whole, level, area)]
    assert solved == ["n_positive", "level", "auc"]
    few = plan_auc(n_positive=30, power=0.8)
    assert plan_auc(few.auc, n_positive=30).power == pytest.approx(0.8, abs=1e-3)


def test_it_prints_a_sentence_and_is_a_table():
    plan = plan_auc(0.6, auc_2=0.5, power=0.8, fpr_range=(0, 0.2), design_effect=1.5)
    assert re.fullmatch(
        r"[\d,]+ positive and [\d,]+ negative rows have a power of 80\.\d% to detect a "
        r"partial AUC of 0\.6 against 0\.5 on the same rows, at a two-sided level of "
        r"0\.05 \(DeLong's variance; FPR 0 to 0\.2; design effect 1\.5\)\.",
        repr(plan),
    )
    assert plan.to_frame().row(0, named=True)["n_positive"] == plan.n_positive
    assert isnan(plan.null)
    assert repr(plan_auc(0.8, auc_2=0.7, power=0.8, paired=False)).startswith("Each of")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"auc": 0.7}, "n_positive and power are missing"),
        ({"auc": 0.7, "power": 0.8, "n_positive": 9}, "all are given; set level=None"),
        ({"auc": 0.5, "power": 0.8}, "equal to the area that it is tested against"),
        ({"auc": 0.7, "power": 1.0}, "power must be a finite number"),
        ({"auc": 1.2, "power": 0.8}, "auc must be a finite number"),
        ({"auc": 0.7, "n_positive": 2.5}, "n_positive must be an integer"),
        (
            {"auc": 0.7, "power": 0.8, "null": 0.5, "auc_2": 0.6},
            "null is for one model",
        ),
        ({"auc": 0.7, "power": 0.8, "fpr_range": (0, 0.1)}, "give null"),
        ({"auc": 0.7, "power": 0.8, "prevalence": 0}, "prevalence must"),
        (
            {"auc": 0.7, "power": 0.8, "auc_2": 0.6, "correlation": 2},
            "correlation must",
        ),
        ({"auc": 0.7, "width": 0.1, "power": 0.8}, "not a test; got power"),
        ({"width": 0.1}, "width needs auc"),
        ({"auc": 0.7, "width": 2.0}, "width must be a finite number"),
        ({"auc": 0.7, "power": 0.8, "method": "x"}, "method must be one of"),
        ({"power": 0.9999, "n_positive": 3}, "no auc up to"),
    ],
)
def test_bad_input_is_explained(options, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        plan_auc(**options)
