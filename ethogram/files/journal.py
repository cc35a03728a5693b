"""One append-only file of events: opened, mended at its end, appended to, and closed.

It must never change a byte before the last line feed, number an event, or keep events in memory. It is not safe to
call from several threads or from within itself; the sinks take turns.

Opening, in order: 1. open and lock; 2. read every line, which restores what each run takes next; 3. keep or cut what
follows the last line feed; 4. flush, for an earlier writer may have been killed before it did.

Appending, in order: 1. `gate` settles what an interrupted append left; 2. one write of line and line feed; 3. flush, as
the policy says; 4. memory moves. A failure in 2 is undone; one in 3 leaves the file in doubt and the journal broken.

Spec: The envelope
"""

import os
import weakref
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NoReturn

from ethogram.canonical import serialise_event
from ethogram.envelope import Event
from ethogram.errors import ParseError
from ethogram.files import disk
from ethogram.files.disk import Fsync
from ethogram.files.errors import SinkBrokenError, SinkClosedError
from ethogram.files.reader import EventReader
from ethogram.gate import Gate
from ethogram.parse import parse_event
from ethogram.vocabulary.run import RUN_FINISHED


@dataclass(frozen=True, slots=True)
class Recovery:
    """What was done to bytes behind the last line feed when a file was opened.

    Attributes:
        path: the file.
        byte_offset: where those bytes begin, in bytes from the file's start. Nothing before it was touched.
        bytes_count: how many there were.
        kept: True where they were the whole next event of its run, so that only its line feed was missing and was
            written; False where they were cut off.
    """

    path: Path
    byte_offset: int
    bytes_count: int
    kept: bool


