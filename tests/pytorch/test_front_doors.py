"""The losses serve as they are in Lightning and in skorch."""

import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from aucmax.metrics import roc_auc_score
from aucmax.torch import AUROC, PairLogisticLoss, PartialAUCLoss

torch.set_num_threads(1)


def data():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(400, 4)).astype(np.float32)
    y = X[:, 0] + 0.5 * generator.normal(size=400) > 1.0
    return X, y.astype(np.float32)


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)

    def forward(self, X):
        return self.layer(X).squeeze(1)


@pytest.mark.parametrize("criterion", [PairLogisticLoss, PartialAUCLoss])
def test_skorch_takes_a_loss_as_its_criterion(criterion):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        skorch = pytest.importorskip("skorch", reason="skorch is not installed")
        torch.manual_seed(0)
        model = skorch.NeuralNet(
            Network,
            criterion=criterion,
            optimizer=torch.optim.Adam,
            lr=0.05,
            max_epochs=20,
            batch_size=64,
            verbose=0,
        )
        X, y = data()
        model.fit(X, y)
        scores = model.predict(X)
    assert roc_auc_score(y, scores) > 0.9


def test_lightning_trains_with_a_loss_and_logs_the_metric(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        lightning = pytest.importorskip(
            "lightning", reason="Lightning is not installed"
        )

        class Ranker(lightning.LightningModule):
            def __init__(self):
                super().__init__()
                self.network = Network()
                self.loss_of, self.metric = PairLogisticLoss(), AUROC()

            def training_step(self, batch, number):
                inputs, labels = batch
                logits = self.network(inputs)
                self.metric.update(logits, labels)
                return self.loss_of(logits, labels)

            def on_train_epoch_end(self):
                self.log("auc", self.metric.compute())
                self.metric.reset()

            def configure_optimizers(self):
                return torch.optim.Adam(self.parameters(), lr=0.05)

        torch.manual_seed(0)
        rows = torch.utils.data.TensorDataset(*map(torch.tensor, data()))
        loader = torch.utils.data.DataLoader(rows, batch_size=64, shuffle=True)
        trainer = lightning.Trainer(
            max_epochs=20,
            accelerator="cpu",
            logger=False,
            enable_checkpointing=False,
            enable_progress_bar=False,
            default_root_dir=tmp_path,
        )
        trainer.fit(Ranker(), loader)
    assert trainer.callback_metrics["auc"] > 0.9
