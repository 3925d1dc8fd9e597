"""A table in a text file: find out how it is written, check it, parse it."""

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aucmax._core.memory import require_memory
from aucmax.datasets.cells import type_columns
from aucmax.datasets.delimited import Layout, NotUTF8Error, check_delimited
from aucmax.datasets.dialects import SAMPLE_SIZE, Decimals, find_separator
from aucmax.datasets.encodings import (
    SINGLE_BYTE,
    is_single_byte,
    marked_encoding,
    read_text_chunks,
)
from aucmax.datasets.opening import (
    MEMORY_OF_A_CELL,
    MEMORY_OF_TEXT,
    PathLike,
    Piped,
    compression_of,
    size_on_disk,
)
from aucmax.datasets.typed_files import Selection
from aucmax.exceptions import DataFileError

if TYPE_CHECKING:
    import polars as pl

__all__ = ["TextTable"]


class TextTable:
    """A table in a text file: how it is written, as far as that is known."""

    def __init__(
        self,
        path: PathLike,
        compression: str,
        encoding: str,
        quote_char: str | None,
        has_header: bool,
    ) -> None:
        self.path = path
        self.compression = compression
        self.is_found = encoding == "auto"
        self.encoding = (
            marked_encoding(path, compression) if self.is_found else encoding
        )
        self.quote_char = quote_char
        self.has_header = has_header
        self.found: dict[str, str] = {}  # what a parameter might have said

    def read(
        self, separator: str | None, select: Selection
    ) -> tuple["pl.DataFrame", list[str]]:
        """Return the cells, all texts, and the names that the file does not have."""
        try:
            return self._read(separator, select)
        except NotUTF8Error:
            if not self.is_found or not is_single_byte(self.path, self.compression):
                raise
            self.encoding = SINGLE_BYTE
            return self._read(separator, select)

    def _read(
        self, separator: str | None, select: Selection
    ) -> tuple["pl.DataFrame", list[str]]:
        self.separator = separator or self._find_separator()
        is_packed = compression_of(self.path, self.compression) is not None
        # a plain file is parsed where it lies, any other from memory
        is_plain = not is_packed and self.encoding == "utf-8"
        kept: list[bytes] | None = [] if not is_plain else None
        texts = self._chunks()
        layout = check_delimited(
            self.path,
            texts if kept is None else _keeping(texts, kept),
            separator=self.separator,
            quote_char=self.quote_char,
            has_header=self.has_header,
        )
        wanted = select(layout.names)
        size = size_on_disk(self.path)
        n_bytes = size if kept is None else sum(map(len, kept))
        of_cells = MEMORY_OF_A_CELL * layout.n_records * len(wanted)
        require_memory(self.path, of_cells + MEMORY_OF_TEXT * n_bytes, size)
        if kept is not None:
            source: Any = b"".join(kept)
        else:
            source = self.path
            source = source.content if isinstance(source, Piped) else Path(source)
        frame = _parse(self.path, source, layout, self.separator, wanted)
        return frame, layout.unnamed

    def _chunks(self) -> Iterable[bytes]:
        return read_text_chunks(self.path, self.compression, self.encoding)

    def _find_separator(self) -> str:
        sample = b""
        for chunk in self._chunks():
            sample += chunk
            if len(sample) >= SAMPLE_SIZE:
                break
        found = find_separator(sample, self.quote_char)
        if found != ",":
            self.found["separator"] = found
        return found

    def type(
        self,
        frame: "pl.DataFrame",
        text_columns: Collection[str],
        missing: Collection[str],
        decimals: Decimals,
    ) -> "pl.DataFrame":
        """Turn strings into numbers where a whole column allows it."""
        may_be_numbers = frame.drop(text_columns, strict=False)
        decimals._add(self.path, may_be_numbers, missing, self.separator)
        with_commas = decimals._with_commas()
        if with_commas and decimals.choice == "auto":
            self.found["decimal"] = ","
        return type_columns(frame, text_columns, missing, with_commas)

    def remarks(self) -> list[str]:
        """Say what was found out."""
        found = dict(self.found)
        if self.is_found and self.encoding != "utf-8":
            found["encoding"] = self.encoding
        if not found:
            return []
        what = ", ".join(f"{name} {value!r}" for name, value in found.items())
        options = ", ".join(f"--{name}" for name in found)
        return [f"found {what} (to choose another: {options})"]


def _parse(
    path: PathLike, source: Any, layout: Layout, separator: str, wanted: list[str]
) -> "pl.DataFrame":
    import polars as pl

    place = {name: i for i, name in enumerate(layout.names)}
    try:
        frame = pl.read_csv(
            source,
            has_header=False,
            schema=dict.fromkeys(layout.names, pl.String()),
            columns=[place[name] for name in wanted],
            skip_lines=layout.skip_lines,
            separator=separator,
            quote_char=layout.quote_char,
            glob=False,
        )
    except (pl.exceptions.PolarsError, OSError) as error:
        raise DataFileError(f"{path}: {error}") from error
    expected = layout.n_records + layout.n_trailing
    if frame.height != expected:
        raise DataFileError(
            f"{path}: parsed as {frame.height} rows where {expected} were counted; "
            "has the file changed meanwhile?"
        )
    frame = frame.select(wanted).head(layout.n_records)
    if len(layout.names) > 1 and layout.blanks.size:
        keep = pl.Series([True]).new_from_index(0, frame.height)
        keep = keep.scatter(layout.blanks, False)
        frame = frame.filter(keep)
    return frame


def _keeping(texts: Iterable[bytes], kept: list[bytes]) -> Iterable[bytes]:
    for text in texts:
        kept.append(text)
        yield text
