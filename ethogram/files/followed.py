"""What a follower follows: one file, or all files below a root, each from where it was last left.

It must never keep a file open between two polls: a root may hold more runs than a process may open files.

Spec: The envelope
"""

import os
from collections import deque
from collections.abc import Mapping
from io import FileIO
from pathlib import Path
from typing import Final

from ethogram.bounds import FIRST_SEQ
from ethogram.envelope import Event
from ethogram.errors import EthogramError
from ethogram.files.errors import FileDamagedError, FileReplacedError, SinkFileError
from ethogram.files.naming import is_run_name
from ethogram.files.reader import EventReader
from ethogram.vocabulary.run import RUN_FINISHED

_BATCH_BYTES: Final = 1_048_576
"""Bytes of one file after which a poll gives what it has."""

_EVENTS_ENOUGH: Final = 4_096
"""Events after which a poll looks at no further file."""


class Wanted:
    """Which events are given: of which run, and from which `seq`."""

    def __init__(self, run_id: str | None, from_seq: int | Mapping[str, int]) -> None:
        """Hold the numbers to their bound.

        Args:
            run_id: the one run that is wanted, or None for all.
            from_seq: the 1-based `seq` to begin at, for every run or by run.

        Raises:
            ValueError: one is below 1.
        """
        self.run_id = run_id
        self._by_run = dict(from_seq) if isinstance(from_seq, Mapping) else {}
        self._for_others = FIRST_SEQ if isinstance(from_seq, Mapping) else from_seq
        if min(self._for_others, *self._by_run.values(), FIRST_SEQ) < FIRST_SEQ:
            raise ValueError(f"from_seq: expected integers from {FIRST_SEQ}, got one below it (seq)")

    def has(self, event: Event) -> bool:
        """Say whether an event is to be given.

        Spec: The envelope
        """
        is_of_run = self.run_id is None or event.run_id == self.run_id
        return is_of_run and event.seq >= self._by_run.get(event.run_id, self._for_others)


class FileFollower:
    """One file, read on from the beginning of the first line that was not yet whole.

    Attributes:
        is_finished: whether the one run that is wanted here has its `run.finished`, and that was read.
    """

    def __init__(self, path: Path, wanted: Wanted, *, must_exist: bool, run_name: str | None = None) -> None:
        """Nothing is read before the first poll.

        Args:
            path: the file.
            wanted: which of its events to give.
            must_exist: whether its absence at the first poll is an error.
            run_name: the name of its directory, where that tells which one run it may hold.
        """
        self.is_finished: bool = False
        self._path = path
        self._wanted = wanted
        self._must_exist = must_exist
        self._is_of_one_run = run_name is not None or wanted.run_id is not None
        self._reader = EventReader(path, run_name=run_name)
        self._identity: tuple[int, int] | None = None

    def poll(self) -> list[Event]:
        """Give the next events.

        Returns:
            Events in order; an empty list where nothing is new.

        Raises:
            FileDamagedError: a whole line is not the next event of its run. Events before it were given.
            FileReplacedError: the file is not the one that was read from.
            FileNotFoundError: it must exist and does not.
            OSError: it cannot be read.

        Spec: The envelope
        """
        if self.is_finished:
            return []
        try:
            status = self._path.stat()
            if self._identity == (status.st_dev, status.st_ino) and status.st_size == self._reader.byte_offset:
                return []
            file = FileIO(self._path)
        except FileNotFoundError:
            if self._identity is not None:
                raise self._replaced("no file") from None
            if self._must_exist:
                raise
            return []
        with file:
            return self._read(file.fileno())

    def _read(self, descriptor: int) -> list[Event]:
        status = os.fstat(descriptor)
        self._recognise(descriptor, status)
        events: list[Event] = []
        start_byte_offset = self._reader.byte_offset
        try:
            for event in self._reader.read(descriptor, status.st_size):
                if self._wanted.has(event):
                    events.append(event)
                if event.type == RUN_FINISHED.name and self._ends_with(event):
                    self.is_finished = True
                    break
                if events and self._reader.byte_offset - start_byte_offset >= _BATCH_BYTES:
                    break
        except FileDamagedError:
            if not events:
                raise
            # What came before it is given first; the reader stays before the line and meets it again.
        return events

    def _ends_with(self, finish: Event) -> bool:
        return self._is_of_one_run and self._wanted.run_id in {None, finish.run_id}

    def _recognise(self, descriptor: int, status: os.stat_result) -> None:
        """Refuse a file that is not the one read from, by its identity, its size, or the line last read.

        The line is asked for because a file system may give a new file the number of the one it replaces.
        """
        identity = (status.st_dev, status.st_ino)
        if self._identity is None:
            self._identity = identity
        if identity != self._identity:
            raise self._replaced("another file in its place")
        if status.st_size < self._reader.byte_offset:
            raise self._replaced(f"{status.st_size} bytes")
        if not self._reader.knows(descriptor):
            raise self._replaced("other bytes where it was last read")

    def _replaced(self, found: str) -> FileReplacedError:
        return FileReplacedError(self._path, self._reader.byte_offset, found)


class DirectoryFollower:
    """All runs below a root, those that appear later included. A finished run is not looked at again.

    Attributes:
        is_finished: never; a new run may always appear.
    """

    is_finished: Final[bool] = False

    def __init__(self, root: Path, events_name: str, wanted: Wanted) -> None:
        """Nothing is read before the first poll.

        Args:
            root: the directory of all runs.
            events_name: the name of the file in each run's directory.
            wanted: which events to give.
        """
        self._root = root
        self._events_name = events_name
        self._wanted = wanted
        self._known: set[str] = set()
        self._open: deque[FileFollower] = deque()

    def poll(self) -> list[Event]:
        """Give the next events, run after run, so that each run has its turn.

        Returns:
            Events, each run's in order; an empty list where nothing is new.

        Raises:
            FileDamagedError: as from the file of a run. The next poll goes on with the other runs.
            FileReplacedError: as from the file of a run.
            SinkFileError: the root is the directory of one run.
            OSError: the root or a file cannot be read.

        Spec: The envelope
        """
        self._discover()
        events: list[Event] = []
        for _turn in range(len(self._open)):
            if len(events) >= _EVENTS_ENOUGH:
                break
            follower = self._open[0]
            self._open.rotate(-1)
            try:
                events += follower.poll()
            except (EthogramError, OSError):
                if not events:
                    raise
                # What the others gave comes first; this one is back in front, and fails again at the next poll.
                self._open.rotate(1)
                break
            if follower.is_finished:
                self._open.pop()
        return events

    def _discover(self) -> None:
        with os.scandir(self._root) as entries:
            unknown = [entry for entry in entries if entry.name not in self._known and is_run_name(entry.name)]
        if any(entry.name == self._events_name and entry.is_file() for entry in unknown):
            raise SinkFileError(self._root, "expected the root of all runs, got the directory of one")
        new = sorted(entry.name for entry in unknown if entry.is_dir())
        self._known.update(new)
        for name in new:
            path = self._root / name / self._events_name
            self._open.append(FileFollower(path, self._wanted, must_exist=False, run_name=name))
