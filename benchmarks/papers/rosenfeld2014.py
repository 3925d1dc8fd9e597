"""The experiments of Rosenfeld, Meshi, Tarlow, Globerson (2014) on data that we have.

``python -m benchmarks.papers.rosenfeld2014 --out DIR`` ranks the pixels of noisy
letters, the authors whom an author may publish with next, and the documents of a
query, with and without edges between them, prints the tables, and writes
``docs/studies/rosenfeld2014.md`` with its pictures. Each fold of each method becomes a
file in DIR; what is there already is not run again. ``--data`` names some data sets;
then the page is written only where ``--output`` says. Data sets are looked for in
``AUCMAX_DATA``; those that are not there are left out. The text of the page is in
``rosenfeld2014_template.md``: after a run that differs, check its sentences against the
new figures.
"""

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.papers import rosenfeld2014_page as page
from benchmarks.papers.narasimhan2013 import DOCS, processes, show
from benchmarks.papers.records import data_there
from benchmarks.papers.rosenfeld2014_data import APPLICATIONS, missing
from benchmarks.papers.rosenfeld2014_methods import methods
from benchmarks.papers.rosenfeld2014_protocol import read, run_tasks, task


def main() -> None:
    """Run from the shell."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, required=True, help="folder of the results")
    parser.add_argument("--data", nargs="+", choices=APPLICATIONS, metavar="DATA")
    parser.add_argument("--jobs", type=int, default=1, help="processes (default 1)")
    parser.add_argument("--output", type=Path, help="folder of the page (default docs)")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    tasks = [
        task(options.out, data, number, method)
        for data in data_there(options.data or list(APPLICATIONS), missing)
        for number in range(APPLICATIONS[data].n_folds)
        for method in methods(data)
    ]
    with processes(options.jobs) as pool:
        run_tasks(tasks, pool, show)
    found = [result for one in tasks if (result := read(one)) is not None]
    with TemporaryDirectory() as temporary:
        folder = options.output or (Path(temporary) if options.data else DOCS)
        print(page.write(found, folder))


if __name__ == "__main__":
    main()
