"""Tasks, tables and pictures of the study."""

import time
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from aucmax.metrics import partial_auc_score, roc_auc_score
from benchmarks.papers.deep.data import FILES, split
from benchmarks.papers.differences import average, mean_difference
from benchmarks.papers.markdown import ABSENT, Table, largest_bold
from benchmarks.papers.tasks import Task

SEEDS = tuple(range(10, 15))
BASELINE = "BCE"
NAMES = (
    "BCE",
    "weighted BCE",
    "focal",
    "LibAUC AUCM",
    "LibAUC pAUC (DRO)",
    "PairLogisticLoss",
    "PairSigmoidLoss",
    "ScoreBank(PairLogisticLoss)",
    "PartialAUCLoss",
)


@dataclass
class Result:
    """How a network ranks the test rows of a split.

    Attributes
    ----------
    auc, partial_auc : float
        On the test rows, at the rate and epoch that validation chose.
    rate, epoch : float, int
        The choice of validation.
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
    rate: float
    epoch: int
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
    tensors = [torch.tensor(one) for one in (X, parts.choose[0], parts.judge[0])]
    targets = torch.tensor(y, dtype=torch.float32)
    n_steps = -(-y.size // methods.BATCH)
    for_a_part = method in methods.FOR_A_PART
    best, seconds = None, 0.0
    for rate in methods.RATES[method]:
        torch.manual_seed(seed)
        model = methods.network(data, X.shape[1])
        trainer = methods.METHODS[method](model, y, rate)
        batches = trainer.batches(y, seed)
        for epoch in range(1, methods.EPOCHS + 1):
            model.train()
            start = time.process_time()
            for rows in islice(batches, n_steps):
                trainer.optimizer.zero_grad()
                in_batch = torch.as_tensor(rows)
                trainer.loss_of(
                    model(tensors[0][in_batch]), targets[in_batch], rows
                ).backward()
                trainer.optimizer.step()
            seconds += time.process_time() - start
            trainer.after_epoch(epoch)
            model.eval()
            with torch.no_grad():
                chosen = model(tensors[1]).numpy()
                area = _areas(parts.choose[1], chosen)[int(for_a_part)]
                if best is None or area > best[0]:
                    judged = model(tensors[2]).numpy()
                    best = area, *_areas(parts.judge[1], judged), rate, epoch
    n_epochs = methods.EPOCHS * len(methods.RATES[method])
    return Result(
        data, method, seed, *best[1:], seconds / n_epochs, overlap=parts.overlap
    )


def _areas(y, scores) -> tuple[float, float]:
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
    wanted = (f"digits, {one}, split {SEEDS[0]}" for one in ("BCE", "PairLogisticLoss"))
    names = set(wanted)
    return [task for task in tasks() if task.name in names]


def tables(records: list[Result]) -> dict[str, Table]:
    """Return the areas of each loss, and its differences from the baseline."""
    by_loss = {}
    for one in records:
        by_loss.setdefault((one.data, one.method), {})[one.seed] = one
    data = [name for name in FILES if any(key[0] == name for key in by_loss)]
    methods = [name for name in NAMES if any(key[1] == name for key in by_loss)]
    made = {}
    for metric in ("auc", "partial_auc"):
        made[metric] = _areas_table(by_loss, data, methods, metric)
        made[f"{metric}, differences"] = _differences(by_loss, data, methods, metric)
    return made


def pictures(records: list[Result]) -> dict[str, Any]:
    """Return nothing: the page has no picture."""
    return {}


def _areas_table(found, data, methods, metric) -> Table:
    columns = []
    for name in data:
        values = [_mean(found.get((name, method)), metric) for method in methods]
        columns.append(largest_bold(values))
    rows = [list(row) for row in zip(methods, *columns, strict=True)]
    return Table(["loss", *data], rows)


def _mean(splits, metric) -> float | None:
    if splits is None:
        return None
    return float(np.mean([getattr(one, metric) for one in splits.values()]))


def _differences(found, data, methods, metric) -> Table:
    """Each loss less the baseline on the same splits, in points."""
    rows = []
    for method in methods:
        if method == BASELINE:
            continue
        apart = [_difference(found, name, method, metric) for name in data]
        measured = [one for one in apart if one is not None]
        cells = [ABSENT if one is None else one.in_points(2) for one in apart]
        rows.append(
            [method, *cells, average(measured).in_points(2) if measured else ABSENT]
        )
    return Table(["loss", *data, "mean"], rows)


def _difference(found, name, method, metric):
    theirs, ours = (found.get((name, one), {}) for one in (BASELINE, method))
    shared = sorted(set(theirs) & set(ours))
    if len(shared) < 2:
        return None
    apart = [getattr(ours[s], metric) - getattr(theirs[s], metric) for s in shared]
    return mean_difference(np.array(apart), overlap=ours[shared[0]].overlap)
