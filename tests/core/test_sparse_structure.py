import numpy as np
import pytest
from scipy import sparse

from aucmax._core.row_matrix import check_sparse_structure
from aucmax.graphs import Graph
from aucmax.metrics import unnested_auc_score
from aucmax.tables import TableEncoder


@pytest.mark.parametrize("kind", ["csr", "csc", "bsr", "coo", "lil", "dok", "dia"])
@pytest.mark.parametrize("shape", [(4, 6), (0, 3), (3, 0)])
def test_sound_matrices_pass(kind, shape):
    dense = np.arange(shape[0] * shape[1], dtype=float).reshape(shape) % 3
    check_sparse_structure(sparse.csr_array(dense).asformat(kind))
    check_sparse_structure(dense)


def test_damaged_coordinates_are_rejected():
    matrix = sparse.coo_array(np.eye(3))
    matrix.coords[1][0] = 99
    with pytest.raises(ValueError, match="damaged sparse matrix: axis 1 index 99"):
        check_sparse_structure(matrix)


def test_every_entry_point_checks_the_indices_of_sparse_matrices():
    matrix = sparse.csr_array(np.eye(3))
    matrix.indices[1] = 10**6
    for call in (
        lambda: TableEncoder().fit(matrix),
        lambda: Graph.from_adjacency(np.eye(3), matrix),
        lambda: unnested_auc_score([0, 1, 1], matrix),
    ):
        with pytest.raises(ValueError, match="is a damaged sparse matrix"):
            call()
