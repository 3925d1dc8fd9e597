import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal

from aucmax import inference, metrics
from aucmax.exceptions import NotEnoughClassesError
from aucmax.plots import ROCCurveDisplay

RNG = np.random.default_rng(0)
LABELS = RNG.random(400) < 0.2
GOOD = RNG.normal(size=400) + 2.0 * LABELS
POOR = RNG.normal(size=400) + 0.5 * LABELS


def test_the_line_is_the_roc_curve(ax):
    display = ROCCurveDisplay.from_predictions(LABELS, GOOD, ax=ax)
    fpr, tpr, _ = metrics.roc_curve(LABELS, GOOD)
    assert_array_equal(display.line_.get_xdata(), fpr)
    assert_array_equal(display.line_.get_ydata(), tpr)
    assert display.ax_ is ax
    assert display.figure_ is ax.figure


def test_the_numbers_are_those_of_the_metrics(ax):
    (curve,) = ROCCurveDisplay.from_predictions(
        LABELS, GOOD, fpr_range=(0.1, 0.3), ax=ax
    ).curves
    assert curve.auc == metrics.roc_auc_score(LABELS, GOOD)
    assert curve.interval == inference.auc_interval(LABELS, GOOD, confidence_level=0.95)
    partial = metrics.partial_auc_score(LABELS, GOOD, fpr_range=(0.1, 0.3))
    assert curve.partial_auc == partial


def test_a_mapping_gives_one_named_curve_each_in_its_order(ax):
    display = ROCCurveDisplay.from_predictions(
        LABELS, {"poor": POOR, "good": GOOD}, ax=ax
    )
    assert [curve.name for curve in display.curves] == ["poor", "good"]
    assert len(display.line_) == len(display.band_) == 2
    entries = [text.get_text() for text in ax.get_legend().get_texts()]
    assert [text.splitlines()[0] for text in entries] == ["poor", "good"]
    assert f"AUC {metrics.roc_auc_score(LABELS, POOR):.3f} [" in entries[0]


def test_curves_have_different_colours_also_on_shared_axes(ax):
    first = ROCCurveDisplay.from_predictions(LABELS, GOOD, ax=ax)
    second = ROCCurveDisplay.from_predictions(LABELS, POOR, ax=ax)
    assert first.line_.get_color() != second.line_.get_color()
    assert first.chance_level_ is not None
    assert second.chance_level_ is None
    assert len(ax.get_lines()) == 3


def test_without_confidence_there_is_neither_interval_nor_band(ax):
    display = ROCCurveDisplay.from_predictions(
        LABELS, GOOD, confidence_level=None, ax=ax
    )
    assert display.band_ == []
    assert "[" not in display.line_.get_label()


def test_the_partial_range_is_shaded_and_named(ax):
    display = ROCCurveDisplay.from_predictions(
        LABELS, GOOD, fpr_range=(0.05, 0.2), ax=ax
    )
    box = display.shade_.get_bbox()
    assert_allclose((box.x0, box.x1), (0.05, 0.2))
    last = ax.get_legend().get_texts()[-1].get_text()
    assert last.endswith("FPR 0.05 to 0.2")
    assert "pAUC" in display.line_.get_label()
    assert (
        ROCCurveDisplay.from_predictions(LABELS, GOOD, ax=Figure().subplots()).shade_
        is None
    )


def test_long_curves_are_thinned_but_their_area_is_not(ax):
    labels = RNG.random(50_000) < 0.5
    scores = RNG.normal(size=50_000) + labels
    display = ROCCurveDisplay.from_predictions(
        labels, scores, confidence_level=None, ax=ax
    )
    fpr, tpr = display.line_.get_data()
    assert fpr.size <= 1000
    assert (fpr[0], tpr[0], fpr[-1], tpr[-1]) == (0, 0, 1, 1)
    assert display.curves[0].auc == metrics.roc_auc_score(labels, scores)
    assert np.trapezoid(tpr, fpr) == pytest.approx(display.curves[0].auc, abs=1e-3)


