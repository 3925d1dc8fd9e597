"""Two processes find the gradient that one finds with all rows."""

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import torch.distributed as processes
import torch.multiprocessing as multiprocessing

from aucmax.torch import GatheredLoss, LambdaLoss, PairLogisticLoss, PairSigmoidLoss

torch.set_num_threads(1)
LOSSES = [PairLogisticLoss(), PairSigmoidLoss(), LambdaLoss()]
CUT = 23  # rows of the first process; the second has the rest


def data():
    generator = torch.Generator().manual_seed(0)
    X = torch.randn(60, 3, generator=generator, dtype=torch.float64)
    return X, (torch.arange(60) % 3 == 0).long(), torch.arange(60) % 4


def network():
    torch.manual_seed(1)
    return torch.nn.Sequential(torch.nn.Linear(3, 1), torch.nn.Flatten(0)).double()


def gradients_of(loss, rows, wrap=lambda model: model, **options):
    X, y, _ = data()
    model = network()
    wrapped = wrap(model)  # without it, gradients are not averaged
    loss(wrapped(X[rows]), y[rows], **options).backward()
    return torch.cat([one.grad.ravel() for one in model.parameters()])


def work(rank, folder):
    torch.set_num_threads(1)
    processes.init_process_group(
        "gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=2
    )
    rows = slice(CUT) if rank == 0 else slice(CUT, None)
    wrap = torch.nn.parallel.DistributedDataParallel
    found = [gradients_of(GatheredLoss(loss), rows, wrap) for loss in LOSSES]
    qid = data()[2][rows]
    found.append(gradients_of(GatheredLoss(LOSSES[0]), rows, wrap, qid=qid))
    torch.save(found, f"{folder}/{rank}.pt")
    processes.destroy_process_group()


def test_gradients_of_two_processes_are_those_of_one(tmp_path):
    multiprocessing.spawn(work, (str(tmp_path),), nprocs=2)
    every = slice(None)
    expected = [gradients_of(loss, every) for loss in LOSSES]
    expected.append(gradients_of(LOSSES[0], every, qid=data()[2]))
    for rank in (0, 1):
        found = torch.load(tmp_path / f"{rank}.pt")
        for ours, one in zip(found, expected, strict=True):
            torch.testing.assert_close(ours, one, rtol=1e-10, atol=1e-12)


def with_bad_rows(rank, folder):
    """Try batches that one of two processes cannot take; keep what each says."""
    processes.init_process_group(
        "gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=2
    )
    loss, logits, labels = GatheredLoss(LOSSES[0]), torch.zeros(4), torch.arange(4) % 2
    odd = {"empty": (logits[:0], labels[:0], None), "type": ("no", labels, None)}
    odd["lengths"] = (logits, labels[:3], None)
    odd["qid"] = (logits, labels, torch.zeros(3))
    odd["columns"] = (logits.reshape(2, 2), labels.reshape(2, 2), None)
    odd["qid of one"] = (logits, labels, torch.zeros(4))
    said = {}
    for name, batch in odd.items():
        own_logits, own_labels, qid = batch if rank else (logits, labels, None)
        with pytest.raises((TypeError, ValueError, RuntimeError)) as caught:
            loss(own_logits, own_labels, qid=qid)
        said[name] = f"{caught.type.__name__}: {caught.value}"
    assert loss(logits, labels).item() == pytest.approx(0.6931, abs=1e-4)
    torch.save(said, f"{folder}/{rank}.pt")
    processes.destroy_process_group()


def test_bad_rows_of_one_process_stop_all(tmp_path):
    multiprocessing.spawn(with_bad_rows, (str(tmp_path),), nprocs=2)
    good, bad = (torch.load(tmp_path / f"{rank}.pt") for rank in (0, 1))
    for name in ("empty", "type", "lengths", "qid"):
        assert good[name].startswith("RuntimeError: the input of process 1 is invalid")
        assert not bad[name].startswith("RuntimeError")
    for said in (good, bad):
        assert "same number of columns" in said["columns"]
        assert "none of them qid" in said["qid of one"]


def test_one_process_has_the_loss_itself():
    X, y, qid = data()
    logits = network()(X)
    value = GatheredLoss(PairLogisticLoss())(logits, y, qid=qid)
    assert value.item() == PairLogisticLoss()(logits, y, qid=qid).item()
