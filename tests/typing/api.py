"""The kit as a user writes it. It is type-checked with everything else; a test also runs it.

Where a line must not pass, the suppression of its error is the proof: strict checking reports one that is not needed.
"""

from typing import Any, assert_type

import ethogram
from ethogram import (
    Event,
    EventDraft,
    Excerpt,
    InMemorySink,
    ParseError,
    RunClosedError,
    RunView,
    SequenceError,
    ValidationError,
)


def read_and_write(raw: bytes) -> bytes:
    """Bytes to an event and back."""
    event = ethogram.parse_event(raw)
    assert_type(event, Event)
    assert_type(event.run_id, str)
    assert_type(event.seq, int)
    assert_type(event.captured_at, str | None)
    assert_type(event.v, int)
    assert_type(event.to_dict(), dict[str, Any])
    assert_type(ethogram.parse_event(raw.decode()), Event)
    assert_type(ethogram.parse_event(event.to_dict()), Event)
    written = ethogram.serialise_event(event)
    assert_type(written, bytes)
    return written


def stamp_a_draft() -> Event:
    """A draft gets its place in a run."""
    draft = EventDraft("agent.text", {"text": "hello"})
    assert_type(draft.captured_at, str | None)
    event = ethogram.stamp(draft, run_id="run-1", seq=1, ts="2026-01-01T00:00:00.000Z")
    assert_type(event, Event)
    return event


def validate(event_type: str, payload: dict[str, object]) -> str | None:
    """The kind of the first fault, as a sink would look at it."""
    try:
        ethogram.validate(event_type, payload)
    except ValidationError as error:
        assert_type(error.kind, str)
        assert_type(error.details, dict[str, str | int])
        assert_type(ethogram.serialise_validation_error(error), bytes)
        refusal = ethogram.refusal_of(error, source_run_id="run-1", source_seq=3, source_type=event_type)
        assert_type(refusal, EventDraft)
        return error.kind
    return None


def sink_events() -> tuple[Event, ...]:
    """A sink stamps, takes stamped events, and refuses what is out of order."""
    sink = InMemorySink(clock=lambda: "2026-01-01T00:00:00.000Z")
    assert_type(sink.append_draft("run-1", EventDraft("x.seen", 1)), Event)
    assert_type(sink.append_draft("run-1", {"type": "x.seen", "payload": 1}), Event)
    try:
        sink.append_event(ethogram.stamp(EventDraft("x.seen", 1), run_id="run-1", seq=9, ts="t"))
    except SequenceError as error:
        assert_type((error.run_id, error.expected, error.received), tuple[str, int, int])
    except RunClosedError as error:
        assert_type(error.run_id, str)
    events = sink.events("run-1")
    assert_type(events, tuple[Event, ...])
    return events


def fold(events: tuple[Event, ...]) -> dict[str, int]:
    """Events to a run, and the proof that they are gapless."""
    view = ethogram.fold_run(events)
    assert_type(view, RunView | None)
    if view is not None:
        assert_type(view.outcome, str | None)
        assert_type(view.is_open, bool)
    counts = ethogram.prove_gapless(events)
    assert_type(counts, dict[str, int])
    return counts


def cut(text: str) -> Excerpt:
    """A text within its bound."""
    kept = ethogram.excerpt(text, max_scalars=ethogram.MAX_EXCERPT_SCALARS)
    assert_type(kept.text, str)
    assert_type(kept.truncated, bool)
    text_again, truncated = kept
    assert_type((text_again, truncated), tuple[str, bool])
    return kept


def tell_errors_apart(raw: bytes) -> str:
    """Every error of the kit is an EthogramError with fields; no text is read."""
    try:
        ethogram.parse_event(raw)
    except ParseError as error:
        assert_type(error.path, str)
        assert_type(error.run_id, str | None)
        assert_type(error.seq, int | None)
        return error.path
    except ethogram.EthogramError:
        return "another"
    return ""


def build_and_match() -> list[str]:
    """Payloads are built and matched by their types; a string that is misspelt is an error of the type checker."""
    payloads = (
        ethogram.AgentText(text="hello"),
        ethogram.AgentToolUse(tool="Read", tool_use_id="t1", extra={"novel": [1]}),
        ethogram.RunFinished(outcome="completed", duration_ms=5, usage=ethogram.Usage(output_tokens=3)),
        ethogram.UnknownPayload("x.seen", {"a": 1}),
    )
    return [describe(ethogram.read_payload(payload.draft())) for payload in payloads]


def describe(payload: ethogram.Payload) -> str:
    """One line on a payload, by its type."""
    match payload:
        case ethogram.AgentText(text=text):
            return f"said {text}"
        case ethogram.AgentToolUse(tool=tool):
            return f"call of {tool}"
        case ethogram.RunFinished(outcome=outcome):
            assert_type(outcome, ethogram.RunOutcome | ethogram.UnknownMember)
            return f"ended: {outcome}"
        case ethogram.UnknownPayload(type=name):
            return f"other: {name}"
        case _:
            return payload.TYPE


def wrong_on_purpose() -> None:
    """What the types must refuse; never called."""
    ethogram.parse_event(5)  # type: ignore[arg-type]  # neither bytes, text nor members
    ethogram.serialise_event({"v": 1})  # type: ignore[arg-type]  # members are parsed first
    ethogram.stamp(EventDraft("x", 1), "run-1", 1, "t")  # type: ignore[call-arg]  # places are named
    EventDraft("x")  # type: ignore[call-arg]  # a draft has a payload
    ethogram.excerpt(b"x", 1)  # type: ignore[arg-type]  # a text has scalars, bytes have none
    stamp_a_draft().seq = 2  # type: ignore[misc]  # an event does not change
    ethogram.refusal_of(KeyError(), source_run_id="r")  # type: ignore[arg-type]  # an error without a cause
    ethogram.fold_run([EventDraft("x", 1)])  # type: ignore[list-item]  # drafts have no place in a run
    InMemorySink(clock=5)  # type: ignore[arg-type]  # a clock is called
