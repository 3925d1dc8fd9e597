"""Metrics over batches are those of the library over all rows."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from aucmax.exceptions import NotEnoughClassesError
from aucmax.inference import auc_interval
from aucmax.metrics import partial_auc_score, roc_auc_score
from aucmax.torch import AUROC

torch.set_num_threads(1)
PART = {"fpr_range": (0.1, 0.5), "tpr_range": (0.2, 1.0)}


def data(n_rows=500, ties=False):
    generator = np.random.default_rng(0)
    labels = generator.random(n_rows) < 0.3
    scores = generator.normal(size=n_rows) + labels
    scores = np.round(scores, 1) if ties else scores
    return torch.tensor(scores), torch.tensor(labels).long()


def fed(metric, scores, labels, size=70):
    for rows in torch.arange(len(scores)).split(size):
        metric.update(scores[rows], labels[rows])
    return metric


@pytest.mark.parametrize("ties", [False, True])
def test_batches_add_up_to_all_rows(ties):
    scores, labels = data(ties=ties)
    whole = roc_auc_score(labels.numpy(), scores.numpy())
    assert fed(AUROC(), scores, labels).compute().item() == whole
    part = partial_auc_score(labels.numpy(), scores.numpy(), **PART)
    assert fed(AUROC(**PART), scores, labels).compute().item() == part


def test_computing_changes_nothing_and_reset_forgets():
    scores, labels = data()
    metric = fed(AUROC(), scores[:200], labels[:200])
    metric.compute()
    value = fed(metric, scores[200:], labels[200:]).compute().item()
    assert value == roc_auc_score(labels.numpy(), scores.numpy())
    metric.reset()
    with pytest.raises(NotEnoughClassesError, match="call update first"):
        metric.compute()


def test_intervals_are_those_of_the_library():
    scores, labels = data()
    rows = labels.numpy(), scores.numpy()
    assert fed(AUROC(), scores, labels).interval(0.9) == auc_interval(
        *rows, confidence_level=0.9
    )
    metric = fed(AUROC(**PART), scores, labels)
    assert metric.interval() == auc_interval(*rows, **PART)
    metric = AUROC()
    metric.update(torch.zeros(3), torch.zeros(3))
    with pytest.raises(NotEnoughClassesError):
        metric.compute()


@pytest.mark.parametrize(
    ("scores", "labels", "message"),
    [
        (torch.tensor([0.1, torch.nan]), torch.tensor([0, 1]), "row 1 is nan"),
        (torch.tensor([0.1, 0.2]), torch.tensor([0, 2]), "row 1 is 2"),
        (torch.tensor([0.1, 0.2]), torch.tensor([0, torch.nan]), "some are NaN"),
        (torch.zeros(2, 3), torch.zeros(2, 3), "one score per row"),
        (torch.zeros(2, 1), torch.zeros(2), r"squeeze\(1\)"),
    ],
)
def test_bad_input_is_rejected_and_leaves_no_trace(scores, labels, message):
    metric = AUROC()
    with pytest.raises(ValueError, match=message):
        metric.update(scores, labels)
    assert metric._scores == []


def test_bad_parameters_are_rejected():
    with pytest.raises(ValueError, match="fpr_range must satisfy"):
        AUROC((0.3, 0.1))
