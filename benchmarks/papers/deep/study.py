"""Tasks and tables of the study."""

import time
from dataclasses import dataclass
from functools import partial
from itertools import islice

import numpy as np

from aucmax.metrics import partial_auc_score, roc_auc_score
from benchmarks.papers.deep.data import FILES, split
from benchmarks.papers.differences import Difference, average, mean_difference
from benchmarks.papers.markdown import ABSENT, Table, largest_bold
from benchmarks.papers.tasks import Task

SEEDS = tuple(range(10, 15))
BASELINE = "BCE"
NAMES = (
    *("BCE", "weighted BCE", "focal", "LibAUC AUCM", "LibAUC pAUC (DRO)"),
    *("PairLogisticLoss", "PairSigmoidLoss", "ScoreBank(PairLogisticLoss)"),
    "PartialAUCLoss",
)
#: what chooses the rate and the epoch: the partial AUC for those trained for it
FOR_A_PART = ("LibAUC pAUC (DRO)", "PartialAUCLoss")


@dataclass
class Result:
    """How a network ranks the test rows of a split.

    Attributes
    ----------
    auc, partial_auc : float
        On the test rows, at the rate and epoch that validation chose.
    seconds : float
        Of the processor, for training an epoch: as many rows as there are.
    overlap : float
        Test rows by all others.
    """

    data: str
    method: str
    seed: int
    auc: float
    partial_auc: float
    seconds: float
    overlap: float

    def __str__(self) -> str:
        return f"{self.auc:.4f} {self.partial_auc:.4f} {1e3 * self.seconds:.0f} ms"


def run_method(data: str, method: str, seed: int) -> Result:
    """Train with each rate, choose by validation, judge by the test rows."""
    import torch  # an extra

    from benchmarks.papers.deep import methods

    torch.set_num_threads(1)
    parts = split(data, seed)
    X, y = parts.learn
    inputs = [torch.tensor(one) for one in (X, parts.choose[0], parts.judge[0])]
    targets = torch.tensor(y, dtype=torch.float32)
    n_steps = -(-y.size // methods.BATCH)
    best, areas, seconds = -np.inf, (np.nan, np.nan), 0.0
    rates = (0.1, 0.03) if method == methods.AUCM else (0.001, 0.003)
    for rate in rates:
        torch.manual_seed(seed)
        model = methods.network(data, X.shape[1])
        trainer = methods.trainer(method, model, y, rate)
        batches = trainer.batches(y, seed)
        for epoch in range(1, methods.EPOCHS + 1):
            model.train()
            start = time.process_time()
            for rows in islice(batches, n_steps):
                trainer.optimizer.zero_grad()
                batch = torch.as_tensor(rows)
                loss = trainer.loss_of(model(inputs[0][batch]), targets[batch], rows)
                loss.backward()
                trainer.optimizer.step()
            seconds += time.process_time() - start
            trainer.after_epoch(epoch)
            model.eval()
            with torch.no_grad():
                valid = _areas(parts.choose[1], model(inputs[1]).numpy())
                if (value := valid[method in FOR_A_PART]) > best:
                    best = value
                    areas = _areas(parts.judge[1], model(inputs[2]).numpy())
    n_epochs = methods.EPOCHS * len(rates)
    return Result(data, method, seed, *areas, seconds / n_epochs, parts.overlap)


def _areas(y: np.ndarray, scores: np.ndarray) -> tuple[float, float]:
    return (
        float(roc_auc_score(y, scores)),
        float(partial_auc_score(y, scores, fpr_range=(0.0, 0.1))),
    )


def tasks() -> list[Task]:
    """Return one task for each split, method and data set, all timed."""
    return [
        Task(
            data,
            f"{data}, {method}, split {seed}",
            partial(run_method, data, method, seed),
            Result,
            FILES[data],
            is_timed=True,
        )
        for seed in SEEDS
        for data in FILES
        for method in NAMES
    ]


def quick_tasks() -> list[Task]:
    """Return two losses on the first split of the images."""
    names = [f"digits, {one}, split {SEEDS[0]}" for one in ("BCE", "PairLogisticLoss")]
    return [task for task in tasks() if task.name in names]


def tables(records: list[Result]) -> dict[str, Table]:
    """Return the AUC of each loss, and the differences from the baseline."""
    splits: dict[tuple[str, str], dict[int, Result]] = {}
    for one in records:
        splits.setdefault((one.data, one.method), {})[one.seed] = one
    data = [name for name in FILES if any(key[0] == name for key in splits)]
    methods = [name for name in NAMES if any(key[1] == name for key in splits)]
    columns = [
        largest_bold([_mean(splits.get((name, method), {})) for method in methods])
        for name in data
    ]
    rows = list(zip(methods, *columns, strict=True))
    return {
        "auc": Table(["loss", *data], rows),
        "auc, differences": _differences(splits, data, methods, "auc"),
        "partial_auc, differences": _differences(splits, data, methods, "partial_auc"),
    }


def _mean(splits: dict[int, Result]) -> float | None:
    return float(np.mean([one.auc for one in splits.values()])) if splits else None


def _differences(splits, data, methods, metric) -> Table:
    """Each loss less the baseline on the same splits, in points."""
    rows = []
    for method in methods:
        if method != BASELINE:
            each = [_difference(splits, name, method, metric) for name in data]
            if measured := [one for one in each if one is not None]:
                cells = [ABSENT if one is None else one.in_points(2) for one in each]
                rows.append([method, *cells, average(measured).in_points(2)])
    return Table(["loss", *data, "mean"], rows)


def _difference(splits, name, method, metric) -> Difference | None:
    theirs, ours = (splits.get((name, one), {}) for one in (BASELINE, method))
    shared = sorted(set(theirs) & set(ours))
    if len(shared) < 2:
        return None
    gains = [getattr(ours[s], metric) - getattr(theirs[s], metric) for s in shared]
    return mean_difference(np.array(gains), overlap=ours[shared[0]].overlap)
