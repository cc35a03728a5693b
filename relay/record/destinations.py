"""Where a recorded session's events go, Kafka aside: JSON Lines in a file or on a stream."""

from pathlib import Path
from typing import BinaryIO

from relay.errors import RelayError


class NotWritten(RelayError):
    """Events could not be written; the text says how many and why, never what they hold."""


class Lines:
    """Writes one event a line, as it is, and makes each line visible at once.

    Args:
        out: Where to.
    """

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self._failure: str | None = None
        self._failed_count = 0

    @classmethod
    def appended(cls, path: Path) -> "Lines":
        """Append to a file, which is made if need be. Raises `OSError`."""
        return cls(path.open("ab", buffering=0))

    def write(self, key: bytes | None, value: bytes) -> None:
        """Write one line; a file has no place for the key."""
        del key
        line = value + b"\n"
        try:
            # One write a line, so that recorders which share a file never mix theirs.
            written = self._out.write(line)
            self._out.flush()
        except (OSError, ValueError) as error:
            self._note(getattr(error, "strerror", None) or "it is closed")
            return
        if written != len(line):
            self._note("the line was cut short")

    def close(self) -> None:
        """Let go.

        Raises:
            NotWritten: A line could not be written.
        """
        if self._failure is not None:
            raise NotWritten(f"{self._failed_count} events could not be written: {self._failure}")

    def _note(self, failure: str) -> None:
        self._failure = failure
        self._failed_count += 1
