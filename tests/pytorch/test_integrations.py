"""The losses serve as they are in Lightning and in skorch, as the guide shows."""

import re
import warnings
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from aucmax.metrics import roc_auc_score
from aucmax.torch import AUROC, PairHingeLoss, PairLogisticLoss

torch.set_num_threads(1)
GUIDE = Path(__file__).parents[2] / "docs" / "user_guide" / "torch.md"


def run_the_guide(library, **names):
    """Run the guide's example of a library with its data; return what it leaves."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the library, which is not ours
        pytest.importorskip(library, reason=f"{library} is not installed")
        blocks = re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.DOTALL)
        (code,) = (block for block in blocks if f"import {library}" in block)
        torch.manual_seed(0)
        X = torch.randn(2000, 5)
        y = (X[:, 0] * X[:, 1] + 0.5 * torch.randn(2000) > 1.0).long()
        rows = torch.utils.data.TensorDataset(X[:1500], y[:1500])
        names = {
            "torch": torch,
            "PairLogisticLoss": PairLogisticLoss,
            "AUROC": AUROC,
            "X": X,
            "y": y,
            "loader": torch.utils.data.DataLoader(rows, batch_size=100, shuffle=True),
            **names,
        }
        exec(code, names)
    return names


@pytest.mark.parametrize("criterion", [PairLogisticLoss, PairHingeLoss])
def test_skorch_takes_a_loss_as_its_criterion(criterion, capsys):
    names = run_the_guide("skorch", PairLogisticLoss=criterion)
    assert isinstance(names["net"].criterion_, criterion)
    assert roc_auc_score(names["y"][1500:].numpy(), names["scores"]) > 0.85
    capsys.readouterr()  # its table of epochs


def test_lightning_trains_with_a_loss_and_logs_the_metric(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where Lightning leaves its files
    names = run_the_guide("lightning")
    assert names["trainer"].callback_metrics["auc"] > 0.85
