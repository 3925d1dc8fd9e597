"""Every batch has its share of positives, every row its turn."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from aucmax.exceptions import NotEnoughClassesError
from aucmax.torch import ClassBalancedSampler

LABELS = np.arange(103) % 10 == 0  # 11 positives


def epoch(**options):
    return list(ClassBalancedSampler(LABELS, 16, **options))


@pytest.mark.parametrize(("share", "n_positive"), [(None, 2), (0.25, 4), (0.9, 14)])
def test_batches_have_the_share_and_visit_every_row(share, n_positive):
    batches = epoch(positive_share=share)
    assert {len(batch) for batch in batches} == {16}
    assert {int(LABELS[batch].sum()) for batch in batches} == {n_positive}
    assert {row for batch in batches for row in batch} == set(range(103))


def test_processes_share_the_batches_of_one():
    parts = [epoch(num_replicas=3, rank=rank) for rank in range(3)]
    assert len({len(part) for part in parts}) == 1
    visited = {row for part in parts for batch in part for row in batch}
    assert visited == set(range(103))


def test_epochs_differ_and_repeat():
    sampler = ClassBalancedSampler(LABELS, 16, seed=3)
    first = list(sampler)
    assert list(sampler) == first
    sampler.set_epoch(1)
    assert list(sampler) != first
    plain = epoch(shuffle=False)
    assert plain[0] == [0, 10, *[k for k in range(1, 16) if k != 10]]


def test_a_loader_takes_it():
    rows = torch.utils.data.TensorDataset(torch.arange(103), torch.tensor(LABELS))
    sampler = ClassBalancedSampler(torch.tensor(LABELS), 16, 0.5)
    loader = torch.utils.data.DataLoader(rows, batch_sampler=sampler)
    assert len(loader) == len(sampler)
    assert all(labels.sum() == 8 for _, labels in loader)


@pytest.mark.parametrize(
    ("error", "labels", "options", "message"),
    [
        (ValueError, LABELS, {"batch_size": 1}, "batch_size must be an integer"),
        (ValueError, LABELS, {"batch_size": 2.5}, "batch_size must be an integer"),
        (ValueError, LABELS, {"positive_share": 1.0}, "positive_share must be"),
        (ValueError, LABELS, {"num_replicas": 2, "rank": 2}, "rank must be at most 1"),
        (NotEnoughClassesError, np.zeros(5), {}, "one class only"),
    ],
)
def test_bad_input_is_rejected(error, labels, options, message):
    with pytest.raises(error, match=message):
        ClassBalancedSampler(labels, **{"batch_size": 4, **options})
