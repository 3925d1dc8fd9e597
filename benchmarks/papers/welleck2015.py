"""The experiments of Welleck (ECIR 2016) on data that we have.

``python -m benchmarks.papers.welleck2015 --out DIR`` trains LambdaMART for the MAUC,
the SVM baseline, and the ranking objectives of LightGBM and XGBoost on four data sets
of several levels of relevance, prints the tables, and writes
``docs/studies/welleck2015.md`` with its pictures. Each fold of each method becomes a
file in DIR; what is there already is not run again. ``--only`` names some methods,
``--data`` some data sets; then the page is written only where ``--output`` says. Data
sets are looked for in ``AUCMAX_DATA``; those that are not there are left out. The text
of the page is in ``welleck2015_template.md``: after a run that differs, check its
sentences against the new figures. XGBoost must be installed.
"""

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.papers import welleck2015_page as page
from benchmarks.papers.narasimhan2013 import DOCS, processes, show
from benchmarks.papers.records import data_there
from benchmarks.papers.welleck2015_data import ALL_DATA, N_PARTS, missing
from benchmarks.papers.welleck2015_methods import METHODS
from benchmarks.papers.welleck2015_protocol import read, run_tasks, task


def main() -> None:
    """Run from the shell."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, required=True, help="folder of the results")
    parser.add_argument("--only", nargs="+", choices=METHODS, metavar="METHOD")
    parser.add_argument("--data", nargs="+", choices=ALL_DATA, metavar="DATA")
    parser.add_argument("--jobs", type=int, default=1, help="processes (default 1)")
    parser.add_argument("--output", type=Path, help="folder of the page (default docs)")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    tasks = [
        task(options.out, data, number, method)
        for data in data_there(options.data or ALL_DATA, missing)
        for number in range(N_PARTS)
        for method in options.only or METHODS
    ]
    with processes(options.jobs) as pool:
        run_tasks(tasks, pool, show)
    found = [result for one in tasks if (result := read(one)) is not None]
    is_whole = not options.only and not options.data
    with TemporaryDirectory() as temporary:
        folder = options.output or (DOCS if is_whole else Path(temporary))
        print(page.write(found, folder))


if __name__ == "__main__":
    main()
