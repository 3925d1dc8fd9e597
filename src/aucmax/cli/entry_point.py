"""The program: its help, its streams, and one message and exit code per error."""

import errno
import io
import os
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


_lost: list[OSError] = []  # why results of this command could not be printed


def echo(
    text: str, *, err: bool = False, nl: bool = True, is_raw: bool = False
) -> bool:
    """Print text for the user; return False, and print no more, if that fails.

    So no command ends before its files are written. On a terminal, control characters
    in names and cells are shown, not obeyed; raw text is that of a file.
    """
    name = "stderr" if err else "stdout"
    stream = getattr(sys, name)
    try:
        if stream is None:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        shown = text if is_raw and not stream.isatty() else printable(text)
        click.echo(shown, err=err, nl=nl, color=True if is_raw else None)
    except (OSError, ValueError) as error:  # ValueError: a file that is closed
        setattr(sys, name, None)  # or Python would write the rest when it ends
        if not err:
            if isinstance(error, ValueError):
                error = OSError(errno.EBADF, str(error))
            _lost.append(error)
        return False
    return True


def output_error() -> OSError | None:
    """Return why some of the results are lost, or None."""
    return _lost[0] if _lost else None


def _open_closed_streams() -> None:
    # a closed stream would give its number to the next file, where C code would print
    while (spare := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(spare)


class NothingRankedError(click.ClickException):
    """A model gives all rows the same score: no fault of ours, and of no use."""


class Command(click.Command):
    """A command whose help ends with examples, one per line."""

    def __init__(self, *args: Any, examples: Sequence[str] = (), **extra: Any) -> None:
        super().__init__(*args, **extra)
        self.examples = examples

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples, then the rest."""
        with formatter.section("Examples"):
            for example in self.examples:
                formatter.write(f"  {example}\n")
        super().format_epilog(ctx, formatter)


class CommandGroup(Command, click.Group):
    """A group of commands that never shows a traceback for bad input."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands in the order in which one needs them."""
        return list(self.commands)

    def main(self, *args: Any, **extra: Any) -> NoReturn:
        """Run a command and exit."""
        given = args[0] if args else extra.get("args")
        self.arguments = list(sys.argv[1:] if given is None else given)
        extra["standalone_mode"] = False
        _lost.clear()
        _open_closed_streams()
        try:
            code = super().main(*args, **extra)
        except BaseException as error:
            code = self.report(error)
        lost = output_error()
        if not code and isinstance(lost, BrokenPipeError):
            code = READER_GONE
        elif not code and lost is not None:
            lost.filename = "standard output"
            code = self.report(lost)
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
