"""What every run takes next: the one place that holds a sink to gapless runs that end with their finish.

It must never store an event, read a clock or touch a file. Sinks in memory and on files share it, so that an append is
judged in one order everywhere: it parses, it is valid where the sink is told to ask, its run is open, its `seq` is the
next. Only what passed all of it is taken.

Spec: The envelope
"""

from typing import Final

from ethogram.bounds import FIRST_SEQ
from ethogram.envelope import Event, EventDraft, JsonValue, stamp
from ethogram.errors import RunClosedError, SequenceError
from ethogram.parse import parse_draft, parse_event
from ethogram.validate import validate_event
from ethogram.vocabulary.run import RUN_FINISHED

_CLOSED: Final = 0
"""Stands for the next `seq` of a run that takes none."""


def read_draft(run_id: str, draft: EventDraft | dict[str, JsonValue], *, validating: bool = False) -> EventDraft:
    """Read a draft as a sink does that was asked to append it to a run.

    Args:
        run_id: the run it was submitted to; any string that UTF-8 can hold.
        draft: a draft, or its members under their wire names; the payload is copied.
        validating: whether `validate` has its say, too.

    Returns:
        The draft, the sink's own.

    Raises:
        ParseError: it would not parse once stamped.
        ValidationError: it breaks a bound, a closed set or a policy, and the sink asks.

    Spec: The envelope
    """
    parsed = parse_draft(draft)
    stamped = stamp(parsed, run_id=run_id, seq=FIRST_SEQ, ts="")  # Refuses a run id that cannot stand in an event.
    if validating:
        validate_event(stamped)
    return parsed


def read_event(event: Event | dict[str, JsonValue], *, validating: bool = False) -> Event:
    """Read an event that another sink stamped, as a sink does that was asked to append it.

    Args:
        event: an event, or its members under their wire names; the payload is copied.
        validating: whether `validate` has its say, too.

    Returns:
        The event, the sink's own, with `seq` and `ts` unchanged.

    Raises:
        ParseError: it does not parse.
        ValidationError: it breaks a bound, a closed set or a policy, and the sink asks.

    Spec: The envelope
    """
    parsed = parse_event(event.to_dict() if isinstance(event, Event) else event)
    if validating:
        validate_event(parsed)
    return parsed


class Gate:
    """The next `seq` of every run it has seen, and which of them are finished: one integer a run."""

    __slots__ = ("_next_seqs",)

    def __init__(self) -> None:
        """Start with no runs; a run begins with its first event."""
        self._next_seqs: dict[str, int] = {}

    def next_seq(self, run_id: str) -> int:
        """Say which `seq` a run takes next.

        Args:
            run_id: the run; one that was never seen takes 1.

        Returns:
            The 1-based `seq`.

        Raises:
            RunClosedError: the run has its `run.finished`.

        Spec: The envelope
        """
        seq = self._next_seqs.get(run_id, FIRST_SEQ)
        if seq == _CLOSED:
            raise RunClosedError(run_id)
        return seq

    def is_closed(self, run_id: str) -> bool:
        """Say whether a run has its `run.finished`.

        Spec: Run lifecycle
        """
        return self._next_seqs.get(run_id) == _CLOSED

    def check(self, event: Event) -> None:
        """Ask whether an event is the next of its run; nothing changes.

        Args:
            event: an event that parsed.

        Raises:
            RunClosedError: its run has its `run.finished`, whatever the event's `seq`.
            SequenceError: its `seq` is not the next.

        Spec: The envelope
        """
        expected = self.next_seq(event.run_id)
        if event.seq != expected:
            raise SequenceError(event.run_id, expected, event.seq)

    def take(self, event: Event) -> None:
        """Move an event's run past it. To take the same event twice changes no more than to take it once.

        Args:
            event: an event that `check` let pass, or one stamped with `next_seq`, now that it is stored.

        Spec: Run lifecycle
        """
        self._next_seqs[event.run_id] = _CLOSED if event.type == RUN_FINISHED.name else event.seq + 1
