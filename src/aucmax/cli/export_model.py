"""``aucmax export``: a saved model for programs without Python."""

from functools import partial
from pathlib import Path

import click

from aucmax.cli.entry_point import Command
from aucmax.cli.options import force_option, model_argument, output_path
from aucmax.cli.output import Console, check_ending, check_outputs, with_console


@click.command(
    cls=Command,
    short_help="Convert a model to ONNX.",
    examples=["aucmax export sick.aucmax --to onnx sick.onnx"],
)
@model_argument
@click.option(
    "--to",
    "format",
    type=click.Choice(["onnx"]),
    default="onnx",
    show_default=True,
    help="Format of the file.",
)
@force_option
@click.argument("output", type=output_path)
@with_console
def export(
    model: Path, format: str, output: Path, force: bool, console: Console
) -> None:
    """Write MODEL to the file OUTPUT, for programs without Python.

    The file has one input per column and the output score, in double precision, with
    the output probability if the model is calibrated. Needs the extra aucmax[onnx].
    Columns of dates and models of other libraries than LightGBM cannot be exported.
    """
    import aucmax
    from aucmax.onnx import save_onnx, to_onnx

    check_ending(output, (f".{format}",))
    check_outputs([output], force, [model])
    fitted = aucmax.load(model)
    try:
        graph = to_onnx(fitted).graph
    except TypeError as error:
        raise click.ClickException(str(error)) from error
    line = f"Inputs: {', '.join(one.name for one in graph.input)}. Saved to {{}}."
    write = partial(save_onnx, fitted, overwrite=force)
    console.print_json({"output": console.write(output, write, line)})
