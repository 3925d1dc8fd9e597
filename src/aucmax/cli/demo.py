"""``aucmax demo``: a comparison on data that come with the package."""

from functools import partial
from pathlib import Path

import click

from aucmax.cli.compare import results_of, run_comparison
from aucmax.cli.entry_point import Command
from aucmax.cli.options import range_option, without_none
from aucmax.cli.output import Console, check_outputs, make_folder, with_console
from aucmax.cli.reading import Data

_TARGET = "failed"
_MODELS = ("auto", "logistic", "lightgbm", "lambdamart")
# held out, so that there are new rows to evaluate on
_N_NEW = 1000
# few folds and candidates of auto: the demo should end within 45 seconds on two cores,
# with the same result on every machine
_N_FOLDS = 3
_CANDIDATES = ("logistic", "lightgbm-small", "lightgbm", "kernel", "additive")


@click.command(
    cls=Command,
    short_help="Compare models on a simulated table.",
    examples=[
        "aucmax demo",
        "aucmax demo --fpr-range 0 0.05 --output-dir /tmp/demo",
    ],
)
@click.option(
    "--output-dir",
    type=click.Path(path_type=Path),
    default=Path("aucmax-demo"),
    show_default=True,
    help="Folder for the results; files of an earlier demo there are replaced.",
)
@range_option
@with_console
def demo(
    output_dir: Path, fpr_range: tuple[float, float] | None, console: Console
) -> None:
    """Compare models on a simulated table of machines, 7% of which fail.

    The table was chosen to show interactions between columns, which logistic regression
    misses. Nothing is downloaded. The command writes the table, a report and the best
    model to a folder, for you to try the other commands on.
    """
    from aucmax.datasets import load_demo, save_table

    results = output_dir / "machines"
    files = {
        "training": output_dir / "machines.csv",
        "new": output_dir / "new-machines.csv",
        **results_of(results),
    }
    make_folder(output_dir)
    check_outputs(files.values(), force=True)
    table = load_demo()
    training, new = table.head(-_N_NEW), table.tail(_N_NEW)
    console.say(
        "Which of these machines will fail? A simulated table, chosen to show "
        f"interactions.\nTo be quick, auto tries {len(_CANDIDATES)} models here."
    )
    rows, target = training.drop(_TARGET), training[_TARGET]
    data = Data(rows, {"target": _TARGET}, {"target": target})
    option = "" if fpr_range is None else " --fpr-range {:g} {:g}".format(*fpr_range)
    record = run_comparison(
        data,
        _MODELS,
        console,
        pos_label="1",
        results=results,
        command=f"aucmax demo{option}",
        source_name="simulated machines, chosen to show interactions: the first 3,000 "
        "rows of aucmax.datasets.load_demo()",
        candidates=_CANDIDATES,
        cv=_N_FOLDS,
        time_limit=None,
        **without_none(fpr_range=fpr_range),
    )
    for name, rows in (("training", training), ("new", new)):
        console.write(files[name], partial(save_table, rows, overwrite=True))
    console.say(
        f"Table:      {files['training']}\n"
        f"New rows:   {files['new']} (held out)\n\n"
        "Next, try:\n"
        f"  aucmax evaluate {files['model']} {files['new']}\n"
        f"  aucmax score {files['model']} {files['new']} | head\n"
        f"  aucmax report {files['model']} {files['new']}\n"
        f"  aucmax compare {files['training']} --target {_TARGET} --cv 10\n"
        "  aucmax compare YOUR-TABLE.csv --target COLUMN"
    )
    data_files = {
        "data_file": str(files["training"]),
        "new_data_file": str(files["new"]),
    }
    console.print_json({**record, **data_files})
