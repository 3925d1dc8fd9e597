"""The losses are the risks of the library."""

import copy

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from aucmax.risks import (
    PairHinge,
    PairLogistic,
    PairSigmoid,
    PartialHinge,
    SmoothAveragePrecision,
)
from aucmax.torch import (
    LambdaLoss,
    PairHingeLoss,
    PairLogisticLoss,
    PairSigmoidLoss,
    PartialAUCLoss,
    SmoothAveragePrecisionLoss,
)

torch.set_num_threads(1)
PART = {"fpr_range": (0.0, 0.5), "tpr_range": (0.25, 1.0)}
LOSSES = {
    "logistic": PairLogisticLoss(),
    "hinge": PairHingeLoss(),
    "wide hinge": PairHingeLoss(margin=2.5),
    "sigmoid": PairSigmoidLoss(),
    "narrow sigmoid": PairSigmoidLoss(tau=0.3),
    "part, sigmoid": PartialAUCLoss(**PART),
    "part, logistic": PartialAUCLoss(**PART, loss="logistic"),
    "part, hinge": PartialAUCLoss(**PART, loss="hinge"),
    "lambda": LambdaLoss(),
    "lambda mauc": LambdaLoss("mauc"),
    "smooth precision": SmoothAveragePrecisionLoss(tau=0.5),
}
SMOOTH = ["logistic", "sigmoid", "narrow sigmoid", "part, sigmoid"]
every_loss = pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)


def data(seed=0, n_rows=40, kind=torch.float64, ties=True):
    generator = np.random.default_rng(seed)
    scores = generator.normal(size=n_rows)
    if ties:
        scores = np.round(2.0 * scores) / 2.0
    labels = np.arange(n_rows) % 3 == 0
    tensor = torch.tensor(scores, dtype=kind, requires_grad=True)
    return tensor, torch.tensor(labels)


def value_and_gradient(loss, logits, *others, **options):
    value = loss(logits, *others, **options)
    (gradient,) = torch.autograd.grad(value, logits)
    return value.item(), gradient.double().numpy()


def by_the_risk(name, scores, labels, weights=None, qid=None):
    """Value and gradient by the library's risk, in its finest form."""
    finest = {"accuracy": 1e-12}
    if name.startswith("lambda"):
        kind = "mauc" if name.endswith("mauc") else "equal"
        risk = PairLogistic(True, pair_weights=kind, **finest)
        return risk.bind(labels, weights, qid).value_gradient_hessian(scores)[:2]
    if name == "smooth precision":
        risk = SmoothAveragePrecision(0.5, **finest)
        return risk.bind(labels, weights, qid).value_and_gradient(scores)
    if name.endswith("logistic"):
        part = PART if name.startswith("part") else {}
        risk = PairLogistic(**part, **finest)
        return risk.bind(labels, weights, qid).value_gradient_hessian(scores)[:2]
    if name.endswith("sigmoid"):
        part = PART if name.startswith("part") else {}
        tau = 0.3 if name.startswith("narrow") else 1.0
        risk = PairSigmoid(**part, tau=tau, **finest)
        return risk.bind(labels, weights, qid).value_and_gradient(scores)
    risk = PairHinge(2.5 if name.startswith("wide") else 1.0)
    if name.startswith("part"):
        risk = PartialHinge(**PART)
    return risk.bind(labels, weights, qid).value_and_gradient(scores)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize(
    ("kind", "accuracy"), [(torch.float64, 1e-10), (torch.float32, 1e-6)]
)
@pytest.mark.parametrize("weighted", [False, True])
def test_a_loss_is_the_risk_of_the_library(name, kind, accuracy, weighted):
    for seed in range(3):
        logits, labels = data(seed, kind=kind)
        weights = torch.arange(40.0, dtype=kind) % 5 if weighted else None
        result = value_and_gradient(LOSSES[name], logits, labels, sample_weight=weights)
        kept = np.ones(40, dtype=bool) if weights is None else weights.numpy() > 0
        value, slope = by_the_risk(
            name,
            logits.detach().double().numpy()[kept],
            labels.numpy()[kept],
            None if weights is None else weights.double().numpy()[kept],
        )
        assert result[0] == pytest.approx(value, rel=accuracy)
        np.testing.assert_allclose(result[1][kept], slope, atol=accuracy)
        assert not result[1][~kept].any()


