"""A sink in memory: it stamps drafts, takes stamped events, and keeps every run gapless and closed once finished.

It must never renumber an event, call `validate` (its caller decides that), or check the lifecycle beyond closure.

Spec: The envelope
"""

from collections.abc import Callable
from datetime import UTC, datetime

from ethogram.bounds import FIRST_SEQ
from ethogram.envelope import Event, EventDraft, JsonValue, stamp
from ethogram.errors import RunClosedError, SequenceError
from ethogram.parse import parse_draft, parse_event
from ethogram.vocabulary.run import RUN_FINISHED


def _utc_now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class InMemorySink:
    """Events by run, in a dict.

    A draft or an event is judged in a fixed order: whether it parses, whether its run is open, whether its `seq` is the
    next. What is refused takes no `seq` and asks for no time.
    """

    def __init__(self, clock: Callable[[], str] = _utc_now) -> None:
        """Start with no runs.

        Args:
            clock: gives the time of an append as ISO-8601.
        """
        self._clock = clock
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
            RunClosedError: the run has its `run.finished`.

        Spec: The envelope
        """
        parsed = parse_draft(draft)
        stamp(parsed, run_id=run_id, seq=FIRST_SEQ, ts="")  # Refuses a run id that cannot stand in an event.
        seq = self._next_seq(run_id)
        return self._store(stamp(parsed, run_id=run_id, seq=seq, ts=self._clock()))

    def append_event(self, event: Event | dict[str, JsonValue]) -> Event:
        """Keep an event that another sink stamped, its `seq` and `ts` unchanged.

        Args:
            event: an event, or its members under their wire names; the payload is copied.

        Returns:
            The event as stored.

        Raises:
            ParseError: it does not parse.
            RunClosedError: the run has its `run.finished`.
            SequenceError: it is not the next of its run.

        Spec: The envelope
        """
        parsed = parse_event(event.to_dict() if isinstance(event, Event) else event)
        expected = self._next_seq(parsed.run_id)
        if parsed.seq != expected:
            raise SequenceError(parsed.run_id, expected, parsed.seq)
        return self._store(parsed)

    def events(self, run_id: str) -> tuple[Event, ...]:
        """Give a run's events in order; none for a run that is not known.

        Spec: The envelope
        """
        return tuple(self._runs.get(run_id, ()))

    def _next_seq(self, run_id: str) -> int:
        stored = self._runs.get(run_id)
        if not stored:
            return FIRST_SEQ
        if stored[-1].type == RUN_FINISHED.name:
            raise RunClosedError(run_id)
        return stored[-1].seq + 1

    def _store(self, event: Event) -> Event:
        self._runs.setdefault(event.run_id, []).append(event)
        return event
