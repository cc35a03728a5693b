"""A sink's file as events: whole lines in order, every run held to its sequence.

It must never write, and never look at what follows the last line feed: that is not yet an event.

Spec: The envelope
"""

import os
from collections.abc import Iterator
from io import FileIO
from pathlib import Path
from typing import Final

from ethogram.envelope import Event
from ethogram.errors import ParseError, RunClosedError, SequenceError
from ethogram.files.errors import FileDamagedError
from ethogram.files.naming import name_of_run
from ethogram.gate import Gate
from ethogram.parse import parse_event

CHUNK_BYTES: Final = 262_144
"""Bytes of one read; a line may be longer."""

_MARK_BYTES_MAX: Final = 4_096
"""Bytes of the last line that are kept to know the file again."""


class EventReader:
    """Reads one file from its start, as far as it goes, and later on from there.

    Attributes:
        path: the file, for errors; it is read by descriptor.
        gate: what every run in the lines read so far takes next.
        byte_offset: where the first line begins that was not read yet.
        lines_count: how many lines were read.
    """

    def __init__(self, path: Path, *, run_id: str | None = None, run_name: str | None = None) -> None:
        """Start before the first line.

        Args:
            path: the file.
            run_id: the one run that the file may hold, or None for any number of them.
            run_name: the name of the file's directory, where that tells which one run it may hold.
        """
        self.path: Path = path
        self.gate: Gate = Gate()
        self.byte_offset: int = 0
        self.lines_count: int = 0
        self._mark = b""
        self._run_id = run_id
        self._run_name = run_name

    def read(self, descriptor: int, end_byte_offset: int) -> Iterator[Event]:
        """Read the whole lines up to a place. It may be left at any event and called again.

        Args:
            descriptor: the file, open for reading; its own position is neither used nor moved.
            end_byte_offset: the file's size, or less.

        Yields:
            The events in order, each the next of its run.

        Raises:
            FileDamagedError: a whole line is not. The reader stays before it.

        Spec: The envelope
        """
        for line in _whole_lines(descriptor, self.byte_offset, end_byte_offset):
            event = self.judge(line)
            self.gate.take(event)
            self.byte_offset += len(line) + 1
            self.lines_count += 1
            self._mark = line
            yield event

    def judge(self, line: bytes) -> Event:
        """Hold one line to what may come next; nothing changes.

        Args:
            line: the line without its line feed.

        Returns:
            Its event.

        Raises:
            FileDamagedError: it is no event, not the next of its run, or of a run that has no place in this file.

        Spec: The envelope
        """
        try:
            event = parse_event(line)
            self.gate.check(event)
        except (ParseError, SequenceError, RunClosedError) as error:
            raise self.damage(str(error)) from error
        if event.run_id != self._run_id and not self._admits(event.run_id):
            raise self.damage("runId: expected the run that this file is named for, got another (run)")
        return event

    def damage(self, reason: str) -> FileDamagedError:
        """Make the error for the line that comes next."""
        return FileDamagedError(self.path, self.lines_count + 1, self.byte_offset, reason)

    def knows(self, descriptor: int) -> bool:
        """Say whether the file still holds, where it was last read, the line that was read there."""
        mark = (self._mark + b"\n")[-_MARK_BYTES_MAX:] if self.lines_count else b""
        return os.pread(descriptor, len(mark), self.byte_offset - len(mark)) == mark

    def _admits(self, run_id: str) -> bool:
        if self._run_name is None:
            return self._run_id is None
        if self._run_id is not None or name_of_run(run_id) != self._run_name:
            return False
        self._run_id = run_id
        return True


def _whole_lines(descriptor: int, byte_offset: int, end_byte_offset: int) -> Iterator[bytes]:
    """The lines that end before a place, without their line feeds."""
    begun: list[bytes] = []
    while byte_offset < end_byte_offset:
        chunk = os.pread(descriptor, min(CHUNK_BYTES, end_byte_offset - byte_offset), byte_offset)
        if not chunk:  # Cut short since its size was asked.
            return
        byte_offset += len(chunk)
        first, *others = chunk.split(b"\n")
        begun.append(first)
        if others:
            yield b"".join(begun)
            begun = [others.pop()]
            yield from others


def read_events(path: str | os.PathLike[str], run_id: str | None = None) -> Iterator[Event]:
    """Replay a sink's file as it is now; `follow` goes on from there.

    Args:
        path: the file; no lock is taken, and a writer is not disturbed.
        run_id: the run whose events are wanted, or None for those of all runs in the file.

    Yields:
        The events in order; a last line without its line feed is not yet one.

    Raises:
        FileDamagedError: a whole line is not the next event of its run.
        FileNotFoundError: there is no such file.

    Spec: The envelope
    """
    with FileIO(path) as file:
        for event in EventReader(Path(path)).read(file.fileno(), os.fstat(file.fileno()).st_size):
            if run_id is None or event.run_id == run_id:
                yield event
