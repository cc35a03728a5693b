"""The two shapes of the protocol: a producer's draft and a sink's event.

It holds values; it must never read bytes (`parse`) or a clock (the sink's caller).

Both are named tuples: of the immutable forms that Python has, the one made fastest (0.14 microseconds, against 0.25 for
a frozen class with slots). The payload inside is plain JSON data and is not to be changed.

Spec: The envelope
"""

from typing import Any, NamedTuple

from ethogram.bounds import FIRST_SEQ, MAX_SAFE_INTEGER, SCHEMA_VERSION
from ethogram.errors import ParseError

JsonValue = Any
"""A JSON value as Python holds it: None, bool, int, float, str, list, dict. A recursive type would cost more casts."""


class EventDraft(NamedTuple):
    """What a producer emits: no place in a run yet.

    Attributes:
        type: dot-namespaced, `agent.tool_use`; types outside the vocabulary are open.
        payload: a JSON value; an object for every type of the vocabulary.
        captured_at: ISO-8601 from the producer's clock, or None where it is absent.
    """

    type: str
    payload: JsonValue
    captured_at: str | None = None


class Event(NamedTuple):
    """What a sink stores: a draft with its place in a run.

    Attributes:
        type: dot-namespaced, `agent.tool_use`.
        run_id: one harness session or observing process.
        seq: 1-based and gapless within the run.
        ts: ISO-8601 from the sink's clock at append.
        payload: a JSON value; an object for every type of the vocabulary.
        captured_at: ISO-8601 from the producer's clock, or None where it is absent.
    """

    type: str
    run_id: str
    seq: int
    ts: str
    payload: JsonValue
    captured_at: str | None = None

    @property
    def v(self) -> int:
        """The schema version: always 1, for no other version parses."""
        return SCHEMA_VERSION

    def to_dict(self) -> dict[str, JsonValue]:
        """The event under its wire names, in the canonical order of members; the payload is shared, not copied.

        Spec: The envelope
        """
        members: dict[str, JsonValue] = {
            "v": SCHEMA_VERSION,
            "type": self.type,
            "runId": self.run_id,
            "seq": self.seq,
            "ts": self.ts,
            "payload": self.payload,
        }
        if self.captured_at is not None:
            members["capturedAt"] = self.captured_at
        return members


def is_seq(value: object) -> bool:
    """Say whether a value is a `seq`: an integer, not a bool or a float, from 1 to 2^53-1.

    Spec: The envelope
    """
    return type(value) is int and FIRST_SEQ <= value <= MAX_SAFE_INTEGER


def is_text(value: object) -> bool:
    """Say whether a value is a string that UTF-8 can hold, so one without lone surrogates.

    Spec: The envelope
    """
    if type(value) is not str:
        return False
    if value.isascii():
        return True
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def stamp(draft: EventDraft, *, run_id: str, seq: int, ts: str) -> Event:
    """Make an event from a draft, as a sink does at append.

    Args:
        draft: what the producer emitted; its `captured_at` is kept unchanged.
        run_id: the run the draft was submitted to.
        seq: the 1-based place in that run.
        ts: ISO-8601 from the sink's clock.

    Returns:
        The event; it shares the draft's payload, which is not checked here.

    Raises:
        ParseError: an envelope member is not of its type; stage `envelope`.

    Spec: The envelope
    """
    names = ("type", "runId", "ts") if draft.captured_at is None else ("type", "runId", "ts", "capturedAt")
    for name, value in zip(names, (draft.type, run_id, ts, draft.captured_at), strict=False):
        if not is_text(value):
            raise ParseError(name, f"expected UTF-8 text, got a {type(value).__name__}", stage="envelope")
    if not is_seq(seq):
        raise ParseError("seq", f"expected an integer from 1 to {MAX_SAFE_INTEGER}, got another", stage="envelope")
    return Event(draft.type, run_id, seq, ts, draft.payload, draft.captured_at)
