"""Losses over all pairs in PyTorch: against a matrix of pairs, and against BCE."""

from benchmarks.gates import gate, ratio


def step(loss, n_rows: int, every: int = 2):
    """Return a call that computes a loss and its gradient."""
    import torch

    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(0)
    labels = (torch.arange(n_rows) % every == 0).float()
    logits = torch.randn(n_rows, generator=generator).requires_grad_()

    def call() -> None:
        logits.grad = None
        loss(logits, labels).backward()

    return call


@gate("PairLogisticLoss / a matrix of pairs, 10,000 rows", at_most=0.05)
def against_a_matrix() -> float:
    import torch

    from aucmax.torch import PairLogisticLoss

    def matrix_of_pairs(logits, labels):
        gaps = logits[labels == 1][:, None] - logits[labels == 0][None, :]
        return torch.nn.functional.softplus(-gaps).mean()

    return ratio(step(PairLogisticLoss(), 10_000), step(matrix_of_pairs, 10_000), 3)


@gate("PairLogisticLoss / BCE, a batch of 1,024 rows", at_most=25.0)
def small_batches() -> float:
    import torch

    from aucmax.torch import PairLogisticLoss

    bce = torch.nn.BCEWithLogitsLoss()
    # the first hundreds run as Python, before the loops are compiled
    return ratio(step(PairLogisticLoss(), 1024), step(bce, 1024), repeats=1000)
