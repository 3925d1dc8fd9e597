"""Whether the scores of a ScoreBank should be corrected for their age.

``python -m benchmarks.papers.deep.bank_age``; written before it was run. Images and
molecules of the study of losses, eight splits that it has not seen; batches of 16 rows,
a bank of 500, PairLogisticLoss, 15 epochs of Adam with rates 0.001 and 0.003; rate and
epoch are chosen by the validation rows. A correction is worth an option of ScoreBank
if, over both data sets, the interval of its gain in AUC on the test rows, paired by
split, is above 0. Scoring the bank anew before each step, which no bank can do at its
price, shows how much there is to gain.
"""

import math

import numpy as np
import torch

from aucmax.metrics import roc_auc_score
from aucmax.torch import PairLogisticLoss
from benchmarks.papers.deep.data import FILES, split
from benchmarks.papers.deep.methods import network
from benchmarks.papers.differences import average, mean_difference
from benchmarks.report import Report

TITLE = "ScoreBank: corrections for the age of scores"
DATA = ("digits", "bace")
SEEDS = range(20, 28)
RATES = (0.001, 0.003)
BATCH, BANK, EPOCHS = 16, 500, 15
MEMORY = 0.9  # of the running mean and spread of all scores
HALF_LIFE = 5.0  # steps, after which a row counts half


def run(report: Report) -> None:
    """Compare the corrections with none."""
    torch.set_num_threads(1)
    found = {name: [] for name in CORRECTIONS if name != "none"}
    for data in DATA:
        if not all(path.is_file() for path in FILES[data]):
            print(f"{data} is not there")
            continue
        areas = {name: [] for name in CORRECTIONS}
        for seed in SEEDS:
            parts = split(data, seed)
            for name, own in areas.items():
                own.append(best_area(data, parts, seed, CORRECTIONS[name]))
        for name, differences in found.items():
            gains = np.subtract(areas[name], areas["none"])
            differences.append(mean_difference(gains, overlap=parts.overlap))
            add(report, f"{data}, {name}: gain", differences[-1], np.mean(areas[name]))
    for name, differences in found.items():
        if differences:
            add(report, f"all, {name}: gain", average(differences))


def add(report: Report, name: str, difference, mean: float = math.nan) -> None:
    remark = f"[{100.0 * difference.low:+.2f}, {100.0 * difference.high:+.2f}]"
    if not math.isnan(mean):
        remark += f", AUC {mean:.4f}"
    report.add(name, 100.0 * difference.mean, "points", remark=remark)


def best_area(data: str, parts, seed: int, correction: type) -> float:
    """Return the AUC on the test rows, at the best rate and epoch of the others."""
    X, labels = torch.tensor(parts.learn[0]), torch.tensor(parts.learn[1]).float()
    chosen = (-math.inf, math.nan)
    for rate in RATES:
        torch.manual_seed(seed)
        model = network(data, X.shape[1])
        optimizer = torch.optim.Adam(model.parameters(), lr=rate, weight_decay=1e-5)
        loss_of, bank = PairLogisticLoss(), correction()
        order = np.random.default_rng(seed)
        for _ in range(EPOCHS):
            for batch in np.array_split(
                order.permutation(len(X)), math.ceil(len(X) / BATCH)
            ):
                model.train()
                optimizer.zero_grad()
                rows = torch.as_tensor(batch)
                own, old = model(X[rows]), torch.tensor(bank.scores(model, X)).float()
                weights = np.append(np.ones(len(own)), bank.weights())
                # as ScoreBank does: the size of the gradient is that of a batch
                factor = weights.sum() / len(own)
                loss = loss_of(
                    torch.cat((own, old)),
                    torch.cat((labels[rows], labels[bank.rows])),
                    sample_weight=weights,
                )
                (factor * loss).backward()
                optimizer.step()
                bank.take_in(rows.numpy(), own.detach().double().numpy())
            model.eval()
            with torch.no_grad():
                areas = [
                    roc_auc_score(y, model(torch.tensor(inputs)).numpy())
                    for inputs, y in (parts.choose, parts.judge)
                ]
            chosen = max(chosen, tuple(areas), key=lambda one: one[0])
    return chosen[1]


class NoCorrection:
    """The latest rows, the oldest first, with their scores, and steps since."""

    def __init__(self) -> None:
        self.rows = np.empty(0, dtype=np.int64)
        self.kept = np.empty(0)
        self.ages = np.empty(0)

    def scores(self, model, X) -> np.ndarray:
        """Return what the bank takes for the scores of its rows."""
        return self.kept

    def weights(self) -> np.ndarray:
        """Return how much its rows count."""
        return np.ones(self.kept.size)

    def take_in(self, rows: np.ndarray, scores: np.ndarray) -> None:
        """Keep the rows of a batch."""
        self.rows = np.append(self.rows, rows)[-BANK:]
        self.kept = np.append(self.kept, scores)[-BANK:]
        self.ages = np.append(self.ages + 1.0, np.zeros(rows.size))[-BANK:]


class Forgetting(NoCorrection):
    """Rows count less and less."""

    def weights(self) -> np.ndarray:
        """Return how much its rows count."""
        return 0.5 ** (self.ages / HALF_LIFE)


class Moving(NoCorrection):
    """Scores move along with the running mean and spread of all scores."""

    def __init__(self) -> None:
        super().__init__()
        self.sums = np.zeros(3)  # of ones, scores and their squares
        self.then = np.empty((0, 2))

    def scores(self, model, X) -> np.ndarray:
        """Return what the bank takes for the scores of its rows."""
        if not self.kept.size:
            return self.kept
        mean, spread = self.then.T
        now = self.moments()
        return now[0] + (self.kept - mean) / spread * now[1]

    def moments(self) -> np.ndarray:
        """Return the running mean and spread."""
        mean, square = self.sums[1:] / self.sums[0]
        return np.array([mean, math.sqrt(max(square - mean**2, 1e-12))])

    def take_in(self, rows: np.ndarray, scores: np.ndarray) -> None:
        """Keep the rows of a batch."""
        super().take_in(rows, scores)
        self.sums = MEMORY * self.sums + (1.0, scores.mean(), (scores**2).mean())
        then = np.tile(self.moments(), (rows.size, 1))
        self.then = np.concatenate((self.then, then))[-BANK:]


class ScoredAnew(NoCorrection):
    """What a bank would know that scored all its rows before each step."""

    def scores(self, model, X) -> np.ndarray:
        """Return what the bank takes for the scores of its rows."""
        if not self.rows.size:
            return self.kept
        with torch.no_grad():
            return model(X[self.rows]).double().numpy()


CORRECTIONS = {
    "none": NoCorrection,
    "forgetting": Forgetting,
    "moving": Moving,
    "scored anew": ScoredAnew,
}

if __name__ == "__main__":
    run(Report(TITLE))
