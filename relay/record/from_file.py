"""Events that are stamped already, from a file: every line's bytes as they are, keyed by the run id they name."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ethogram import ParseError, parse_envelope


class Line(NamedTuple):
    """One line of a file.

    Attributes:
        number: Its 1-based number.
        key: The run id that it names, None where none can be read.
        value: Its bytes without the line's end.
        fault: Why its envelope cannot be read, by place and position, never content; None for one that can.
    """

    number: int
    key: bytes | None
    value: bytes
    fault: str | None


def read_lines(lines: Iterable[bytes]) -> Iterator[Line]:
    """Read lines, passing over empty ones.

    Args:
        lines: The lines, their ends included.

    Yields:
        What each line is; its value is not parsed further than to find the run.
    """
    for number, line in enumerate(lines, start=1):
        value = line.removesuffix(b"\n").removesuffix(b"\r")
        if value:
            yield _line(number, value)


def _line(number: int, value: bytes) -> Line:
    try:
        return Line(number, parse_envelope(value).run_id.encode(), value, None)
    except ParseError as error:
        return Line(number, None if error.run_id is None else error.run_id.encode(), value, str(error))
