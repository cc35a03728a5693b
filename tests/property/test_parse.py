"""Parsing and writing, for any event and any bytes."""

import contextlib
import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ethogram
from ethogram import MAX_PAYLOAD_DEPTH, MAX_SAFE_INTEGER, Event, EventDraft, ParseError
from ethogram import parse as parse_module
from ethogram.representable import find_payload_fault, is_plainly_representable
from tests.property import naive_writer, slow_reader
from tests.property.slow_reader import Reading, Verdict
from tests.property.spelling import spell, spell_text
from tests.property.strategies import events, json_values, spoilt_json, spoilt_payloads


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


EVENT_MEMBERS: dict[str, Any] = {"v": 1, "type": "x", "runId": "r", "seq": 1, "ts": "t", "payload": {}}

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


@given(
    st.integers(1015, 1030),
    st.sampled_from([b"", b',"capturedAt":"t"']),
    st.sampled_from([(b"[", b"]"), (b'{"a":', b"}")]),
)
def test_both_ways_are_agreed_on_depth(levels: int, tail: bytes, brackets: tuple[bytes, bytes]) -> None:
    """At the depth where reading ends, both ways end at the same level, and the kit carries what it says it carries."""
    payload = brackets[0] * levels + b"0" + brackets[1] * levels
    raw = b'{"v":1,"type":"x","runId":"r","seq":1,"ts":"t","payload":' + payload + tail + b"}"
    try:
        event = ethogram.parse_event(raw)
    except ParseError:
        assert levels > MAX_PAYLOAD_DEPTH
    else:
        assert levels <= MAX_PAYLOAD_DEPTH
        assert ethogram.serialise_event(event) == raw


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
    """What is written parses to the same event and is written the same again, from every source that parsing takes."""
    raw = ethogram.serialise_event(event)
    parsed = ethogram.parse_event(raw)
    assert parsed == event
    assert ethogram.serialise_event(parsed) == raw
    for source in (raw.decode(), bytearray(raw), memoryview(raw), event.to_dict(), json.loads(raw)):
        assert ethogram.parse_event(source) == event  # type: ignore[arg-type]  # any buffer is taken, too
    loose = json.dumps(event.to_dict(), indent=1)
    assert ethogram.serialise_event(ethogram.parse_event(loose)) == raw


@given(events, st.text(st.characters(exclude_categories=["Cs"]), max_size=5), st.integers(1, MAX_SAFE_INTEGER))
def test_a_stamped_draft_is_the_event(event: Event, run_id: str, seq: int) -> None:
    """A draft reads as itself, from its members too, and once stamped is the event with its place in the run."""
    draft = EventDraft(event.type, event.payload, event.captured_at)
    members = {"type": event.type, "payload": event.payload}
    if event.captured_at is not None:
        members["capturedAt"] = event.captured_at
    assert ethogram.parse_draft(draft) == ethogram.parse_draft(members) == draft
    stamped = ethogram.stamp(ethogram.parse_draft(draft), run_id=run_id, seq=seq, ts=event.ts)
    assert stamped == event._replace(run_id=run_id, seq=seq)
    assert ethogram.parse_event(ethogram.serialise_event(stamped)) == stamped


def agrees_with_the_rulings(source: bytes | str | dict[str, Any], reading: Reading) -> None:
    """Hold the parser's verdict, and what it read, to the slow reader's."""
    try:
        event = ethogram.parse_event(source)
    except ParseError:
        assert reading.verdict is not Verdict.ACCEPT
    else:
        assert reading.verdict is not Verdict.REFUSE
        assert reading.members is not None
        assert ethogram.serialise_event(event) == naive_writer.write_event(reading.members)


