"""The losses in operations on tensors are those of the kernels, also in a graph."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from aucmax.torch import (
    LambdaLoss,
    PairHingeLoss,
    PairLogisticLoss,
    PairSigmoidLoss,
    PartialAUCLoss,
    _evaluation,
)

torch.set_num_threads(1)
PART = {"fpr_range": (0.0, 0.5), "tpr_range": (0.25, 1.0)}
LOSSES = {
    "logistic": PairLogisticLoss,
    "hinge": lambda: PairHingeLoss(2.5),
    "sigmoid": lambda: PairSigmoidLoss(0.3),
    "part, sigmoid": lambda: PartialAUCLoss(**PART),
    "middle, sigmoid": lambda: PartialAUCLoss((0.2, 0.6), (0.1, 0.8)),
    "part, logistic": lambda: PartialAUCLoss(**PART, loss="logistic"),
    "part, hinge": lambda: PartialAUCLoss(**PART, loss="hinge"),
    "lambda": LambdaLoss,
}
SMOOTH = ["logistic", "sigmoid", "part, sigmoid", "part, logistic", "lambda"]
OPTIONS = {
    "plain": {},
    "weighted": {"sample_weight": torch.arange(60) % 5},
    "queries": {"qid": torch.tensor([7, 3, 5]).repeat(20)},
    "weighted queries": {
        "sample_weight": torch.arange(60) % 5,
        "qid": torch.arange(60) // 20,
    },
}
every_loss = pytest.mark.parametrize("name", LOSSES)


@pytest.fixture
def on_tensors(monkeypatch):
    """Take the way of other devices."""
    monkeypatch.setattr(_evaluation, "by_kernels", lambda scores: False)


def data(seed=0, n_rows=60, shape=(), kind=torch.float64):
    generator = np.random.default_rng(seed)
    scores = np.round(2.0 * generator.normal(size=(n_rows, *shape))) / 2.0
    labels = generator.random(size=(n_rows, *shape)) < 0.4
    logits = torch.tensor(scores, dtype=kind, requires_grad=True)
    return logits, torch.tensor(labels).double()


def value_and_gradient(loss, logits, *others, **options):
    value = loss(logits, *others, **options)
    (gradient,) = torch.autograd.grad(value, logits)
    return value.detach(), gradient


def assert_same_on_tensors(monkeypatch, name, logits, labels, **options):
    by_kernels = value_and_gradient(LOSSES[name](), logits, labels, **options)
    with monkeypatch.context() as patch:
        patch.setattr(_evaluation, "by_kernels", lambda scores: False)
        by_tensors = value_and_gradient(LOSSES[name](), logits, labels, **options)
    for one, other in zip(by_tensors, by_kernels, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-10)


@every_loss
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_values_and_gradients_are_those_of_the_kernels(monkeypatch, name, options):
    for seed in range(3):
        assert_same_on_tensors(monkeypatch, name, *data(seed), **options)


@every_loss
def test_columns_missing_labels_and_queries_are_averaged_equally(monkeypatch, name):
    logits, labels = data(shape=(3,))
    labels[5:30:3, 1] = torch.nan
    labels[:, 2] = 1.0
    assert_same_on_tensors(monkeypatch, name, logits, labels)
    for start in range(3):  # a query without pairs in one column, others in others
        labels[start * 20 : start * 20 + 20, start % 2] = 0.0
    qid = torch.arange(60) // 20
    assert_same_on_tensors(monkeypatch, name, logits, labels, qid=qid)


@every_loss
@pytest.mark.parametrize("scale", [1e-6, 1e3, 1e12])
def test_any_scale_of_logits_will_do(monkeypatch, name, scale):
    logits, labels = data()
    grown = (scale * logits).detach().requires_grad_()
    by_kernels = value_and_gradient(LOSSES[name](), grown, labels)
    monkeypatch.setattr(_evaluation, "by_kernels", lambda scores: False)
    result = value_and_gradient(LOSSES[name](), grown, labels)
    torch.testing.assert_close(result[0], by_kernels[0], rtol=1e-9, atol=0.0)
    torch.testing.assert_close(result[1], by_kernels[1], rtol=0.0, atol=1e-9)


@pytest.mark.usefixtures("on_tensors")
@every_loss
def test_a_batch_of_one_class_costs_nothing_and_is_counted(name):
    loss = LOSSES[name]()
    value, slope = value_and_gradient(loss, data()[0], torch.zeros(60))
    assert value == 0.0
    assert not slope.any()
    assert (loss.n_calls, loss.n_without_pairs) == (1, 1)


@pytest.mark.usefixtures("on_tensors")
@pytest.mark.parametrize("name", SMOOTH)
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_gradients_on_tensors_pass_the_check_of_torch(name, options):
    generator = np.random.default_rng(1)
    logits = torch.tensor(generator.normal(size=12), requires_grad=True)
    labels = torch.arange(12) % 3 == 0
    options = {key: value[:12] for key, value in options.items()}
    if "qid" in options:
        options["qid"] = torch.arange(12) // 6

    def loss(scores):
        return LOSSES[name]()(scores, labels, **options)

    assert torch.autograd.gradcheck(loss, logits)


@pytest.mark.usefixtures("on_tensors")
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"logits": torch.full((60,), torch.nan)}, "row 0 is nan in call 1"),
        ({"labels": torch.full((60,), 0.3)}, "Soft labels"),
        ({"sample_weight": -torch.ones(60)}, "row 0 weighs -1"),
        ({"sample_weight": torch.ones(3)}, r"shape \(60,\), got \(3,\)"),
        ({"qid": torch.ones(3)}, r"shape \(60,\), got \(3,\)"),
    ],
)
def test_bad_values_are_named_on_any_device(change, message):
    logits, labels = data()
    with pytest.raises(ValueError, match=message):
        PairLogisticLoss()(**{"logits": logits, "labels": labels, **change})


@pytest.fixture
def compiler():
    """Compile again, as one graph, and run the graph unchanged."""
    torch.compiler.reset()
    yield lambda call: torch.compile(call, backend="aot_eager", fullgraph=True)
    torch.compiler.reset()


@pytest.mark.parametrize(
    ("name", "option"),
    [
        ("logistic", "weighted queries"),
        ("part, sigmoid", "plain"),
        ("part, hinge", "queries"),
        ("lambda", "plain"),
    ],
)
def test_a_compiled_step_is_one_graph(compiler, name, option):
    torch.manual_seed(0)
    layer = torch.nn.Linear(3, 1)
    features, labels = torch.randn(60, 3), torch.arange(60) % 3 == 0
    loss = LOSSES[name]()

    def step(features, labels):
        logits = layer(features).squeeze(1)
        return 2.0 * loss(logits, labels, **OPTIONS[option])

    gradient = torch.autograd.grad(compiler(step)(features, labels), layer.weight)
    expected = torch.autograd.grad(step(features, labels), layer.weight)
    torch.testing.assert_close(gradient, expected)


def test_compiled_code_shows_bad_values_as_nan(compiler):
    loss = compiler(PartialAUCLoss((0.0, 0.1)))
    logits, labels = torch.randn(60), (torch.arange(60) % 3 == 0).float()
    assert loss(logits, labels).isfinite()
    assert loss(torch.full((60,), torch.nan), labels).isnan()
    assert loss(logits, torch.where(labels == 1, 0.7, 0.0)).isnan()
    # one negative of 30 is less than a tenth of those in the batch
    assert loss(logits, (torch.arange(60) < 55).float()).isnan()
    assert loss(logits, torch.zeros(60)) == 0.0


def test_a_loss_without_a_form_on_tensors_breaks_the_graph_and_continues():
    torch.compiler.reset()
    loss, labels = LambdaLoss("mauc"), torch.arange(60) % 3
    logits = data()[0].detach()
    compiled = torch.compile(lambda s: 2.0 * loss(s, labels), backend="eager")
    torch.testing.assert_close(compiled(logits), 2.0 * loss(logits, labels))
