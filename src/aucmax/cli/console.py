"""What the user sees: bars on a terminal, plain lines in a pipe, JSON for machines."""

import json
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

import click

from aucmax.cli.program import remember_debug

__all__ = ["Console", "with_console"]


class Console:
    """Results on the output stream, everything else on the error stream.

    Parameters
    ----------
    as_json : bool
        Print one JSON object and nothing else on the output stream.
    is_quiet : bool
        Print nothing but errors on the error stream.
    """

    def __init__(self, as_json: bool = False, is_quiet: bool = False) -> None:
        self.as_json = as_json
        self.is_quiet = is_quiet

    def say(self, text: str = "") -> None:
        """Print a line of the result, unless the result is JSON."""
        if not self.as_json:
            click.echo(text)

    def note(self, text: str) -> None:
        """Print a remark on the error stream."""
        if not self.is_quiet:
            click.echo(f"note: {text}", err=True)

    def give(self, record: dict[str, Any]) -> None:
        """Print the result as JSON, if that is wanted."""
        if self.as_json:
            click.echo(json.dumps(record, indent=2, allow_nan=False))

    def table(self, header: list[str], rows: list[list[str]]) -> None:
        """Print a table, columns after the first aligned to the right."""
        if self.as_json:
            return
        from rich import box
        from rich.console import Console as Screen
        from rich.table import Table

        screen = Screen(file=sys.stdout, highlight=False)
        if not screen.is_terminal:
            # lines in a file are never folded
            screen.width = 1000
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
        table.padding = (0, 1) if screen.width > 90 else (0, 0)
        for position, title in enumerate(header):
            table.add_column(title, justify="right" if position else "left")
        for row in rows:
            table.add_row(*row)
        screen.print(table)

    @contextmanager
    def progress(self, title: str, n_steps: int) -> Iterator[Callable[[str], None]]:
        """Give a function to call with a line of news after each step."""
        if self.is_quiet:
            yield lambda _: None
        elif sys.stderr.isatty():
            with self._bar(title, n_steps) as step:
                yield step
        else:
            click.echo(f"{title} ...", err=True)
            yield lambda news: click.echo(f"  {news}", err=True)

    @contextmanager
    def _bar(self, title: str, n_steps: int) -> Iterator[Callable[[str], None]]:
        from rich.console import Console as Screen
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
        )

        bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            TextColumn("{task.fields[news]}"),
            console=Screen(file=sys.stderr),
            transient=True,
        )
        with bar:
            task = bar.add_task(title, total=n_steps, news="")
            yield lambda news: bar.update(task, advance=1, news=news)

    @contextmanager
    def warnings_as_notes(self) -> Iterator[None]:
        """Print each different warning once, as a note, when it comes."""
        seen: set[str] = set()

        def show(message: Warning | str, *_: Any, **__: Any) -> None:
            if str(message) not in seen:
                seen.add(str(message))
                self.note(str(message))

        with warnings.catch_warnings():
            # deprecations inside other packages are no concern of the user
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", UserWarning)
            warnings.simplefilter("always", RuntimeWarning)
            warnings.showwarning = show
            yield


def with_console(command: Callable[..., None]) -> Callable[..., None]:
    """Add ``--json``, ``--quiet`` and ``--debug``; the command gets a `console`."""

    @click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
    @click.option("--quiet", "-q", is_flag=True, help="No progress, no notes.")
    @click.option(
        "--debug",
        is_flag=True,
        expose_value=False,
        is_eager=True,
        callback=remember_debug,
        help="Show where an error comes from.",
    )
    @wraps(command)
    def wrapped(*args: Any, as_json: bool, quiet: bool, **options: Any) -> None:
        console = Console(as_json, quiet)
        with console.warnings_as_notes():
            command(*args, console=console, **options)

    return wrapped