@given(events, st.data())
def test_bytes_and_text_are_read_by_the_rulings(event: Event, data: st.DataObject) -> None:
    """A document, spelled in any way and then changed a little, is accepted or refused as the slow reader says."""
    raw = spell(event.to_dict(), random.Random(data.draw(st.integers(0, 2**32)))).encode()
    raw = data.draw(st.sampled_from([raw, ethogram.serialise_event(event)]))
    for _ in range(3):
        agrees_with_the_rulings(raw, slow_reader.read_document(raw))
        with contextlib.suppress(UnicodeDecodeError):
            agrees_with_the_rulings(raw.decode(), slow_reader.read_document(raw.decode()))
        start = data.draw(st.integers(0, len(raw)))
        end = data.draw(st.integers(start, min(len(raw), start + 3)))
        raw = raw[:start] + data.draw(st.sampled_from(FRAGMENTS) | st.just(b"")) + raw[end:]


@given(events, st.sampled_from([*EVENT_MEMBERS, "capturedAt"]), st.integers(0, 2**32))
def test_a_repeated_member_of_the_envelope_is_refused(event: Event, name: str, seed: int) -> None:
    """A member given twice is refused, however its name is spelled, wherever it stands, whether or not it differs."""
    order = random.Random(seed)
    members = event.to_dict()
    strict = {"v": "1", "seq": str(event.seq)}
    parts = [f"{spell_text(one, order)}:{strict.get(one) or spell(members[one], order)}" for one in members]
    parts.append(f"{spell_text(name, order)}:{strict.get(name) or spell(members.get(name, 't'), order)}")
    if name not in members:
        parts.append(parts[-1])
    order.shuffle(parts)
    text = "{" + ",".join(parts) + "}"
    assert slow_reader.read_document(text).verdict is Verdict.REFUSE
    with pytest.raises(ParseError) as caught:
        ethogram.parse_event(text)
    said = {"runId": caught.value.run_id, "seq": caught.value.seq, "type": caught.value.type}
    # Of what is given twice nothing can be said; the rest of the envelope is named, so that a refusal can name it.
    assert said == {one: None if one == name else members[one] for one in said}


@given(events, json_values, st.integers(0, 2**32))
def test_of_a_repeated_key_in_a_payload_the_last_counts(event: Event, hidden: object, seed: int) -> None:
    """Inside a payload the last member of a name is the one that is read, and the hidden one leaves no trace."""
    if not isinstance(event.payload, dict) or not event.payload:
        return
    order = random.Random(seed)
    name = order.choice(list(event.payload))
    payload = f"{{{spell_text(name, order)}:{spell(hidden, order)},{spell(event.payload, order).strip()[1:]}"
    raw = ethogram.serialise_event(event._replace(payload=0)).decode().replace('"payload":0', f'"payload":{payload}')
    agrees_with_the_rulings(raw, slow_reader.read_document(raw))
    assert ethogram.parse_event(raw) == event


odd_members: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, 0, 1, 1.0, 2, "", "x", [], {}, 2**53, 2.0**53, -1, 0.5]
)


@given(spoilt_json, st.dictionaries(st.sampled_from([*EVENT_MEMBERS, "capturedAt", "x"]), odd_members, max_size=2))
def test_dicts_are_read_by_the_rulings(typed: tuple[str, Any], changes: dict[str, Any]) -> None:
    """Members given as a dict are accepted or refused as the slow reader says, and so is the same as a document."""
    members = EVENT_MEMBERS | {"type": typed[0], "payload": typed[1]} | changes
    agrees_with_the_rulings(members, slow_reader.judge_members(members))
    text = json.dumps(members)
    agrees_with_the_rulings(text, slow_reader.read_document(text))


@given(spoilt_json, st.sampled_from([*EVENT_MEMBERS]))
def test_a_missing_member_is_refused_by_the_rulings(typed: tuple[str, Any], name: str) -> None:
    """Without any one of its six members nothing is an event."""
    members = EVENT_MEMBERS | {"type": typed[0], "payload": typed[1]}
    del members[name]
    assert slow_reader.judge_members(members).verdict is Verdict.REFUSE
    agrees_with_the_rulings(members, slow_reader.judge_members(members))


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
