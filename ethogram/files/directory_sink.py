"""A sink on a directory: each run in a directory of its own, with its own file and its own lock.

It must never keep events in memory, and never make a file for what is refused.

Spec: The envelope
"""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Final, Self

from ethogram.envelope import Event, EventDraft, JsonValue, stamp
from ethogram.errors import ParseError, RunClosedError
from ethogram.files.disk import Fsync, check_fsync, make_directories, sync_directory
from ethogram.files.errors import SinkClosedError
from ethogram.files.journal import Journal, Recovery
from ethogram.files.naming import name_of_run
from ethogram.files.reader import read_events
from ethogram.files.turn import Turn
from ethogram.gate import Gate, read_draft, read_event
from ethogram.sink import utc_now
from ethogram.vocabulary.run import RUN_FINISHED

EVENTS_NAME: Final = "events.jsonl"
"""The file in each run's directory."""

_FINISHED_RUNS_MAX: Final = 4_096
"""How many finished runs are remembered; of others the file is read again to know that they are."""


class DirectorySink:
    """A durable `Sink`: `<root>/<name of the run>/events.jsonl`, safe to call from several threads.

    A run's file is opened and locked at its first append, and let go at its `run.finished`, by `release`, or by
    `close`. Several processes may share a root, each with its own runs. An open run takes one file descriptor.

    Attributes:
        root: the directory of all runs.
    """

    def __init__(
        self,
        root: str | os.PathLike[str],
        *,
        clock: Callable[[], str] = utc_now,
        fsync: Fsync = "append",
        validating: bool = False,
    ) -> None:
        """Make the root where there is none; no run is opened yet.

        Args:
            root: the directory of all runs.
            clock: gives the time of an append as ISO-8601.
            fsync: when to flush to the disk: `append`, before each append returns; `finish`, when a run finishes and
                when it is let go; `never`, which leaves it to the operating system. A killed process loses nothing
                under any of them; a loss of power does, under the latter two.
            validating: whether to refuse what `validate` refuses.

        Raises:
            OSError: the root cannot be made.
        """
        check_fsync(fsync)
        self.root: Path = Path(root)
        self._clock = clock
        self._fsync: Fsync = fsync
        self._validating = validating
        self._turn = Turn(self.root)
        self._journals: dict[str, Journal] = {}
        self._finished: dict[str, None] = {}
        self._recoveries: dict[str, Recovery] = {}
        self._is_closed = False
        make_directories(self.root, syncing=fsync != "never")

    @property
    def recoveries(self) -> Mapping[str, Recovery]:
        """What opening a run's file did to bytes behind its last line feed, by run, for those that had any."""
        return MappingProxyType(self._recoveries)

    def path_of(self, run_id: str) -> Path:
        """Give the path of a run's file, whether it is there or not.

        Raises:
            ParseError: the run id has a lone surrogate.

        Spec: The envelope
        """
        return self.root / name_of_run(run_id) / EVENTS_NAME

    def append_draft(self, run_id: str, draft: EventDraft | dict[str, JsonValue]) -> Event:
        """Stamp a draft as the next event of a run, and write it.

        Args:
            run_id: the run it was submitted to; a run begins with its first event.
            draft: a draft, or its members under their wire names; the payload is copied.

        Returns:
            The event as stored.

        Raises:
            ParseError: the draft would not parse once stamped.
            ValidationError: the sink validates, and the draft breaks a bound, a closed set or a policy.
            RunClosedError: the run has its `run.finished`.
            SinkLockedError: another sink has the run.
            FileDamagedError: the run's file, opened for this append, is damaged; it was left as it is.
            OSError: it could not be opened or written; the file is as before.
            SinkFileError: the sink is closed, broken, or busy in this thread.

        Spec: The envelope
        """
        parsed = read_draft(run_id, draft, validating=self._validating)
        with self._turn.take():
            journal = self._open(run_id)
            seq = journal.gate().next_seq(run_id)
            return self._append(journal, stamp(parsed, run_id=run_id, seq=seq, ts=self._clock()))

    def append_event(self, event: Event | dict[str, JsonValue]) -> Event:
        """Write an event that another sink stamped, its `seq` and `ts` unchanged.

        Args:
            event: an event, or its members under their wire names; the payload is copied.

        Returns:
            The event as stored.

        Raises:
            ParseError: it does not parse.
            ValidationError: the sink validates, and the event breaks a bound, a closed set or a policy.
            RunClosedError: the run has its `run.finished`.
            SequenceError: it is not the next of its run.
            SinkLockedError: another sink has the run.
            FileDamagedError: the run's file, opened for this append, is damaged; it was left as it is.
            OSError: it could not be opened or written; the file is as before.
            SinkFileError: the sink is closed, broken, or busy in this thread.

        Spec: The envelope
        """
        parsed = read_event(event, validating=self._validating)
        with self._turn.take():
            if parsed.run_id not in self._journals and not self._is_known(parsed.run_id):
                Gate().check(parsed)
            journal = self._open(parsed.run_id)
            journal.gate().check(parsed)
            return self._append(journal, parsed)

    def next_seq(self, run_id: str) -> int:
        """Say which `seq` a run takes next; 1 for a run that is not known. A run that is known is opened for it.

        Raises:
            RunClosedError: the run has its `run.finished`.
            SinkLockedError: another sink has the run.
            FileDamagedError: the run's file, opened for this, is damaged; it was left as it is.
            OSError: the file cannot be opened.
            SinkFileError: the sink is closed, broken, or busy in this thread.

        Spec: The envelope
        """
        with self._turn.take():
            is_known = run_id in self._journals or self._is_known(run_id)
            return (self._open(run_id).gate() if is_known else Gate()).next_seq(run_id)

    def events(self, run_id: str) -> tuple[Event, ...]:
        """Read a run's events, in order; none for a run that is not known. No lock is asked for.

        Raises:
            FileDamagedError: a whole line is not the next event of its run.
            OSError: the file cannot be read.

        Spec: The envelope
        """
        try:
            return tuple(read_events(self.path_of(run_id), run_id))
        except (FileNotFoundError, ParseError):  # No run has an id that UTF-8 cannot hold.
            return ()

    def release(self, run_id: str) -> None:
        """Let a run go before its finish, or one whose file is broken: the next append opens it anew.

        Args:
            run_id: the run; one that is not open is let be.

        Raises:
            SinkBrokenError: it could not be flushed. It is let go all the same.

        Spec: The envelope
        """
        with self._turn.take():
            if run_id in self._journals:
                self._journals.pop(run_id).close()

    def close(self) -> None:
        """Let every run go, flushed unless the policy is `never`. To close twice is to close once.

        Raises:
            SinkBrokenError: one could not be flushed. All are closed all the same.

        Spec: The envelope
        """
        if self._turn.is_inherited:  # Not this process's to close, and its descriptors are gone.
            return
        with self._turn.take():
            self._is_closed = True
            self._close_all()

    def __enter__(self) -> Self:
        """Use the sink in a `with` statement, which closes it."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()

    def _close_all(self) -> None:
        while self._journals:
            _run_id, journal = self._journals.popitem()
            try:
                journal.close()
            except BaseException:
                self._close_all()
                raise

    def _is_known(self, run_id: str) -> bool:
        return run_id in self._finished or self.path_of(run_id).exists()

    def _open(self, run_id: str) -> Journal:
        """The open journal of a run; its file is made where there is none."""
        if self._is_closed:
            raise SinkClosedError(self.root, "one that was closed")
        if run_id in self._finished:
            raise RunClosedError(run_id)
        journal = self._journals.get(run_id)
        if journal is not None:
            return journal
        path = self.path_of(run_id)
        path.parent.mkdir(exist_ok=True)
        if self._fsync != "never":  # Each time: who made the directory may have been killed before it was flushed.
            sync_directory(self.root)
        journal = Journal(path, self._fsync, run_id)
        self._journals[run_id] = journal
        if journal.recovery is not None:
            self._recoveries[run_id] = journal.recovery
        if journal.gate().is_closed(run_id):
            self._finish(run_id)
            raise RunClosedError(run_id)
        return journal

    def _append(self, journal: Journal, event: Event) -> Event:
        journal.append(event)
        if event.type == RUN_FINISHED.name:
            self._finish(event.run_id)
        return event

    def _finish(self, run_id: str) -> None:
        """Let a finished run go, and remember it."""
        self._finished[run_id] = None
        if len(self._finished) > _FINISHED_RUNS_MAX:
            del self._finished[next(iter(self._finished))]
        self._journals.pop(run_id).close()
