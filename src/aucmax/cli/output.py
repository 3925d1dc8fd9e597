"""Output of commands: results, notes, progress, JSON, files."""

import json
import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import wraps
from pathlib import Path
from typing import Any

import click

from aucmax.cli.entry_point import echo, output_errors, printable

REPORTS = (".html", ".htm", ".md")
TABLES = (".csv", ".tsv", ".parquet")


class Console:
    """Results on the output stream, everything else on the error stream."""

    def __init__(self, as_json: bool = False, is_quiet: bool = False) -> None:
        self.as_json = as_json  # one JSON object alone on the output stream
        self.is_quiet = is_quiet  # nothing but errors on the error stream
        self.files: list[str] = []  # that are written
        self.exit_code = 0

    def write(
        self, path: Path, write: Callable[[Path], object], line: str = ""
    ) -> str | None:
        """Write a file, print a `line` with its place, and return that; None for none.

        If that fails, a temporary folder gets the file, and the command continues.
        """
        place = path
        try:
            write(path)
        except Exception as error:
            program: Any = click.get_current_context().find_root().command
            self.exit_code = program.report(error)
            place = Path(tempfile.mkdtemp(prefix="aucmax-"), path.name)
            try:
                write(place)
            except Exception:
                place.parent.rmdir()
                echo(f"{path.name} could not be written anywhere.", err=True)
                return None
            echo(f"{path.name} is in {place} instead.", err=True)
        self.files.append(str(place))
        if line:
            self.say(line.format(place))
        return str(place)

    def say(self, text: str = "") -> None:
        """Print a line of the result, unless the result is JSON."""
        if not self.as_json:
            echo(text)

    def note(self, text: str) -> None:
        """Print a remark on the error stream."""
        if not self.is_quiet:
            echo(f"note: {text}", err=True)

    def notes(self, lines: Iterable[object]) -> None:
        """Print remarks on the error stream."""
        for line in lines:
            self.note(str(line))

    def print_json(self, record: dict[str, object]) -> None:
        """Print the result as JSON, if that is wanted."""
        if self.as_json:
            echo(json.dumps(record, indent=2, allow_nan=False), is_raw=True)

    @contextmanager
    def progress(self, title: str, n_steps: int) -> Iterator[Callable[..., None]]:
        """Yield a function to call with a line of progress after each step."""
        if self.is_quiet:
            yield lambda *_: None
        elif sys.stderr is not None and sys.stderr.isatty():
            with click.progressbar(
                length=n_steps,
                label=printable(title),
                item_show_func=lambda line: line and printable(line),
                show_eta=False,
                show_percent=False,
                show_pos=True,
                fill_char="━",
                empty_char=" ",
                width=20,
                file=sys.stderr,
            ) as bar:

                def step(line: str, n: int = 1) -> None:
                    with suppress(OSError):
                        bar.update(n, line)

                yield step
        else:
            echo(f"{title} ...", err=True)

            def step(line: str, n: int = 1) -> None:
                echo(f"  {line}", err=True)

            yield step

    @contextmanager
    def warnings_as_notes(self) -> Iterator[None]:
        """Print each different warning once, as a note, when it comes."""
        seen: set[str] = set()

        def show(message: Warning | str, *_: Any, **__: Any) -> None:
            if str(message) not in seen:
                seen.add(str(message))
                self.note(str(message))

        with warnings.catch_warnings():
            # deprecations inside other packages do not concern the user
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", UserWarning)
            warnings.simplefilter("always", RuntimeWarning)
            warnings.showwarning = show
            yield


def with_console(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of all commands; the command gets a `console`."""

    @click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
    @click.option("--quiet", "-q", is_flag=True, help="Print no progress and no notes.")
    @wraps(command)
    def wrapped(*args: Any, as_json: bool, quiet: bool, **options: Any) -> None:
        console = Console(as_json, quiet)
        try:
            with console.warnings_as_notes():
                command(*args, console=console, **options)
            if console.exit_code:
                raise click.exceptions.Exit(console.exit_code)
        finally:
            if console.files and (sys.exc_info()[0] or output_errors):
                echo(f"Written: {', '.join(console.files)}", err=True)

    return wrapped


def make_folder(folder: Path) -> None:
    """Create the folder of the results, with those above it, unless it exists."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise click.ClickException(
            f"{folder} is a file; name a folder for the results."
        ) from error


def check_outputs(
    outputs: Iterable[Path | None],
    force: bool,
    inputs: Iterable[Path] = (),
    *,
    makes_folder: bool = False,
) -> None:
    """Reject outputs that exist, would replace an input, or cannot be written."""
    rejected = {os.path.realpath(path): "is an input" for path in inputs}
    for path in filter(None, outputs):
        if (place := os.path.realpath(path)) in rejected:
            raise click.ClickException(
                f"{path} {rejected[place]}; choose another name for the output."
            )
        rejected[place] = "is named for two outputs"
        if path.exists() and not path.is_file():
            raise click.ClickException(f"{path} is a folder or a device; name a file.")
        if path.exists() and not force:
            raise click.ClickException(
                f"{path} exists; choose another name, or replace it with --force."
            )
        folder = path.parent
        if makes_folder and not folder.exists():
            folder = folder.parent
        if not folder.is_dir():
            raise click.ClickException(f"there is no folder {folder}; create it first.")
        for existing in (folder, *([path] if path.exists() else [])):
            if not os.access(existing, os.W_OK):
                raise click.ClickException(f"no permission to write in {existing}.")


def check_ending(path: Path | None, endings: Sequence[str]) -> None:
    """Reject a file of a format that cannot be written, before the work."""
    if path is not None and path.suffix.lower() not in endings:
        raise click.ClickException(
            f"{path}: the name must end in one of {', '.join(endings)}."
        )
