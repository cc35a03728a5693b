"""Lines to put into files, and drafts to append."""

from ethogram import Event, EventDraft, serialise_event
from tests.unit.ethogram.samples import MINIMAL

TEXT = EventDraft("agent.text", {"text": "told in confidence"})
FINISH = EventDraft("run.finished", MINIMAL["run.finished"])


def clock() -> str:
    """Always the same time."""
    return "2026-01-01T00:00:00.000Z"


def event(run_id: str, seq: int, draft: EventDraft = TEXT) -> Event:
    """An event as a sink would have stamped it."""
    return Event(draft.type, run_id, seq, clock(), draft.payload)


def line(run_id: str, seq: int, draft: EventDraft = TEXT) -> bytes:
    """The line of an event, its line feed included."""
    return serialise_event(event(run_id, seq, draft)) + b"\n"


def lines(run_id: str, *seqs: int) -> bytes:
    """The lines of several events of a run."""
    return b"".join(line(run_id, seq) for seq in seqs)
