"""What must hold of any document and of any payload, as the targets ask it."""

import json
from typing import Any

import ethogram
from ethogram import Event, EventDraft, ParseError, ValidationError
from ethogram import parse as parse_module
from ethogram.validate import is_plainly_valid
from ethogram.vocabulary import VOCABULARY
from tests.property import naive_writer, slow_judge, slow_reader
from tests.property.slow_reader import LEVELS_CERTAIN, Verdict

FIELDS = {
    "OverBound": {"kind", "path", "count", "max"},
    "PayloadTooLarge": {"kind", "bytes", "max"},
    "UnknownMember": {"kind", "path", "value"},
    "MissingField": {"kind", "path"},
    "Policy": {"kind", "path", "message"},
    "Malformed": {"kind", "path", "message"},
}
"""The fields of every kind of validation error."""

Outcome = tuple[Event | None, ParseError | None]


class FindingError(AssertionError):
    """The kit does not keep a promise."""


def expect(holds: bool, promise: str) -> None:  # noqa: FBT001 - it reads as an assertion
    """Raise a finding where a promise does not hold."""
    if not holds:
        raise FindingError(promise)


def check_document(raw: bytes) -> None:
    """Hold the parser to the slow reader, its ways in to each other, and the writer to the round trip."""
    event, error = read(ethogram.parse_event, raw)
    staged = read(_read_in_stages, raw)
    expect(tell(staged) == tell((event, error)), "parse_envelope and check_payload give the verdict of parse_event")
    exact = read(parse_module._parse_exactly, raw)  # noqa: SLF001 - the judge of the short way
    expect(tell(exact) == tell(read(ethogram.parse_envelope, raw)), "the short way gives the exact reading's verdict")
    reading = slow_reader.read_document(raw)
    if reading.verdict is not Verdict.EITHER:
        expect((event is not None) == (reading.verdict is Verdict.ACCEPT), "the verdict is the slow reader's")
    _check_text(raw, (event, error))
    if error is not None:
        check_refusal(error, raw)
        return
    assert event is not None
    written = check_event(event, len(raw))
    if reading.verdict is Verdict.ACCEPT:
        assert reading.members is not None
        expect(written == naive_writer.write_event(reading.members), "the canonical form is the naive writer's")


def _check_text(raw: bytes, outcome: Outcome) -> None:
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        expect(outcome[0] is None, "bytes that are not UTF-8 are refused")
        return
    expect(tell(read(ethogram.parse_event, text)) == tell(outcome), "text is read as its bytes are")


def check_event(event: Event, raw_bytes_count: int) -> bytes:
    """Hold a parsed event to its round trips, and `validate_event` to `validate`; gives its canonical bytes."""
    written = ethogram.serialise_event(event)
    again = ethogram.parse_event(written)
    expect(_are_one(again, event), "what is written reads as the same event")
    expect(ethogram.serialise_event(again) == written, "what is written is written the same again")
    expect(_are_one(ethogram.parse_event(event.to_dict()), event), "an event's members read as the event")
    draft = ethogram.parse_draft(EventDraft(event.type, event.payload, event.captured_at))
    stamped = ethogram.stamp(draft, run_id=event.run_id, seq=event.seq, ts=event.ts)
    expect(ethogram.serialise_event(stamped) == written, "a stamped draft is the event")
    wanted = tell_fault(find_fault(event.type, event.payload))
    for hint in (None, raw_bytes_count, len(written)):
        try:
            ethogram.validate_event(event, hint)
            given = None
        except ValidationError as fault:
            given = tell_fault(fault)
        expect(given == wanted, "validate_event gives the verdict of validate")
    if is_plainly_valid(event.type, event.payload, raw_bytes_count):
        expect(wanted is None, "what is plainly valid is valid")
    return written


def check_payload(event_type: str, payload: Any) -> None:  # noqa: ANN401 - any value that a loose JSON reader gives
    """Hold `validate` to its structured errors, and to what parsing says of the same payload."""
    fault = find_fault(event_type, payload)
    members = {"v": 1, "type": event_type, "runId": "r", "seq": 1, "ts": "t", "payload": payload}
    event, error = read(ethogram.parse_event, members)
    if fault is not None:
        check_fault(fault)
    _check_verdict(event_type, payload, fault)
    if event is not None:
        check_event(event, len(ethogram.serialise_event(event)))
    if error is not None:
        check_refusal(error, b"")
    if event_type in VOCABULARY and (fault is None or fault.kind in {"UnknownMember", "Policy"}):
        expect(event is not None, "what validation lets pass, or refuses by policy alone, is representable")
    if fault is not None and fault.kind in {"Malformed", "MissingField"}:
        expect(event is None, "what validation finds malformed does not parse")


def _check_verdict(event_type: str, payload: Any, fault: ValidationError | None) -> None:  # noqa: ANN401 - as above
    try:
        wanted = slow_judge.judge(event_type, payload)
    except slow_judge.UnsettledError:
        return
    given = None if fault is None else {name: fault.details[name] for name in fault.details if name != "message"}
    expect(given == wanted, "the verdict is the slow judge's")


def check_fault(fault: ValidationError) -> None:
    """Hold a validation error to its kind's fields, its canonical form, and a refusal that is valid."""
    expect(fault.details.keys() == FIELDS[fault.kind], "a validation error has its kind's fields and no other")
    written = ethogram.serialise_validation_error(fault)
    expect(naive_writer.write_value(json.loads(written)) == written, "a validation error's form is canonical")
    check_refusal(fault, b"")


def check_refusal(error: ParseError | ValidationError, raw: bytes) -> None:
    """Hold an error to a refusal that parses and is valid, and that quotes nothing at length."""
    draft = ethogram.refusal_of(error, source_run_id="r")
    ethogram.validate(draft.type, draft.payload)
    ethogram.parse_draft(draft)
    expect(len(str(error)) < 600, f"an error's text is short, whatever the {len(raw)} bytes hold")


def find_fault(event_type: str, payload: Any) -> ValidationError | None:  # noqa: ANN401 - any Python value
    """What `validate` raises, or None; any other exception is a finding."""
    try:
        ethogram.validate(event_type, payload)
    except ValidationError as error:
        return error
    return None


def read(reader: Any, source: Any) -> Outcome:  # noqa: ANN401 - any of the kit's readers, and what it takes
    """What a reader gives or refuses; any exception but ParseError is a finding."""
    try:
        return reader(source), None
    except ParseError as error:
        return None, error


def tell(outcome: Outcome) -> tuple[object, ...]:
    """An outcome in a form that tells 1 from 1.0, and one refusal from another."""
    event, error = outcome
    if error is not None:
        return str(error), error.path, error.stage, error.run_id, error.seq, error.type
    assert event is not None
    # Python itself compares and shows values of no more than some hundreds of levels.
    is_shallow = slow_reader.measure_levels(event.payload) <= LEVELS_CERTAIN
    return "event", repr(event) if is_shallow else ethogram.serialise_event(event)


def tell_fault(fault: ValidationError | None) -> tuple[object, ...] | None:
    """A validation error's text and fields."""
    return None if fault is None else (str(fault), fault.details)


def _are_one(one: Event, other: Event) -> bool:
    """Whether two events are equal; 5.0 is 5."""
    try:
        return one == other
    except RecursionError:
        return ethogram.serialise_event(one) == ethogram.serialise_event(other)


def _read_in_stages(raw: bytes) -> Event:
    event = ethogram.parse_envelope(raw)
    ethogram.check_payload(event)
    return event
