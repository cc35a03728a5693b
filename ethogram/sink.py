"""What a sink is, and a sink in memory: it stamps drafts, takes stamped events, and keeps every run gapless.

It must never renumber an event or check the lifecycle beyond closure. The order in which an append is judged is the
gate's.

Spec: The envelope
"""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Protocol

from ethogram.envelope import Event, EventDraft, JsonValue, stamp
from ethogram.gate import Gate, read_draft, read_event


def utc_now() -> str:
    """Give the machine's time as ISO-8601 in UTC, to the millisecond: `2026-01-01T00:00:00.000Z`.

    Spec: The envelope
    """
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Sink(Protocol):
    """What every sink does, wherever it keeps its events: in memory, in one file, in a directory.

    An append is judged in a fixed order: whether it parses, whether it is valid where the sink was told to ask, whether
    its run is open, whether its `seq` is the next. What is refused takes no `seq` and asks for no time.

    Spec: The envelope
    """

    def append_draft(self, run_id: str, draft: EventDraft | dict[str, JsonValue]) -> Event:
        """Stamp a draft as the next event of a run, and keep it.

        Args:
            run_id: the run it was submitted to; a run begins with its first event.
            draft: a draft, or its members under their wire names; the payload is copied.

        Returns:
            The event as stored.

        Raises:
            ParseError: the draft would not parse once stamped.
            ValidationError: the sink validates, and the draft breaks a bound, a closed set or a policy.
            RunClosedError: the run has its `run.finished`.

        Spec: The envelope
        """

    def append_event(self, event: Event | dict[str, JsonValue]) -> Event:
        """Keep an event that another sink stamped, its `seq` and `ts` unchanged.

        Args:
            event: an event, or its members under their wire names; the payload is copied.

        Returns:
            The event as stored.

        Raises:
            ParseError: it does not parse.
            ValidationError: the sink validates, and the event breaks a bound, a closed set or a policy.
            RunClosedError: the run has its `run.finished`.
            SequenceError: it is not the next of its run.

        Spec: The envelope
        """

    def events(self, run_id: str) -> tuple[Event, ...]:
        """Give a run's events in order; none for a run that is not known.

        Spec: The envelope
        """


class InMemorySink:
    """Events by run, in a dict: a `Sink` that is gone with its process."""

    def __init__(self, clock: Callable[[], str] = utc_now, *, validating: bool = False) -> None:
        """Start with no runs.

        Args:
            clock: gives the time of an append as ISO-8601.
            validating: whether to refuse what `validate` refuses; without it, that is the caller's affair.
        """
        self._clock = clock
        self._validating = validating
        self._gate = Gate()
        self._runs: dict[str, list[Event]] = {}

    def append_draft(self, run_id: str, draft: EventDraft | dict[str, JsonValue]) -> Event:
        """Stamp a draft as the next event of a run, and keep it.

        Args:
            run_id: the run it was submitted to; a run begins with its first event.
            draft: a draft, or its members under their wire names; the payload is copied.

        Returns:
            The event as stored.

        Raises:
            ParseError: the draft would not parse once stamped.
            ValidationError: the sink validates, and the draft breaks a bound, a closed set or a policy.
            RunClosedError: the run has its `run.finished`.

        Spec: The envelope
        """
        parsed = read_draft(run_id, draft, validating=self._validating)
        seq = self._gate.next_seq(run_id)
        return self._store(stamp(parsed, run_id=run_id, seq=seq, ts=self._clock()))

    def append_event(self, event: Event | dict[str, JsonValue]) -> Event:
        """Keep an event that another sink stamped, its `seq` and `ts` unchanged.

        Args:
            event: an event, or its members under their wire names; the payload is copied.

        Returns:
            The event as stored.

        Raises:
            ParseError: it does not parse.
            ValidationError: the sink validates, and the event breaks a bound, a closed set or a policy.
            RunClosedError: the run has its `run.finished`.
            SequenceError: it is not the next of its run.

        Spec: The envelope
        """
        parsed = read_event(event, validating=self._validating)
        self._gate.check(parsed)
        return self._store(parsed)

    def next_seq(self, run_id: str) -> int:
        """Say which `seq` a run takes next; 1 for a run that is not known.

        Raises:
            RunClosedError: the run has its `run.finished`.

        Spec: The envelope
        """
        return self._gate.next_seq(run_id)

    def events(self, run_id: str) -> tuple[Event, ...]:
        """Give a run's events in order; none for a run that is not known.

        Spec: The envelope
        """
        return tuple(self._runs.get(run_id, ()))

    def _store(self, event: Event) -> Event:
        self._runs.setdefault(event.run_id, []).append(event)
        self._gate.take(event)
        return event