class Journal:
    """A file with one writer.

    Attributes:
        path: the file.
        recovery: what opening did to a torn end, or None where there was none.
    """

    def __init__(self, path: Path, fsync: Fsync, run_id: str | None = None) -> None:
        """Open a file and make it where there is none.

        Args:
            path: the file; its directory is there.
            fsync: when to flush.
            run_id: the one run that the file may hold, or None for any number of them.

        Raises:
            SinkLockedError: another has it.
            FileDamagedError: a whole line is not the next event of its run, or the bytes behind the last line feed are
                a whole event that is not. Nothing was changed.
            SinkFileError: it is no regular file.
            OSError: it cannot be opened, read, mended or flushed.
        """
        self.path: Path = path
        self.recovery: Recovery | None = None
        self._fsync = fsync
        self._pending: tuple[Event, int] | None = None
        self._broken = ""
        self._is_unsynced = False
        self._file = disk.open_locked(path)
        try:
            reader = EventReader(path, run_id=run_id)
            deque(reader.read(self._file.fileno(), os.fstat(self._file.fileno()).st_size), maxlen=0)
            self._gate, self._size_bytes = reader.gate, reader.byte_offset
            self._mend(reader)
            if fsync != "never":
                disk.sync_file(self._file.fileno())
                disk.sync_directory(path.parent)
        except BaseException:
            self.abandon()
            raise
        _open_journals.add(self)

    def gate(self) -> Gate:
        """Give what every run takes next, once the file is known to be as it was left.

        Raises:
            SinkClosedError: it was closed.
            SinkBrokenError: what the disk holds is in doubt.

        Spec: The envelope
        """
        self._settle()
        return self._gate

    def append(self, event: Event) -> None:
        """Write an event; `gate` was asked right before, and let it pass.

        Args:
            event: the next of its run.

        Raises:
            OSError: it could not be written, as on a full disk. The file is as before, and the journal goes on.
            SinkBrokenError: it could not be flushed, or half of it could not be taken back.

        Spec: The envelope
        """
        line = serialise_event(event) + b"\n"
        self._pending = event, len(line)
        self._is_unsynced = True
        try:
            _write_whole(self._file.fileno(), line)
        except OSError:
            self._undo()
            raise
        if self._fsync == "append" or (self._fsync == "finish" and event.type == RUN_FINISHED.name):
            self._sync()
        self._take(event, len(line))

    def close(self) -> None:
        """Settle what was interrupted, flush as the policy says, and give the lock up. To close twice is to close once.

        Raises:
            SinkBrokenError: it could not be settled or flushed. It is closed all the same.

        Spec: The envelope
        """
        if self._file.closed:
            return
        try:
            if self._pending is not None and not self._broken:
                self._settle()
            if self._is_unsynced and not self._broken and self._fsync != "never":
                self._sync()
        finally:
            self.abandon()

    def abandon(self) -> None:
        """Close the file and do nothing else."""
        self._file.close()

    def _mend(self, reader: EventReader) -> None:
        """Keep what follows the last line feed where it is the whole next event, and cut it off where it is a part."""
        bytes_count = os.fstat(self._file.fileno()).st_size - self._size_bytes
        if not bytes_count:
            return
        tail = _read_whole(self._file.fileno(), self._size_bytes, bytes_count)
        try:
            parse_event(tail)
        except ParseError:
            os.ftruncate(self._file.fileno(), self._size_bytes)
            self.recovery = Recovery(self.path, self._size_bytes, bytes_count, kept=False)
            return
        # No beginning of an event is an event, so this one is whole. Where it is not the next of its run no sink wrote
        # it, and cutting it off would destroy what may be needed: that is damage.
        event = reader.judge(tail)
        _write_whole(self._file.fileno(), b"\n")
        self.recovery = Recovery(self.path, self._size_bytes, bytes_count, kept=True)
        self._take(event, bytes_count + 1)

    def _take(self, event: Event, bytes_count: int) -> None:
        """Let memory follow the file."""
        self._gate.take(event)
        self._size_bytes += bytes_count
        self._pending = None

    def _settle(self) -> None:
        """Hold the file to what is known of it, and decide on an append that an exception from outside interrupted."""
        if self._file.closed:
            raise SinkClosedError(self.path, "one that was closed")
        if self._broken:
            raise SinkBrokenError(self.path, self._broken)
        status = os.fstat(self._file.fileno())
        if self._pending is not None:
            event, bytes_count = self._pending
            if status.st_size == self._size_bytes + bytes_count:  # All of it is there: followers may have read it.
                self._take(event, bytes_count)
            elif self._size_bytes <= status.st_size < self._size_bytes + bytes_count:
                self._undo()
                return
        if status.st_size != self._size_bytes:
            self._break(f"got {status.st_size} bytes where {self._size_bytes} were written")
        if not status.st_nlink:
            self._break("got one that was removed")

    def _undo(self) -> None:
        try:
            os.ftruncate(self._file.fileno(), self._size_bytes)
        except OSError as error:
            self._break("got a failed write that could not be taken back", error)
        self._pending = None

    def _sync(self) -> None:
        try:
            disk.sync_file(self._file.fileno())
        except OSError as error:
            self._break("got a failed flush", error)
        self._is_unsynced = False

    def _break(self, reason: str, cause: OSError | None = None) -> NoReturn:
        self._broken = reason
        raise SinkBrokenError(self.path, reason) from cause


def _write_whole(descriptor: int, line: bytes) -> None:
    """Write all of it: a short write on a file means that the next one fails and says why, or goes on."""
    written_bytes = os.write(descriptor, line)
    while written_bytes < len(line):
        written_bytes += os.write(descriptor, line[written_bytes:])


def _read_whole(descriptor: int, byte_offset: int, bytes_count: int) -> bytes:
    parts = []
    while bytes_count and (part := os.pread(descriptor, bytes_count, byte_offset)):
        parts.append(part)
        byte_offset += len(part)
        bytes_count -= len(part)
    return b"".join(parts)


_open_journals: Final[weakref.WeakSet[Journal]] = weakref.WeakSet()


def _abandon_in_child() -> None:
    """Close the copies of descriptors that a fork made: a child must not hold the lock after its parent's end."""
    for journal in list(_open_journals):
        journal.abandon()


os.register_at_fork(after_in_child=_abandon_in_child)
