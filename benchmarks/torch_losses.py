"""Losses of PyTorch: against a matrix of pairs, against BCE; metrics over an epoch."""

from importlib import import_module

import numpy as np

from benchmarks.harness import Report, time_in_turn

try:
    import torch
except ImportError:  # an extra: the report says so
    torch = None

TITLE = "torch: losses over all pairs, 10% positives, float32, one thread"
SIZES = (10_000, 100_000, 1_000_000)


def run(report: Report) -> None:
    """Time the losses by size, their overhead on small batches, and the metric."""
    import_module("torch")
    torch.set_num_threads(1)
    against_a_matrix(report)
    against_libauc(report)
    on_tensors(report)
    growth(report)
    overhead(report)
    metric(report)


def rows(n_rows: int):
    rng = np.random.default_rng(0)
    labels = torch.tensor(rng.random(n_rows) < 0.1)
    logits = torch.tensor(rng.normal(size=n_rows) + labels.numpy())
    return logits.float().requires_grad_(), labels.float()


def step(loss, logits, labels):
    def call() -> None:
        logits.grad = None
        loss(logits, labels).backward()

    return call


def matrix_of_pairs(logits, labels):
    """Return the loss in the plain way: every pair a number."""
    gaps = logits[labels == 1][:, None] - logits[labels == 0][None, :]
    return torch.nn.functional.softplus(-gaps).mean()


def losses():
    from aucmax.torch import (
        LambdaLoss,
        PairHingeLoss,
        PairLogisticLoss,
        PairSigmoidLoss,
        PartialAUCLoss,
    )

    return {
        "logistic": PairLogisticLoss(),
        "hinge": PairHingeLoss(),
        "sigmoid": PairSigmoidLoss(),
        "part, sigmoid": PartialAUCLoss((0, 0.1)),
        "lambda": LambdaLoss(),
    }


def against_a_matrix(report: Report) -> None:
    """Forward and backward at the size where a matrix of pairs still fits."""
    # half positives: 25 million pairs of 10,000 rows
    logits, _ = rows(SIZES[0])
    labels = (torch.arange(SIZES[0]) % 2).float()
    contestants = {name: step(loss, logits, labels) for name, loss in losses().items()}
    contestants["matrix"] = step(matrix_of_pairs, logits, labels)
    best = time_in_turn(contestants, repeats=3)
    for name in losses():
        report.add(
            f"{name}, 10,000 rows: matrix of pairs / ours",
            best["matrix"].best / best[name].best,
            at_least=20,
            remark=f"{1e3 * best[name].best:.1f} ms",
        )


def against_libauc(report: Report) -> None:
    """Time the same loss in LibAUC, which lists the pairs, if it is installed."""
    try:
        from libauc.losses import PairwiseAUCLoss
    except ImportError:
        print("LibAUC is not installed: its loss is left out")
        return
    logits, _ = rows(SIZES[0])
    labels = (torch.arange(SIZES[0]) % 2).float()
    best = time_in_turn(
        {
            "ours": step(losses()["logistic"], logits, labels),
            "theirs": step(PairwiseAUCLoss("logistic"), logits, labels),
        },
        repeats=3,
    )
    report.add(
        "logistic, 10,000 rows: LibAUC / ours",
        best["theirs"].best / best["ours"].best,
        at_least=20,
    )


def on_tensors(report: Report) -> None:
    """Time operations on tensors where the kernels could run, to see who is faster."""
    from aucmax.torch._tensor_risk import TensorBatch

    logits, labels = rows(SIZES[1])
    for name, loss in losses().items():

        def by_tensors(form=loss.form):
            batch = TensorBatch.of(logits, labels, None, None)
            return batch.value_and_gradient(form)

        calls = {"kernels": step(loss, logits, labels), "tensors": by_tensors}
        best = time_in_turn(calls, repeats=2)
        report.add(
            f"{name}, 100,000 rows: tensors / kernels",
            best["tensors"].best / best["kernels"].best,
            remark=f"{1e3 * best['tensors'].best:.0f} ms by tensors",
        )


def growth(report: Report) -> None:
    """Ten times the rows cost about ten times as much, if caches are not shared."""
    for name, loss in losses().items():
        few, many = (step(loss, *rows(size)) for size in SIZES[1:])
        best = time_in_turn({"few": few, "many": many}, repeats=5)
        report.add(
            f"{name}: 1,000,000 / 100,000 rows",
            best["many"].best / best["few"].best,
            at_most=15,
            remark=f"{1e3 * best['few'].best:.0f} and {1e3 * best['many'].best:.0f} ms",
        )


def overhead(report: Report) -> None:
    """Milliseconds that a small batch costs more than with BCE."""
    for size in (256, 1024):
        batch = rows(size)
        contestants = {name: step(loss, *batch) for name, loss in losses().items()}
        contestants["BCE"] = step(torch.nn.BCEWithLogitsLoss(), *batch)
        best = time_in_turn(contestants, repeats=50)
        for name in losses():
            report.add(
                f"{name}, {size:,} rows: ours - BCE",
                1e3 * (best[name].best - best["BCE"].best),
                "ms",
                at_most=1,
            )


def metric(report: Report) -> None:
    """Time the AUC of a million scores, and torchmetrics' if it is installed."""
    from aucmax.torch import AUROC

    try:
        from torchmetrics.functional.classification import binary_auroc
    except ImportError:
        print("torchmetrics is not installed: its metric is left out")
        return
    logits, labels = rows(SIZES[2])
    scores, targets = logits.detach().sigmoid(), labels.long()

    def ours():
        found = AUROC()
        found.update(scores, targets)
        return found.compute()

    best = time_in_turn(
        {"ours": ours, "theirs": lambda: binary_auroc(scores, targets)}, repeats=3
    )
    report.add(
        "AUROC, 1,000,000 rows: torchmetrics / ours",
        best["theirs"].best / best["ours"].best,
        at_least=5,
        remark=f"{1e3 * best['ours'].best:.0f} ms",
    )
