"""The library's risks as losses for PyTorch, exact over a batch, a bank or an epoch.

Needs the extra ``aucmax[torch]``. Nothing else in the library loads PyTorch.
"""

try:
    import torch as _torch  # noqa: F401
except ModuleNotFoundError as error:
    raise ImportError(
        "aucmax.torch needs PyTorch: pip install 'aucmax[torch]' (without a graphics "
        "card, choose a CPU build of torch first, which is a tenth of the size)."
    ) from error

from aucmax.torch.epoch import epoch_gradient
from aucmax.torch.joint_losses import ScoreBank
from aucmax.torch.losses import (
    LambdaLoss,
    PairHingeLoss,
    PairLogisticLoss,
    PairSigmoidLoss,
    PartialAUCLoss,
    SmoothAveragePrecisionLoss,
)
from aucmax.torch.metrics import AUROC
from aucmax.torch.sampler import ClassBalancedSampler

__all__ = [
    "AUROC",
    "ClassBalancedSampler",
    "LambdaLoss",
    "PairHingeLoss",
    "PairLogisticLoss",
    "PairSigmoidLoss",
    "PartialAUCLoss",
    "ScoreBank",
    "SmoothAveragePrecisionLoss",
    "epoch_gradient",
]