@pytest.mark.parametrize("name", [name for name in LOSSES if name != "wide hinge"])
def test_queries_are_averaged(name):
    logits, labels = data(n_rows=60)
    qid = torch.arange(60) // 20
    result = value_and_gradient(LOSSES[name], logits, labels, qid=qid)
    scores, y = logits.detach().numpy(), labels.numpy()
    value, slope = by_the_risk(name, scores, y, qid=qid.numpy())
    assert result[0] == pytest.approx(value, rel=1e-10)
    np.testing.assert_allclose(result[1], slope, atol=1e-10)


def test_multi_label_is_the_mean_of_the_columns_that_can_be_ranked():
    logits = torch.randn(30, 4, dtype=torch.float64, requires_grad=True)
    labels = (torch.rand(30, 4) < 0.4).double()
    labels[:2] = torch.tensor([[0.0], [1.0]])
    labels[5:20:3, 1] = torch.nan
    labels[:, 3] = 1.0  # nothing to rank
    value, slope = value_and_gradient(PairLogisticLoss(), logits, labels)
    columns, slopes = [], np.zeros((30, 4))
    for place in range(3):
        has_label = ~labels[:, place].isnan()
        one, part = value_and_gradient(
            PairLogisticLoss(), logits[has_label, place], labels[has_label, place]
        )
        columns.append(one)
        slopes[has_label, place] = part / 3
    assert value == pytest.approx(np.mean(columns), rel=1e-12)
    np.testing.assert_allclose(slope, slopes, atol=1e-14)


@pytest.mark.parametrize("name", SMOOTH)
def test_gradients_pass_the_check_of_torch(name):
    logits, labels = data(n_rows=12, ties=False)
    assert torch.autograd.gradcheck(lambda s: LOSSES[name](s, labels), logits)


def test_second_derivatives_are_an_error():
    logits, labels = data()
    (gradient,) = torch.autograd.grad(
        PairLogisticLoss()(logits, labels), logits, create_graph=True
    )
    with pytest.raises(RuntimeError, match="does not require grad"):
        gradient.square().sum().backward()


@every_loss
def test_a_batch_of_one_class_costs_nothing_has_a_graph_and_is_counted(loss):
    before = loss.n_without_pairs
    logits, _ = data()
    value = loss(logits, torch.zeros(40))
    value.backward()
    assert value.item() == 0.0
    assert not logits.grad.any()
    assert loss.n_without_pairs == before + 1


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16])
def test_half_precision_is_summed_in_full(kind):
    logits, labels = data(n_rows=3000)
    half = logits.detach().to(kind).requires_grad_()
    value = PairLogisticLoss()(half, labels)
    value.backward()
    assert value.dtype == torch.float32
    assert half.grad.dtype == kind
    full = PairLogisticLoss()(half.detach().double(), labels)
    assert value.item() == pytest.approx(full.item(), rel=1e-6)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PairHingeLoss(0.0), "margin must be positive"),
        (lambda: PairSigmoidLoss(-1.0), "tau must be positive"),
        (lambda: SmoothAveragePrecisionLoss(0.0), "tau must be positive"),
        (lambda: PartialAUCLoss((0.5, 0.2)), "fpr_range must satisfy"),
        (lambda: PartialAUCLoss(loss="square"), "loss must be one of"),
        (lambda: PartialAUCLoss((0.1, 1), (0, 0.5), loss="hinge"), "one of the two"),
        (lambda: LambdaLoss("ndcg"), "metric must be one of"),
    ],
)
def test_bad_parameters_are_rejected(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@every_loss
def test_a_loss_prints_its_parameters_and_survives_a_copy(loss):
    assert repr(PairHingeLoss(2.0)) == "PairHingeLoss(margin=2.0)"
    assert type(loss).__name__ in repr(loss)
    logits, labels = data()
    torch.testing.assert_close(
        copy.deepcopy(loss)(logits, labels), loss(logits, labels)
    )


def test_a_compiled_step_breaks_the_graph_at_the_loss_and_continues():
    torch.compiler.reset()
    loss, labels = PairLogisticLoss(), torch.arange(60) % 3 == 0
    logits = data(n_rows=60)[0].detach()
    compiled = torch.compile(lambda s: 2.0 * loss(s, labels), backend="eager")
    torch.testing.assert_close(compiled(logits), 2.0 * loss(logits, labels))


def test_functional_gradients_are_those_of_backward():
    logits, labels = data()
    loss = PairLogisticLoss()
    gradient = torch.func.grad(lambda scores: loss(scores, labels))(logits.detach())
    np.testing.assert_allclose(gradient, value_and_gradient(loss, logits, labels)[1])
