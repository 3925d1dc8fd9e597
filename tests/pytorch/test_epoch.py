"""The gradient of an epoch is that of one batch with all rows."""

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from torch.utils.data import DataLoader, TensorDataset

from aucmax.torch import PairHingeLoss, PairLogisticLoss, PartialAUCLoss, epoch_gradient

torch.set_num_threads(1)


def data(n_rows=200):
    generator = torch.Generator().manual_seed(0)
    X = torch.randn(n_rows, 4, generator=generator)
    return X, (X[:, 0] > 0.8).long()


def network(*extra):
    torch.manual_seed(1)
    layers = torch.nn.Linear(4, 8), torch.nn.Tanh(), *extra, torch.nn.Linear(8, 1)
    return torch.nn.Sequential(*layers, torch.nn.Flatten(0))


def gradients(model):
    return [parameter.grad.clone() for parameter in model.parameters()]


@pytest.mark.parametrize(
    "loss", [PairLogisticLoss(), PairHingeLoss(), PartialAUCLoss((0, 0.1))], ids=str
)
@pytest.mark.parametrize("shuffle", [False, True])
def test_it_is_the_gradient_of_the_full_batch(loss, shuffle):
    X, y = data()
    model = network()
    loader = DataLoader(TensorDataset(X, y), batch_size=16, shuffle=shuffle)
    value = epoch_gradient(model, loader, loss)
    by_epoch = gradients(model)
    model.zero_grad()
    whole = loss(model(X), y)
    whole.backward()
    assert value.item() == pytest.approx(whole.item(), rel=1e-5)
    for ours, full in zip(by_epoch, gradients(model), strict=True):
        # the bias of the last layer has no slope but for rounding
        torch.testing.assert_close(ours, full, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("generator", [None, torch.Generator()])
def test_dropout_and_shuffling_repeat_and_go_on_afterwards(generator):
    X, y = data()
    model = network(torch.nn.Dropout(0.5)).train()
    loader = DataLoader(
        TensorDataset(X, y), batch_size=16, shuffle=True, generator=generator
    )
    first = epoch_gradient(model, loader, PairLogisticLoss())
    second = epoch_gradient(model, loader, PairLogisticLoss())
    assert first.item() != second.item()  # another epoch, other rows dropped


def test_running_means_are_updated_once():
    X, y = data()
    model = network(torch.nn.BatchNorm1d(8)).train()
    loader = DataLoader(TensorDataset(X, y), batch_size=50)
    epoch_gradient(model, loader, PairLogisticLoss())
    assert model[2].num_batches_tracked.item() == 4


def test_inputs_may_be_dicts_and_training_converges():
    X, y = data()

    class Named(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(4, 1)

        def forward(self, inputs):
            return self.layer(inputs["X"]).squeeze(1)

    batches = [({"X": X[k::4]}, y[k::4]) for k in range(4)]
    torch.manual_seed(0)
    model = Named()
    optimizer = torch.optim.LBFGS(model.parameters(), max_iter=30)

    def closure():
        optimizer.zero_grad()
        return epoch_gradient(model, batches, PairLogisticLoss())

    optimizer.step(closure)
    assert closure().item() < 0.01


class Changing:
    """Other rows at each pass."""

    def __init__(self, what):
        self.what, self.n_passes = what, 0

    def __iter__(self):
        self.n_passes += 1
        X, y = data(40)
        if self.n_passes == 2 and self.what == "labels":
            y = 1 - y
        if self.n_passes == 2 and self.what == "scores":
            X = X.flip(0)
        yield X[:20], y[:20]
        if self.n_passes == 1 or self.what != "fewer":
            yield X[20:], y[20:]
        if self.n_passes == 2 and self.what == "more":
            yield X, y


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("labels", "yields other labels from batch 0"),
        ("scores", "leads to other scores from batch 0"),
        ("fewer", "yields other labels from batch 1"),
        ("more", "yields more batches from batch 2"),
    ],
)
def test_a_loader_that_does_not_repeat_itself_is_rejected(what, message):
    with pytest.raises(ValueError, match=message):
        epoch_gradient(network(), Changing(what), PairLogisticLoss())


def test_a_loader_without_batches_or_pairs_is_rejected():
    with pytest.raises(ValueError, match="no batches"):
        epoch_gradient(network(), [], PairLogisticLoss())
    with pytest.raises(TypeError, match="pairs"):
        epoch_gradient(network(), [data()[0]], PairLogisticLoss())
