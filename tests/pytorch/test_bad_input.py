"""Errors name the row and what to do, at every entry point."""

import copy

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from aucmax.torch import PairLogisticLoss, PartialAUCLoss, ScoreBank

torch.set_num_threads(1)
every_loss = pytest.mark.parametrize(
    "loss",
    [PairLogisticLoss(), ScoreBank(PairLogisticLoss(), 10)],
    ids=["loss", "bank"],
)
Y = torch.tensor([1, 0, 1, 0])
S = torch.tensor([1.0, 0.0, 2.0, -1.0])


@every_loss
@pytest.mark.parametrize(
    ("error", "logits", "labels", "message"),
    [
        (ValueError, S, torch.tensor([1, 0, 0.3, 0]), "row 2 is 0.3. Soft labels"),
        (ValueError, S, torch.tensor([1, 0, -1, 0]), r"row 2 is -1.* labels == "),
        (ValueError, S.log(), Y, r"row 1 is -inf in call 1 of this loss"),
        (ValueError, S * torch.nan, Y, "row 0 is nan"),
        (ValueError, S[:0], Y[:0], "batch is empty"),
        (ValueError, S[:, None], Y, r"logits\.squeeze\(1\)"),
        (ValueError, torch.ones(4, 2), Y, "rank by their difference"),
        (ValueError, S, Y[:3], r"\(4,\) and \(3,\)"),
        (TypeError, Y, Y, "floating-point numbers, got torch.int64"),
        (TypeError, [1.0], Y, "logits must be a tensor, got list"),
        (ValueError, S, Y.to("meta"), r"on cpu and labels on meta.*labels.to\('cpu'\)"),
        (ValueError, 7e4 * S.half(), Y, "row 0 is inf"),
    ],
)
def test_bad_rows_are_rejected_by_name(loss, error, logits, labels, message):
    with pytest.raises(error, match=message):
        copy.deepcopy(loss)(logits, labels)


@every_loss
@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16, torch.float64])
def test_logits_of_every_precision_and_of_one_column_are_taken(loss, kind):
    logits = S.to(kind)[:, None].requires_grad_()
    value = copy.deepcopy(loss)(logits, Y[:, None])
    value.backward()
    wanted = torch.float64 if kind == torch.float64 else torch.float32
    assert value.dtype == wanted
    assert logits.grad.dtype == kind
    torch.testing.assert_close(value, copy.deepcopy(loss)(S.to(kind), Y))


def test_weights_and_queries_are_rejected_by_row():
    with pytest.raises(ValueError, match="row 1 weighs -1"):
        PairLogisticLoss()(S, Y, sample_weight=torch.tensor([1.0, -1.0, 1.0, 1.0]))
    with pytest.raises(ValueError, match="sample_weight has 3 rows"):
        PairLogisticLoss()(S, Y, sample_weight=torch.ones(3))
    with pytest.raises(ValueError, match="qid has 3 rows"):
        PairLogisticLoss()(S, Y, qid=torch.ones(3))


def test_a_range_below_one_row_says_how_large_a_batch_must_be():
    logits, labels = torch.randn(80), torch.arange(80) % 4 == 0
    message = "0.6 of the 60 negatives .* needs 100 of them, a batch of about 134 rows"
    with pytest.raises(ValueError, match=message):
        PartialAUCLoss((0, 0.01))(logits, labels)
    PartialAUCLoss((0, 1 / 60))(logits, labels)


def network():
    torch.manual_seed(0)
    layers = torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4), torch.nn.Linear(4, 1)
    return torch.nn.Sequential(*layers, torch.nn.Flatten(0))


def test_a_step_with_nan_is_named_and_leaves_the_model_as_it_was():
    model, loss_of = network().eval(), PairLogisticLoss()
    optimizer = torch.optim.Adam(model.parameters())
    features, labels = torch.randn(20, 3), torch.arange(20) % 2
    for step in (1, 2, 3):
        if step == 3:
            features[7, 1] = torch.nan
            before = copy.deepcopy(model.state_dict())
            with pytest.raises(ValueError, match="row 7 is nan in call 3 of this loss"):
                loss_of(model(features), labels)
        else:
            optimizer.zero_grad()
            loss_of(model(features), labels).backward()
            optimizer.step()
    for name, values in model.state_dict().items():
        assert torch.equal(values, before[name])
