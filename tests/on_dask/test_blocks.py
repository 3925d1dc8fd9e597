"""Blocks that are not what they should be are named; columns of one frame fit."""

import numpy as np
import pytest

pytest.importorskip("distributed", reason="Dask is not installed")

import dask.dataframe as dd
import pandas as pd

from aucmax import AUCSVC, metrics
from on_dask.parts import cut as cut_rows

pytestmark = pytest.mark.usefixtures("in_this_thread")
N_ROWS, SIZE = 400, 100


def rows():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(N_ROWS, 3))
    y = (X[:, 0] + generator.normal(size=N_ROWS) > 0.5).astype(int)
    return {"X": X, "y": y, "sample_weight": np.ones(N_ROWS), "qid": np.arange(400) % 9}


def too_few(block):
    return block[:-10]


def too_many(block):
    return np.concatenate([block, block[:10]])


def text_blocks(block):
    return np.full(block.shape, "x", dtype=object)


def without_a_column(block):
    return block[:, 1:]


def failing(block):
    raise ZeroDivisionError("no such rows")


def missing_file(block):
    raise FileNotFoundError("part-2.parquet")


FAULTS = {
    too_few: r"block 2 of {} has shape \(90,.* declares \(100,",
    too_many: r"block 2 of {} has shape \(110,.* declares \(100,",
    text_blocks: r"block 2 of {} has shape \(100,.* and type object",
    failing: "partition 2 of {} cannot be computed: ZeroDivisionError: no such rows",
    missing_file: "partition 2 of {} cannot be computed: FileNotFoundError: part-2",
}


def columns_with(name, fault):
    """Cut the columns into blocks, the third of one of which has a fault."""

    def spoil(block, block_info):
        return fault(block) if block_info[0]["chunk-location"][0] == 2 else block

    cut = {key: cut_rows(values, SIZE) for key, values in rows().items()}
    meta = cut[name]._meta
    cut[name] = cut[name].map_blocks(spoil, dtype=cut[name].dtype, meta=meta)
    return cut


def score(X, y, sample_weight, qid):
    del qid
    return metrics.roc_auc_score(y, X[:, 0], sample_weight=sample_weight)


@pytest.mark.parametrize("name", ["X", "y", "sample_weight", "qid"])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_block_that_is_not_as_declared_is_named(name, fault):
    message = FAULTS[fault].format(name)
    with pytest.raises((ValueError, TypeError, RuntimeError), match=message):
        AUCSVC().fit(**columns_with(name, fault))


def test_a_block_with_too_few_columns_is_named():
    message = r"block 2 of X has shape \(100, 2\) .* declares \(100, 3\)"
    with pytest.raises(ValueError, match=message):
        AUCSVC().fit(**columns_with("X", without_a_column))


def test_rows_beyond_those_declared_are_not_cut_off_when_blocks_are_cut_anew():
    columns = columns_with("y", too_many)
    columns["X"] = columns["X"].rechunk({0: 150})
    del columns["qid"]
    with pytest.raises(ValueError, match=r"block 2 of y_true has shape \(110,"):
        score(qid=None, **columns)


def test_a_model_names_the_block_of_the_rows_it_scores():
    columns = columns_with("X", too_few)
    model = AUCSVC().fit(rows()["X"], rows()["y"])
    with pytest.raises(ValueError, match=r"block 2 of X has shape \(90, 3\)"):
        model.decision_function(columns["X"]).compute()
    with pytest.raises(ValueError, match=r"block 2 of X has shape \(90, 3\)"):
        model.score(columns["X"], columns["y"])


# --- parquet: Dask reads several small files at once where few columns are wanted


@pytest.fixture
def folder(tmp_path):
    """Return a folder of 16 small files, with labels, weights and queries."""
    frame = pd.DataFrame(rows()["X"], columns=list("abc"))
    frame["name"] = np.array(["north", "south"])[np.arange(N_ROWS) % 2]
    frame["y"] = np.array(["no", "yes"])[rows()["y"]]
    frame["weight"] = np.random.default_rng(1).uniform(0.5, 2.0, N_ROWS)
    frame["query"] = np.arange(N_ROWS) // 25
    for k in range(16):
        part = frame[25 * k : 25 * k + 25 - k % 3]
        part.to_parquet(tmp_path / f"part-{k:02d}.parquet")
    return tmp_path


def test_columns_of_a_folder_of_small_files_fit_together(folder):
    data = dd.read_parquet(folder)
    local = data.compute()
    names = list("abc")
    assert data["y"].optimize().npartitions < data.npartitions
    columns = data[names], data["y"], data["weight"]
    model = AUCSVC().fit(*columns)  # other models read rows as it does, many times
    rows_here = local[names], local["y"], local["weight"]
    expected = AUCSVC().fit(*rows_here)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-6, atol=1e-9)
    assert model.score(*columns) == pytest.approx(expected.score(*rows_here))


def test_metrics_of_columns_of_a_folder_are_those_of_the_rows(folder):
    data = dd.read_parquet(folder)
    chosen = data[data["a"] > -1.0]
    sizes = data.repartition(partition_size="2kB")
    for table in (data, chosen, sizes, dd.read_parquet(folder, columns=["y", "a"])):
        value = metrics.roc_auc_score(table["y"], table["a"])
        local = table.compute()
        assert value == pytest.approx(metrics.roc_auc_score(local["y"], local["a"]))
    value = metrics.precision_at_k(
        data["y"], data["a"], k=3, qid=data["query"], sample_weight=data["weight"]
    )
    local = data.compute()
    assert value == pytest.approx(
        metrics.precision_at_k(
            local["y"], local["a"], k=3, qid=local["query"],
            sample_weight=local["weight"],
        )
    )  # fmt: skip
