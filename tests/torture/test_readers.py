"""Files that no one should have written: read as others read them, or rejected."""

import csv
import io
import random
import warnings

import numpy as np
import pytest

from aucmax.datasets import load_svmlight, load_table
from aucmax.exceptions import DataFileError
from datasets.test_svmlight import check_against_scikit_learn
from persistence.test_model_file_fuzz import MUTATIONS
from torture.amount import times


@pytest.fixture
def write(tmp_path):
    def write(content):
        path = tmp_path / "data.svm"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def test_svmlight_files_are_read_as_by_scikit_learn_or_rejected_by_both(write):
    for seed in range(1000, 1000 + times(20, 50_000)):
        check_against_scikit_learn(write, seed)


CELLS = ["1", "-2.5", "a", "", "x,y", 'say "no"', "two\nlines", " b ", "größe", "NA"]


def random_table(draw):
    """Return rows of cells, the first of which are names, and their text."""
    n_columns = draw.randint(2, 5)
    rows = [[f"c{k}" for k in range(n_columns)]]
    rows += [
        [draw.choice(CELLS[:3])] + [draw.choice(CELLS) for _ in range(n_columns - 1)]
        for _ in range(draw.randint(1, 6))
    ]
    text = io.StringIO()
    csv.writer(text, lineterminator=draw.choice(["\n", "\r\n"])).writerows(rows)
    return rows, text.getvalue()


def test_tables_hold_the_cells_that_were_written(tmp_path):
    draw, path = random.Random(0), tmp_path / "data.csv"
    for _ in range(times(30, 5000)):
        rows, text = random_table(draw)
        path.write_bytes(text.encode())
        names = rows[0]
        frame = load_table(path, text_columns=names, missing=[], separator=",")
        assert frame.columns == names
        cells = [["" if c is None else c for c in row] for row in frame.rows()]
        # blanks around a cell are not part of it
        assert [[c.strip() for c in row] for row in cells] == [
            [cell.strip() for cell in row] for row in rows[1:]
        ], text


def test_damaged_files_are_read_or_rejected_by_one_exception(tmp_path):
    draw = random.Random(1)
    readers = (
        (load_table, "data.csv", b'a,b,c\n1,"x,y",2.5\n2,z,\n3,"say ""no""",7\n' * 3),
        (load_svmlight, "data.svm", b"1 1:2.5 3:1e-3 # n\n-1 qid:3 2:4\n" * 3),
        (load_svmlight, "data.txt", b"2 qid:1 1:0.5 2:1\n0 qid:1 1:2 2:3 #docid\n" * 3),
    )
    for _ in range(times(60, 30_000)):
        reader, name, content = draw.choice(readers)
        path = tmp_path / name
        path.write_bytes(draw.choice(MUTATIONS)(content, draw))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                rows = reader(path)
            except DataFileError:
                continue
        assert np.isfinite(getattr(rows, "y", np.zeros(1))).all()
