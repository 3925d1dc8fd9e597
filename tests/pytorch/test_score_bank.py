"""A bank adds earlier rows to a batch, as constants."""

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from aucmax.torch import PairLogisticLoss, PartialAUCLoss, ScoreBank

torch.set_num_threads(1)


def rows(n_rows, seed):
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(n_rows, generator=generator, dtype=torch.float64)
    return logits.requires_grad_(), (torch.arange(n_rows) % 4 == 0).long()


def test_the_first_batch_is_the_loss_itself():
    logits, labels = rows(20, 0)
    value = ScoreBank(PairLogisticLoss(), 100)(logits, labels)
    assert value.item() == PairLogisticLoss()(logits, labels).item()


def test_the_loss_is_over_all_pairs_and_the_slope_goes_to_the_batch():
    bank = ScoreBank(PairLogisticLoss(), 30)
    first, early = rows(20, 0)
    second, middle = rows(20, 1)
    third, late = rows(10, 2)
    for batch in ((first, early), (second, middle)):
        bank(*batch)
    assert bank.n_kept == 30
    value = bank(third, late)
    value.backward()
    joint = torch.cat([third, first[10:], second]).detach().requires_grad_()
    whole = PairLogisticLoss()(joint, torch.cat([late, early[10:], middle]))
    whole.backward()
    assert value.item() == pytest.approx(whole.item(), rel=1e-12)
    torch.testing.assert_close(third.grad, joint.grad[:10] * 4.0)
    assert first.grad is None
    assert second.grad is None


def test_a_range_may_be_narrower_than_a_batch():
    bank = ScoreBank(PartialAUCLoss((0, 0.05)), 200)
    bank(*rows(100, 0))
    logits, labels = rows(8, 1)
    with pytest.raises(ValueError, match="must cover at least one"):
        PartialAUCLoss((0, 0.05))(logits, labels)
    bank(logits, labels).backward()
    assert logits.grad.abs().sum() > 0


def test_several_labels_with_gaps_are_kept():
    bank = ScoreBank(PairLogisticLoss(), 50)
    labels = torch.tensor([[1.0, torch.nan], [0.0, 1.0]])
    bank(torch.zeros(2, 2), labels)
    value = bank(torch.tensor([[1.0, 1.0]]), torch.tensor([[0.0, 0.0]]))
    expected = PairLogisticLoss()(
        torch.tensor([[0.0, 0.0], [0.0, 0.0], [1.0, 1.0]]),
        torch.cat([labels, torch.tensor([[0.0, 0.0]])]),
    )
    torch.testing.assert_close(value, expected)


def test_a_bad_batch_leaves_the_bank_as_it_was():
    bank = ScoreBank(PairLogisticLoss(), 50)
    bank(*rows(20, 0))
    with pytest.raises(ValueError, match="row 0 is nan"):
        bank(torch.tensor([torch.nan]), torch.tensor([1]))
    assert bank.n_kept == 20
    bank.reset()
    assert bank.n_kept == 0


def test_a_bank_needs_a_size():
    with pytest.raises(ValueError, match="size must be an integer"):
        ScoreBank(PairLogisticLoss(), 0)
