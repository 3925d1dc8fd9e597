"""Standard streams that never raise: what cannot be printed costs no file."""

import errno
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["lenient_streams", "output_error"]


class _Stream(io.FileIO):
    """A standard stream; `error` is the last failure to write."""

    error: OSError | None = None

    def write(self, data: Any) -> int:
        """Write some of the bytes, or lose all of them."""
        try:
            if (n_written := super().write(data)) is not None:
                return n_written
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        except OSError as error:
            self.error = error
        return memoryview(data).nbytes


@contextmanager
def lenient_streams() -> Iterator[None]:
    """Let nothing that is printed raise, unless others have replaced the streams."""
    # A closed stream would give its number to the next file, where C code would print.
    # This one can be read alone, so that writing to it is an error that is noticed.
    while (spare := os.open(os.devnull, os.O_RDONLY)) <= 2:
        pass
    os.close(spare)
    before = sys.stdout, sys.stderr
    sys.stdout = _lenient(1, sys.stdout, sys.__stdout__)
    sys.stderr = _lenient(2, sys.stderr, sys.__stderr__)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def _lenient(number: int, stream: Any, original: Any) -> Any:
    if stream is not original:
        return stream
    raw = _Stream(number, "w", closefd=False)
    encoding = getattr(stream, "encoding", "utf-8")
    errors = getattr(stream, "errors", "backslashreplace")
    buffer = io.BufferedWriter(raw)
    return io.TextIOWrapper(buffer, encoding, errors, line_buffering=True)


def output_error() -> OSError | None:
    """Return why some of the output is lost, or None."""
    raw = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    return raw.error if isinstance(raw, _Stream) else None