def test_weights_move_the_curve_and_its_band(ax):
    weights = np.random.default_rng(1).random(400)
    display = ROCCurveDisplay.from_predictions(
        LABELS, GOOD, sample_weight=weights, ax=ax
    )
    (curve,) = display.curves
    assert curve.auc == metrics.roc_auc_score(LABELS, GOOD, sample_weight=weights)
    assert curve.auc != metrics.roc_auc_score(LABELS, GOOD)
    assert curve.interval.value == pytest.approx(curve.auc, abs=1e-12)
    assert len(display.band_) == 1
    plain = ROCCurveDisplay.from_predictions(LABELS, GOOD, ax=ax).curves[0].band
    assert not np.array_equal(curve.band.tpr, plain.tpr)
    assert (curve.band.low <= curve.band.tpr).all()
    assert (curve.band.tpr <= curve.band.high).all()


class Scorer:
    classes_ = ("no", "yes")

    def decision_function(self, X):
        return X[:, 0]


class Classifier:
    classes_ = ("no", "yes")

    def __init__(self, n_classes):
        self.n_classes = n_classes

    def predict_proba(self, X):
        return np.c_[1.0 - X[:, :1], np.tile(X[:, :1], self.n_classes - 1)]


class Pipeline(Scorer):
    steps = (("scale", None), ("model", Scorer()))


@pytest.mark.parametrize("estimator", [Scorer(), Classifier(2), Pipeline()])
def test_an_estimator_is_drawn_by_its_scores_and_class_name(estimator, ax):
    display = ROCCurveDisplay.from_estimator(estimator, GOOD[:, None], LABELS, ax=ax)
    assert display.curves[0].auc == metrics.roc_auc_score(LABELS, GOOD)
    expected = "Classifier" if isinstance(estimator, Classifier) else "Scorer"
    assert display.curves[0].name == expected


@pytest.mark.parametrize("estimator", [Scorer(), Classifier(2)])
def test_an_estimator_is_asked_for_scores_of_the_positive_class(estimator, ax):
    names = np.where(LABELS, "yes", "no")
    for pos_label in ("yes", "no"):
        display = ROCCurveDisplay.from_estimator(
            estimator, LABELS[:, None].astype(float), names, pos_label=pos_label, ax=ax
        )
        assert display.curves[0].auc == 1.0
    options = {"pos_label": "no", "fpr_range": (0, 0.1)}
    display = ROCCurveDisplay.from_predictions(names, GOOD, ax=ax, **options)
    expected = metrics.partial_auc_score(names, GOOD, **options)
    assert display.curves[0].partial_auc == expected


def test_name_and_style_can_be_chosen(ax):
    display = ROCCurveDisplay.from_estimator(
        Scorer(), GOOD[:, None], LABELS, name="mine", ax=ax, curve_kwargs={"color": "k"}
    )
    assert display.line_.get_label().startswith("mine\n")
    assert display.line_.get_color() == "k"


def test_given_axes_leave_no_figure_behind(ax):
    ROCCurveDisplay.from_predictions(LABELS, GOOD, ax=ax)
    assert plt.get_fignums() == []
    ROCCurveDisplay.from_predictions(LABELS, GOOD)
    assert len(plt.get_fignums()) == 1


def test_an_error_names_the_curve(ax):
    broken = GOOD.copy()
    broken[3] = np.nan
    with pytest.raises(ValueError, match="row 3 is nan") as caught:
        ROCCurveDisplay.from_predictions(
            LABELS, {"fine": GOOD, "broken": broken}, ax=ax
        )
    assert "'broken'" in caught.value.__notes__[0]


def test_bad_input_is_refused(ax):
    with pytest.raises(NotEnoughClassesError, match="one class only"):
        ROCCurveDisplay.from_predictions(np.zeros(400), GOOD, ax=ax)
    with pytest.raises(ValueError, match="empty mapping"):
        ROCCurveDisplay.from_predictions(LABELS, {}, ax=ax)
    with pytest.raises(ValueError, match="fpr_range must satisfy"):
        ROCCurveDisplay.from_predictions(LABELS, GOOD, fpr_range=(0.5, 0.2), ax=ax)
    with pytest.raises(ValueError, match=r"shape \(400, 3\)"):
        ROCCurveDisplay.from_estimator(Classifier(3), GOOD[:, None], LABELS, ax=ax)
    with pytest.raises(TypeError, match="neither decision_function nor"):
        ROCCurveDisplay.from_estimator(object(), GOOD[:, None], LABELS, ax=ax)
