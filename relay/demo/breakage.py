"""Recorded runs, broken on purpose as producers break them, each record with the verdict that it must get.

Pure: recorded records in, records to send out.

Spec: The envelope; Run lifecycle; On narration
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from ethogram import MAX_TEXT_SCALARS, EventDraft, parse_event, serialise_event, stamp
from relay.judge.verdict import Cause

TOO_LONG_SCALARS: Final = MAX_TEXT_SCALARS + 4_000
_BROKEN_AT: Final = 3
"""Which record of a run is broken, 0-based, where any would do: the `agent.text`, in the middle."""


class Sending(NamedTuple):
    """One record to send, and what must become of it.

    Attributes:
        key: The record's key.
        value: Its bytes.
        cause: Why it must be refused, None where it must be forwarded.
    """

    key: bytes | None
    value: bytes
    cause: Cause | None = None


@dataclass(frozen=True, slots=True)
class Breakage:
    """One way to break a run.

    Attributes:
        why: What went wrong, and what follows, for a person.
        apply: Makes the records to send from those that were recorded.
    """

    why: str
    apply: Callable[[Sequence[Sending]], list[Sending]]


def _refused(records: Sequence[Sending], cause: Cause) -> list[Sending]:
    return [record._replace(cause=cause) for record in records]


def lose_one(run: Sequence[Sending]) -> list[Sending]:
    """Leave one event out: what follows it is a gap."""
    return [*run[:_BROKEN_AT], *_refused(run[_BROKEN_AT + 1 :], Cause.GAP)]


def send_twice(run: Sequence[Sending]) -> list[Sending]:
    """Send one event twice."""
    return [
        *run[: _BROKEN_AT + 1],
        *_refused(run[_BROKEN_AT : _BROKEN_AT + 1], Cause.DUPLICATE),
        *run[_BROKEN_AT + 1 :],
    ]


def say_more(run: Sequence[Sending]) -> list[Sending]:
    """Emit one more event after the run's end."""
    last = parse_event(run[-1].value)
    draft = EventDraft("agent.warning", {"message": "one more thing"}, last.captured_at)
    late = stamp(draft, run_id=last.run_id, seq=last.seq + 1, ts=last.ts)
    return [*run, Sending(run[-1].key, serialise_event(late), Cause.FINISHED)]


def forget_to_excerpt(run: Sequence[Sending]) -> list[Sending]:
    """Send narration whole that should have been excerpted, and never mend it: what follows waits for it."""
    at, too_long = _too_long(run)
    return [*run[:at], too_long, *_refused(run[at + 1 :], Cause.GAP)]


def excerpt_late(run: Sequence[Sending]) -> list[Sending]:
    """The same, mended: the event as it should have been comes next, and the run goes on."""
    at, too_long = _too_long(run)
    return [*run[:at], too_long, *run[at:]]


def tear(run: Sequence[Sending]) -> list[Sending]:
    """Send the first half of an event, then the whole of it."""
    torn = run[_BROKEN_AT]
    half = Sending(torn.key, torn.value[: len(torn.value) // 2], Cause.MALFORMED)
    return [*run[:_BROKEN_AT], half, *run[_BROKEN_AT:]]


def drop_key(run: Sequence[Sending]) -> list[Sending]:
    """Send an event without its key, which may land in any partition, then with it."""
    keyless = Sending(None, run[_BROKEN_AT].value, Cause.MALFORMED)
    return [*run[:_BROKEN_AT], keyless, *run[_BROKEN_AT:]]


def _too_long(run: Sequence[Sending]) -> tuple[int, Sending]:
    """Find the run's narration and make it longer than may be."""
    for at, record in enumerate(run):
        event = parse_event(record.value)
        if event.type == "agent.text":
            text = str(event.payload["text"])
            grown = (text * (TOO_LONG_SCALARS // len(text) + 1))[:TOO_LONG_SCALARS]
            broken = event._replace(payload={**event.payload, "text": grown})
            return at, Sending(record.key, serialise_event(broken), Cause.OVER_BOUND)
    raise ValueError("expected a run with an agent.text")


BREAKAGES: Final = (
    Breakage("an event was lost on its way; those behind it are held back, so no reader sees a hole", lose_one),
    Breakage("an event was sent twice; the second one is refused", send_twice),
    Breakage("an event came after its run.finished", say_more),
    Breakage("narration was too long, then sent again excerpted: the run went on", excerpt_late),
    Breakage("narration was too long and never mended: what followed is held back", forget_to_excerpt),
    Breakage("only half of an event arrived; the whole of it came next", tear),
    Breakage("an event had no record key; it came again with one", drop_key),
)
