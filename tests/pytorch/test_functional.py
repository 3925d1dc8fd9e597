"""The functions are the losses."""

import inspect

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from aucmax.torch import (
    LambdaLoss,
    PairHingeLoss,
    PairLogisticLoss,
    PairSigmoidLoss,
    PartialAUCLoss,
    functional,
)

PART = {"fpr_range": (0.0, 0.5), "tpr_range": (0.25, 1.0)}


@pytest.mark.parametrize(
    ("function", "loss", "parameters"),
    [
        (functional.pair_logistic_loss, PairLogisticLoss, {}),
        (functional.pair_hinge_loss, PairHingeLoss, {"margin": 2.5}),
        (functional.pair_sigmoid_loss, PairSigmoidLoss, {"tau": 0.3}),
        (functional.partial_auc_loss, PartialAUCLoss, {**PART, "loss": "logistic"}),
        (functional.lambda_loss, LambdaLoss, {"metric": "mauc"}),
    ],
)
def test_functions_are_the_losses(function, loss, parameters):
    logits, labels = torch.arange(40.0) % 7, torch.arange(40) % 3 == 0
    options = {"sample_weight": torch.arange(40), "qid": torch.arange(40) // 20}
    expected = loss(**parameters)(logits, labels, **options)
    assert function(logits, labels, **parameters, **options) == expected


def test_a_function_has_the_signature_of_its_loss_and_refuses_other_names():
    shown = str(inspect.signature(functional.pair_hinge_loss))
    assert shown.startswith("(logits: torch.Tensor, labels: torch.Tensor, margin: ")
    assert shown.endswith("sample_weight: Any = None, qid: Any = None) -> torch.Tensor")
    logits, labels = torch.tensor([1.0, 0.0]), torch.tensor([1, 0])
    assert functional.pair_hinge_loss(logits, labels, 2.5) == 1.5
    with pytest.raises(TypeError, match="tau"):
        functional.pair_hinge_loss(logits, labels, tau=1.0)
