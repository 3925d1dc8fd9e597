"""A row scores alike from every kind of file, or a warning says why it may not."""

import csv
import json
import random
import string
import warnings
from datetime import date, timedelta
from functools import partial

import numpy as np
import polars as pl
import pytest

from aucmax import AutoRanker
from aucmax.cli.reading import Source, read_options
from torture.amount import times

N_ROWS = 40
WORDS = [
    "north",
    "South ",
    "a,b",
    "x;y",
    'say "no"',
    "two\nlines",
    "größe",
    "日本",
    "-",
]


def word(draw):
    return "".join(draw.choices(string.ascii_letters + " ,;\"'.é\n", k=9))


# each draws what a cell of a column is drawn by
KINDS = {
    "words": lambda draw: partial(draw.choice, draw.sample(WORDS, draw.randint(2, 5))),
    "text": lambda draw: partial(word, draw),
    "codes": lambda draw: lambda: f"{draw.randint(0, 30):03d}",
    "mixed codes": lambda draw: partial(draw.choice, ["10", "20", "007", "A1", "B2"]),
    "booleans": lambda draw: lambda: draw.random() < 0.4,
    "integers": lambda draw: partial(draw.randint, -50, 5000),
    "whole floats": lambda draw: lambda: float(draw.randint(0, 9)),
    "decimals": lambda draw: decimals(draw, draw.choice([1, 3, 3, 15])),
    "tiny and large": lambda draw: (
        lambda: draw.gauss(0, 1) * 10.0 ** draw.randint(-9, 9)
    ),
    "dates": lambda draw: lambda: date(2024, 1, 1) + timedelta(draw.randint(0, 90)),
    "huge integers": lambda draw: lambda: 12345678901234567890 + draw.randint(0, 3),
}


def decimals(draw, n_digits):
    return lambda: round(draw.uniform(1, 900), n_digits)


def random_table(draw):
    """Return cells by name; the first column of numbers has something to learn."""
    cells = {"signal": [round(draw.gauss(0, 100)) for _ in range(N_ROWS)]}
    for k, kind in enumerate(draw.choices(list(KINDS), k=draw.randint(2, 5))):
        cell, share = KINDS[kind](draw), draw.choice([0, 0, 0, 0.05, 0.5])
        cells[f"{kind} {k}"] = [
            None if draw.random() < share else cell() for _ in range(N_ROWS)
        ]
    return cells


def frame_of(cells):
    """Return a typed frame; integers beyond 64 bits are text, for lack of a type."""
    is_huge = {n: n.startswith("huge") for n in cells}
    return pl.DataFrame(
        {
            name: [str(c) if is_huge[name] and c is not None else c for c in column]
            for name, column in cells.items()
        }
    )


def write_text(cells, path, draw, *, separator, decimal):
    """Write a CSV file as programs do; booleans in one of their spellings."""
    yes, no = draw.choice([("True", "False"), ("TRUE", "FALSE"), ("true", "false")])
    missing = draw.choice(["", "NA"])

    def shown(cell):
        if cell is None:
            return missing
        if isinstance(cell, bool):
            return yes if cell else no
        if isinstance(cell, float):
            return repr(cell).replace(".", decimal)
        return str(cell)

    rows = [cells, *(map(shown, row) for row in zip(*cells.values(), strict=True))]
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=separator, lineterminator="\n").writerows(rows)


def write_json(cells, path):
    """Write JSON lines, with integers of any size and dates as text."""
    rows = zip(*cells.values(), strict=True)
    lines = [
        json.dumps(dict(zip(cells, row, strict=True)), default=str, ensure_ascii=False)
        for row in rows
    ]
    path.write_text("\n".join(lines), encoding="utf-8")


def write_marked(separator, decimal):
    return partial(write_text, separator=separator, decimal=decimal)


WRITERS = {
    "comma.csv": write_marked(",", "."),
    "semicolon.csv": write_marked(";", "."),
    "german.csv": write_marked(";", ","),
    "typed.parquet": lambda cells, path, _: frame_of(cells).write_parquet(path),
    "lines.jsonl": lambda cells, path, _: write_json(cells, path),
    "sheet.xlsx": lambda cells, path, _: frame_of(cells).write_excel(path),
}


def options_of(path):
    """Return the options for a file; without them those of training are taken."""
    return {"decimal": ","} if path.name == "german.csv" else {}


def fitted(path, labels):
    """Return a model of a file, as the command line makes it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = Source(path, options_of(path)).read()
        model = AutoRanker(models=[("logistic", {"max_iter": 30})], cv=2)
        model.fit(data.rows, labels)
    model.file_roles_ = {"read_options": data.read_options}
    return model


def scored(model, path):
    """Return the scores of a file, and the warnings by which they may differ.

    Neither a detected separator nor a mark that is certain is a reason to.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        source = Source(path, options_of(path))
        rows = source.read(**read_options(model)).rows
        scores = model.decision_function(rows)
    said = [str(one.message) for one in caught]
    reasons = (
        "points are read as separating",
        "categories of training",
        "treated as missing",
    )
    return scores, [text for text in said if any(why in text for why in reasons)]


@pytest.mark.slow
def test_tables_score_alike_from_every_format_or_with_a_warning(tmp_path):
    n_warned = n_equal = 0
    for seed in range(times(20, 500)):
        draw = random.Random(seed)
        cells = random_table(draw)
        labels = [int(s > draw.gauss(0, 50)) for s in cells["signal"]]
        train = draw.choice(list(WRITERS))
        WRITERS[train](cells, tmp_path / train, draw)
        model = fitted(tmp_path / train, labels)
        n_new = draw.choice([2, N_ROWS])
        new = {name: column[:n_new] for name, column in cells.items()}
        by_format = {}
        for name, write in WRITERS.items():
            write(new, tmp_path / name, draw)
            by_format[name] = scored(model, tmp_path / name)
        silent = {n: scores for n, (scores, said) in by_format.items() if not said}
        n_warned += len(by_format) - len(silent)
        n_equal += len(silent)
        first = next(iter(silent.values()), None)
        for name, scores in silent.items():
            where = f"seed {seed}, {name} and {next(iter(silent))}"
            np.testing.assert_allclose(scores, first, rtol=0, atol=1e-12, err_msg=where)
    assert n_equal > 20 * n_warned, f"{n_equal} files alike, {n_warned} with a warning"
