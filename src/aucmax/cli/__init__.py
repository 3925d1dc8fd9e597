"""The command line. Commands import what they need when they run: help is instant."""

try:
    import click
except ModuleNotFoundError as error:
    raise ImportError("the command line needs click: pip install click.") from error

import aucmax
from aucmax.cli.compare import compare
from aucmax.cli.demo import demo
from aucmax.cli.entry_point import CommandGroup
from aucmax.cli.evaluate import evaluate
from aucmax.cli.explain import explain
from aucmax.cli.export_model import export
from aucmax.cli.fit import fit
from aucmax.cli.plan import plan
from aucmax.cli.report import report
from aucmax.cli.score import score

__all__ = ["main"]


@click.group(
    cls=CommandGroup,
    examples=[
        "aucmax demo",
        "aucmax compare patients.csv --target sick",
        "aucmax fit patients.csv --target sick --output sick.aucmax",
        "aucmax score sick.aucmax new-patients.csv > scores.csv",
        "aucmax evaluate sick.aucmax other-patients.csv",
        "aucmax explain sick.aucmax other-patients.csv",
        "aucmax report sick.aucmax other-patients.csv",
        "aucmax export sick.aucmax --to onnx sick.onnx",
        "aucmax plan --auc 0.75 --null 0.65 --power 0.8",
    ],
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 88},
    epilog="Exit codes: 0 success, 1 no model ranks the rows or a bug in aucmax, 2 bad "
    "input, arguments or output, 130 interrupted, 141 the output was closed.",
)
@click.version_option(aucmax.__version__, prog_name="aucmax")
def main() -> None:
    """Train, compare and evaluate models that rank.

    Goals are the AUC, a part of it, the top of the list, censored times and queries.

    DATA is a table (.csv, .tsv, .parquet, .feather, .jsonl, .xlsx) or an svmlight file
    (.svm, .svmlight, .libsvm), plain or compressed (.gz, .bz2, .xz, .zst, .zip).
    """


for command in (demo, compare, fit, score, evaluate, explain, report, export, plan):
    main.add_command(command)
