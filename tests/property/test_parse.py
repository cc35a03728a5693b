"""Parsing and writing, for any event and any bytes."""

import contextlib
import json
import random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import ethogram
from ethogram import Event, ParseError
from ethogram import parse as parse_module
from ethogram.canonical import _orjson_suffices, _write_exactly, serialise_value
from ethogram.representable import find_payload_fault, is_plainly_representable
from tests.property.strategies import events, json_values, safe_floats, spoilt_payloads


def verdict(raw: bytes) -> tuple[Any, ...]:
    """What `parse_envelope` says of bytes, in a form that tells 1 from 1.0 and an event from a refusal."""
    try:
        event = ethogram.parse_envelope(raw)
    except ParseError as error:
        return "refused", error.path, str(error), error.run_id, error.seq, error.type
    return "taken", repr(event)


def exact_verdict(raw: bytes) -> tuple[Any, ...]:
    """What the exact reading alone says of bytes."""
    try:
        event = parse_module._parse_exactly(raw)  # noqa: SLF001 - the judge that the short way is held against
    except ParseError as error:
        return "refused", error.path, str(error), error.run_id, error.seq, error.type
    return "taken", repr(event)


FRAGMENTS = [
    b'"', b"\\", b"{", b"}", b",", b":", b"[", b"]", b"\x00", b"\n", b" ", b"\xff", b"\xc3\xa9", b"0", b"1.0", b"e5",
    b"-", b"null", b'"v":1,', b',"payload":1', b',"seq":2', b',"capturedAt":"t"', b',"capturedAt":null', b"\\u0022",
    b'"type":"x",', b"}}", b'"}', b"\\ud800", b"9" * 16,
]  # fmt: skip


@given(events, st.data())
def test_the_short_way_agrees_with_the_exact_reading(event: Event, data: st.DataObject) -> None:
    """On canonical bytes, and on bytes that differ from them a little, both ways give one verdict."""
    raw = ethogram.serialise_event(event)
    assert verdict(raw) == exact_verdict(raw)
    for _ in range(4):
        start = data.draw(st.integers(0, len(raw)))
        end = data.draw(st.integers(start, min(len(raw), start + 3)))
        raw = raw[:start] + data.draw(st.sampled_from(FRAGMENTS) | st.just(b"")) + raw[end:]
        assert verdict(raw) == exact_verdict(raw)


@given(events)
def test_members_put_between_leave_both_ways_agreed(event: Event) -> None:
    """A member added at any joint of the envelope is judged alike on both ways."""
    raw = ethogram.serialise_event(event)
    for joint in (b',"type":', b',"runId":', b',"seq":', b',"ts":', b',"payload":', b',"capturedAt":'):
        for member in (b',"ts":"t"', b',"payload":{}', b',"x":1', b',"capturedAt":"t"', b',"\\u0074s":"t"'):
            changed = raw.replace(joint, member + joint, 1)
            assert verdict(changed) == exact_verdict(changed)
    for member in (b',"payload":{}}', b',"capturedAt":"t"}', b',"capturedAt":"t","capturedAt":"u"}', b',"v":1}'):
        changed = raw[:-1] + member
        assert verdict(changed) == exact_verdict(changed)


@given(events)
def test_events_survive_the_round_trip(event: Event) -> None:
    """What is written parses to the same event and is written the same again."""
    raw = ethogram.serialise_event(event)
    parsed = ethogram.parse_event(raw)
    assert parsed == event
    assert ethogram.serialise_event(parsed) == raw
    assert ethogram.parse_event(event.to_dict()) == event
    assert ethogram.parse_event(raw.decode()) == event


def shuffle(value: Any, order: random.Random) -> Any:  # noqa: ANN401 - any JSON value
    """The same value, keys in another order and integers spelled as floats now and then."""
    if isinstance(value, dict):
        names = list(value)
        order.shuffle(names)
        return {name: shuffle(value[name], order) for name in names}
    if isinstance(value, list):
        return [shuffle(element, order) for element in value]
    if type(value) is int and order.random() < 0.5:
        return float(value)
    return value


@given(events, st.integers(0, 2**16))
def test_spelling_does_not_reach_the_canonical_form(event: Event, seed: int) -> None:
    """Key order, whitespace, escapes and the spelling of numbers are gone once an event is written."""
    order = random.Random(seed)
    members = event.to_dict()
    members["payload"] = shuffle(members["payload"], order)
    names = list(members)
    order.shuffle(names)
    text = json.dumps({name: members[name] for name in names}, indent=order.choice([None, 1]), ensure_ascii=True)
    assert ethogram.serialise_event(ethogram.parse_event(text)) == ethogram.serialise_event(event)


@given(json_values)
def test_both_writers_agree(value: Any) -> None:  # noqa: ANN401 - any JSON value
    """Where the quick writer is trusted it writes what the exact one does, and both write that value."""
    written = serialise_value(value)
    assert written == _write_exactly(value)
    assert _orjson_suffices(value) or "." in repr(value) or "e" in repr(value)
    assert json.loads(written) == value


@given(safe_floats)
def test_numbers_round_trip(number: float) -> None:
    """Any number of an event is written with digits that read back as it."""
    assert float(serialise_value(number)) == number


@given(st.binary(max_size=60) | st.text(max_size=60) | st.lists(st.sampled_from(FRAGMENTS)).map(b"".join))
def test_any_input_gives_an_event_or_a_parse_error(source: bytes | str) -> None:
    """Nothing but ParseError comes out, whatever goes in."""
    with contextlib.suppress(ParseError):
        assert isinstance(ethogram.parse_event(source), Event)


@given(spoilt_payloads)
def test_the_quick_look_at_payloads_proves_what_it_says(typed: tuple[str, Any]) -> None:
    """A payload that the quick look passes has no fault; any dict gives an event or a ParseError."""
    members = {"v": 1, "type": typed[0], "runId": "r", "seq": 1, "ts": "t", "payload": typed[1]}
    try:
        event = ethogram.parse_event(members)
    except ParseError as error:
        if error.stage == "payload":
            assert not is_plainly_representable(*typed)
    else:
        assert find_payload_fault(event.type, event.payload) is None
