"""A sink on one file: the events of any number of runs, in the order of their appends.

It must never keep events in memory: of each run it holds one integer.

Spec: The envelope
"""

import os
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from ethogram.envelope import Event, EventDraft, JsonValue, stamp
from ethogram.files.disk import Fsync, check_fsync
from ethogram.files.journal import Journal, Recovery
from ethogram.files.reader import read_events
from ethogram.files.turn import Turn
from ethogram.gate import read_draft, read_event
from ethogram.sink import utc_now


class FileSink:
    """A durable `Sink`: one JSON Lines file, one writer, safe to call from several threads.

    Once an append returns, its event is in the file, and on the disk as the policy says. Opened again, the sink goes on
    with every run where the file ends.

    Attributes:
        path: the file.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        clock: Callable[[], str] = utc_now,
        fsync: Fsync = "append",
        validating: bool = False,
    ) -> None:
        """Open the file, make it where there is none, and read it to its end.

        Args:
            path: the file; its directory is there.
            clock: gives the time of an append as ISO-8601.
            fsync: when to flush to the disk: `append`, before each append returns; `finish`, when a run finishes and at
                close; `never`, which leaves it to the operating system. A killed process loses nothing under any of
                them; a loss of power does, under the latter two.
            validating: whether to refuse what `validate` refuses.

        Raises:
            SinkLockedError: another sink has the file.
            FileDamagedError: a whole line is not the next event of its run; the file was left as it is.
            SinkFileError: it is no regular file.
            OSError: it cannot be opened, read or flushed.
        """
        check_fsync(fsync)
        self.path: Path = Path(path)
        self._clock = clock
        self._validating = validating
        self._turn = Turn(self.path)
        self._journal = Journal(self.path, fsync)

    @property
    def recovery(self) -> Recovery | None:
        """What opening did to bytes behind the last line feed, or None where there were none."""
        return self._journal.recovery

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
            OSError: it could not be written; the file is as before.
            SinkFileError: the sink is closed, broken, or busy in this thread.

        Spec: The envelope
        """
        parsed = read_draft(run_id, draft, validating=self._validating)
        with self._turn.take():
            seq = self._journal.gate().next_seq(run_id)
            event = stamp(parsed, run_id=run_id, seq=seq, ts=self._clock())
            self._journal.append(event)
        return event

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
            OSError: it could not be written; the file is as before.
            SinkFileError: the sink is closed, broken, or busy in this thread.

        Spec: The envelope
        """
        parsed = read_event(event, validating=self._validating)
        with self._turn.take():
            self._journal.gate().check(parsed)
            self._journal.append(parsed)
        return parsed

    def next_seq(self, run_id: str) -> int:
        """Say which `seq` a run takes next; 1 for a run that is not known.

        Raises:
            RunClosedError: the run has its `run.finished`.
            SinkFileError: the sink is closed, broken, or busy in this thread.

        Spec: The envelope
        """
        with self._turn.take():
            return self._journal.gate().next_seq(run_id)

    def events(self, run_id: str) -> tuple[Event, ...]:
        """Read a run's events, in order; none for a run that is not known. The whole file is read for it.

        Raises:
            FileDamagedError: a whole line is not the next event of its run.
            OSError: the file cannot be read.

        Spec: The envelope
        """
        return tuple(read_events(self.path, run_id))

    def close(self) -> None:
        """Flush unless the policy is `never`, and give the lock up. To close twice is to close once.

        Raises:
            SinkBrokenError: it could not be flushed. It is closed all the same.

        Spec: The envelope
        """
        if self._turn.is_inherited:  # Not this process's to close, and its descriptor is gone.
            return
        with self._turn.take():
            self._journal.close()

    def __enter__(self) -> Self:
        """Use the sink in a `with` statement, which closes it."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()
