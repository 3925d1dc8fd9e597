"""The program: its help, its streams, and one message and exit code per error."""

import errno
import io
import shlex
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import click

BAD_INPUT = 2
FAULT = NO_RESULT = 1
INTERRUPTED = 130
# what a program killed by SIGPIPE leaves behind, as `cat` and `grep` do
READER_GONE = 141
# Characters that move the cursor, change colors or the direction of text: all control
# characters but the end of a line and the tab, and the marks of direction.
_UNPRINTABLE = {
    code: f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"
    for code in (*range(9), *range(11, 32), *range(127, 160), 0x200E, 0x200F, 0x2028,
                 0x2029, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
}  # fmt: skip


def printable(text: str) -> str:
    """Write control characters, which names in a file may hold, as escapes."""
    return text.translate(_UNPRINTABLE)


output_errors: list[OSError] = []  # of printing the results of this command


def echo(
    text: str, *, err: bool = False, nl: bool = True, is_raw: bool = False
) -> bool:
    """Print text for the user; return False, and print no more, if that fails.

    So no command ends before its files are written. On a terminal, control characters
    in names and cells are shown, not obeyed; raw text is that of a file.
    """
    name = "stderr" if err else "stdout"
    stream = getattr(sys, name)
    if stream is None:  # closed, as by >&-, or by an earlier error
        if not err and not output_errors:
            output_errors.append(OSError(errno.EBADF, "is closed"))
        return False
    to_file = is_raw and not stream.isatty()
    try:
        shown = text if to_file else printable(text)
        click.echo(shown, err=err, nl=nl, color=True if is_raw else None)
    except OSError as error:
        setattr(sys, name, None)  # or Python would write again when it ends
        if not err:
            output_errors.append(error)
        return False
    return True


class NothingRankedError(click.ClickException):
    """A model gives all rows the same score: no fault of ours, and of no use."""


class Command(click.Command):
    """A command whose help ends with examples, one per line."""

    def __init__(self, *args: Any, examples: Sequence[str] = (), **extra: Any) -> None:
        super().__init__(*args, **extra)
        self.examples = examples

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse options; explain those of other programs for censored times."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            has_times = any(one.name == "duration" for one in self.params)
            if has_times and error.option_name in ("--time", "--event"):
                raise click.UsageError(
                    f"there is no {error.option_name}: for censored times, name the "
                    "column of times until the event or censoring with --duration, and "
                    "that of the event with --target; --times orders rows in time.",
                    ctx,
                ) from error
            raise

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples, then the epilog."""
        with formatter.section("Examples"):
            for example in self.examples:
                formatter.write(f"  {example}\n")
        super().format_epilog(ctx, formatter)


class CommandGroup(Command, click.Group):
    """A group of commands that never shows a traceback for bad input."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands in the order of use."""
        return list(self.commands)

    def main(self, *args: Any, **extra: Any) -> NoReturn:
        """Run a command and exit."""
        arguments = args[0] if args else extra.get("args")
        self.arguments = list(sys.argv[1:] if arguments is None else arguments)
        output_errors.clear()
        try:
            code = super().main(*args, **{**extra, "standalone_mode": False})
        except BaseException as error:
            code = self.report(error)
        if not code and output_errors:
            lost = output_errors[0]
            lost.filename = "standard output"
            is_pipe = isinstance(lost, BrokenPipeError)
            code = READER_GONE if is_pipe else self.report(lost)
        sys.exit(code if isinstance(code, int) else 0)

    def report(self, error: BaseException) -> int:
        """Print what went wrong; return the exit code."""
        if isinstance(error, SystemExit):
            return error.code if isinstance(error.code, int) else FAULT
        if isinstance(error, click.exceptions.Abort) and error.__cause__ is not None:
            error = error.__cause__  # click takes an EOFError of ours for Ctrl-D
        if isinstance(error, click.exceptions.Abort | KeyboardInterrupt):
            echo("Interrupted. No file was left half-written.", err=True)
            return INTERRUPTED
        if isinstance(error, click.ClickException):
            shown = io.StringIO()
            error.show(shown)
            echo(shown.getvalue(), err=True, nl=False)
            return NO_RESULT if isinstance(error, NothingRankedError) else BAD_INPUT
        message = _explain(error)
        if message is not None:
            echo(f"Error: {message}", err=True)
            return BAD_INPUT
        echo("".join(traceback.format_exception(error)), err=True, nl=False)
        echo(
            "This is a fault in aucmax. Please report what is printed above.", err=True
        )
        return FAULT


def typed_command(ctx: click.Context) -> str:
    """Return the command as it was typed, without folders of this machine."""
    arguments = getattr(ctx.find_root().command, "arguments", [])
    names = (Path(a).name if Path(a).is_absolute() else a for a in arguments)
    return shlex.join(["aucmax", *names])


def _explain(error: BaseException) -> str | None:
    """Message for an error that the user can correct; None for any other."""
    from aucmax.exceptions import IncompatibleError

    text = str(error)
    if isinstance(error, OSError):
        reason = error.strerror or str(error)
        return f"{error.filename}: {reason}" if error.filename else reason
    if isinstance(error, ModuleNotFoundError):
        return f"{error}; install it, for example with pip."
    if isinstance(error, MemoryError):
        return f"not enough memory ({text or 'no details'}). Use fewer rows or columns."
    if isinstance(error, ValueError | IncompatibleError | ImportError):
        return text
    return None
