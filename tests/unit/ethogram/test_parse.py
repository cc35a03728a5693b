"""Parsing: the strict envelope and the tolerant payload."""

import json
from typing import Any

import pytest

import ethogram
from ethogram import Event, EventDraft, ParseError
from tests.unit.ethogram.samples import MINIMAL, document, encode, event_members


def test_canonical_bytes_parse() -> None:
    """Every member of the envelope arrives, capturedAt only when present."""
    raw = document("x.y", b'{"a":1}')
    assert ethogram.parse_event(raw) == Event("x.y", "run-1", 7, "2026-01-01T00:00:00.000Z", {"a": 1})
    with_capture = document("x.y", b'{"a":1}', b',"capturedAt":"then"}')
    assert ethogram.parse_event(with_capture).captured_at == "then"


def test_bytes_text_and_dict_agree() -> None:
    """The same event comes of a document as bytes, as text, and of its members."""
    members = event_members(payload={"é": [1, None, {"b": 2.5}]}, capturedAt="c")
    raw = encode(members)
    event = ethogram.parse_event(raw)
    assert event == ethogram.parse_event(raw.decode()) == ethogram.parse_event(members)
    assert event == ethogram.parse_event(bytearray(raw))  # type: ignore[arg-type]  # taken, though not promised


def test_a_dict_is_copied() -> None:
    """Later changes of the caller's dict do not reach the event."""
    members = event_members(payload={"a": [{"b": 1}]})
    event = ethogram.parse_event(members)
    members["payload"]["a"][0]["b"] = 2
    assert event.payload == {"a": [{"b": 1}]}


@pytest.mark.parametrize("name", ["v", "type", "runId", "seq", "ts", "payload"])
def test_required_members_must_be_there(name: str) -> None:
    """An event without one of the six is refused, and the member named."""
    members = event_members()
    del members[name]
    for source in (members, encode(members)):
        with pytest.raises(ParseError) as caught:
            ethogram.parse_event(source)
        assert (caught.value.path, caught.value.stage) == (name, "envelope")


@pytest.mark.parametrize(
    ("name", "spelling"),
    [
        ("v", "2"),
        ("v", "1.0"),
        ("v", "true"),
        ("v", '"1"'),
        ("v", "null"),
        ("seq", "0"),
        ("seq", "-1"),
        ("seq", "-0"),
        ("seq", "1.0"),
        ("seq", "1e0"),
        ("seq", "9007199254740992"),
        ("seq", "99999999999999999999"),
        ("seq", '"1"'),
        ("seq", "null"),
        ("type", "1"),
        ("type", "null"),
        ("runId", "[]"),
        ("ts", "{}"),
        ("capturedAt", "null"),
        ("capturedAt", "1"),
        ("extra", "1"),
        ("", "1"),
        ("V", "1"),
    ],
)
def test_the_envelope_is_strict(name: str, spelling: str) -> None:
    """No other version, no seq but a plain positive integer, no null, no unknown member, no wrong type."""
    members = {member: json.dumps(value) for member, value in event_members().items()} | {name: spelling}
    raw = "{" + ",".join(f'"{member}":{value}' for member, value in members.items()) + "}"
    with pytest.raises(ParseError) as caught:
        ethogram.parse_event(raw)
    assert (caught.value.path, caught.value.stage) == (name, "envelope")


def test_the_largest_seq_is_taken() -> None:
    """2^53-1 is a seq, on either way through the parser."""
    raw = document("x", b"1").replace(b'"seq":7', b'"seq":9007199254740991')
    assert ethogram.parse_event(raw).seq == ethogram.MAX_SAFE_INTEGER
    assert ethogram.parse_event(raw + b"\n").seq == ethogram.MAX_SAFE_INTEGER


@pytest.mark.parametrize(
    ("tail", "path"),
    [
        (b',"payload":{}}', "payload"),
        (b',"seq":7}', "seq"),
        (b',"type":"x.y"}', "type"),
        (b',"\\u0074ype":"x.y"}', "type"),
        (b',"capturedAt":"a","capturedAt":"b"}', "capturedAt"),
        (b',"v":1,"payload":{}}', "v"),
    ],
)
def test_a_repeated_envelope_member_is_refused(tail: bytes, path: str) -> None:
    """A member stands once, however its name is spelled, and whatever its values."""
    with pytest.raises(ParseError) as caught:
        ethogram.parse_event(document("x.y", b'{"a":1}', tail))
    assert caught.value.path == path
    assert caught.value.seq == (None if path == "seq" else 7)
    assert caught.value.type == (None if path == "type" else "x.y")


def test_names_inside_a_payload_are_no_envelope() -> None:
    """A payload may use the envelope's names, and repeat its own; the last one counts."""
    payload = b'{"v":2,"type":"}","seq":{"capturedAt":[]},"payload":"\\"v\\":1","a":1,"a":2}'
    event = ethogram.parse_event(document("x.y", payload) + b" ")
    assert event == ethogram.parse_event(document("x.y", payload))
    assert event.payload["a"] == 2


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"null",
        b"[]",
        b'"x"',
        b'[1,"x","r",1,"t",{}]',
        b"\xef\xbb\xbf" + document("x", b"1"),
        document("x", b"1").decode().encode("utf-16"),
        document("x", b"1") + document("x", b"1"),
        document("x", b"1") + b"\x00",
        document("x", b""),
        document("x", b"1,2"),
        document("x", b'"\xff"'),
        document("x", b'"\xed\xa0\x80"'),
        document("x", b'"\\ud800"'),
        document("x", b'{"\\udc00":1}'),
        document("x", b'"\n"'),
        b'{"v":1,"type":"\xc3","runId":"r","seq":1,"ts":"t","payload":1}',
        document("x", b"1e400"),
        document("x", b"NaN"),
        document("x", b"01"),
        document("x", b"[1,]"),
        b"[" * 100_000,
        document("x", b'{"a":' * 5000),
        document("x", b"[" * 1024 + b"]" * 1024),
    ],
)
def test_what_is_no_document_is_refused(raw: bytes) -> None:
    """Bytes that are not one JSON object in UTF-8 are refused at the envelope."""
    with pytest.raises(ParseError) as caught:
        ethogram.parse_event(raw)
    assert caught.value.stage == "envelope"


@pytest.mark.parametrize("depth", [1, 120, 500, 1023])
def test_nesting_is_carried(depth: int) -> None:
    """Far more than 120 levels of payload are carried, on either way and as a dict."""
    payload = b"[" * depth + b"]" * depth
    raw = document("x", payload)
    event = ethogram.parse_event(raw)
    assert ethogram.serialise_event(event) == raw
    assert ethogram.serialise_event(ethogram.parse_event(b" " + raw)) == raw
    assert ethogram.serialise_event(ethogram.parse_event(event.to_dict())) == raw


@pytest.mark.parametrize(
    "number", [b"9007199254740992", b"-9007199254740992.0", b"1e16", b"1e21", b"1" * 200, b"1e308"]
)
@pytest.mark.parametrize("payload", [b"%b", b'{"a":[0,%b]}'])
def test_unsafe_integers_are_refused_anywhere(number: bytes, payload: bytes) -> None:
    """Beyond 2^53-1 every double is integral, so no number of that size is carried, in any type."""
    for event_type in ("x.y", "agent.started"):
        with pytest.raises(ParseError) as caught:
            ethogram.parse_event(document(event_type, b'{"n":' + payload % number + b"}"))
        assert caught.value.stage == "payload"
        assert caught.value.path.startswith("payload.n")
        assert (caught.value.run_id, caught.value.seq, caught.value.type) == ("run-1", 7, event_type)


@pytest.mark.parametrize("event_type", MINIMAL)
def test_required_payload_fields_must_be_there(event_type: str) -> None:
    """A known type without one of its required fields is malformed; with them alone it parses."""
    assert ethogram.parse_event(event_members(type=event_type, payload=MINIMAL[event_type]))
    for name in MINIMAL[event_type]:
        payload = {other: value for other, value in MINIMAL[event_type].items() if other != name}
        with pytest.raises(ParseError) as caught:
            ethogram.parse_event(event_members(type=event_type, payload=payload))
        assert (caught.value.path, caught.value.stage) == (f"payload.{name}", "payload")


@pytest.mark.parametrize(
    ("event_type", "change", "path"),
    [
        ("agent.text", {"text": None}, "payload.text"),
        ("agent.text", {"stage": None}, "payload.stage"),
        ("agent.text", {"truncated": 1}, "payload.truncated"),
        ("agent.started", {"pid": True}, "payload.pid"),
        ("agent.started", {"pid": -1}, "payload.pid"),
        ("agent.started", {"pid": 1.5}, "payload.pid"),
        ("agent.completed", {"costUsd": False}, "payload.costUsd"),
        ("agent.completed", {"usage": []}, "payload.usage"),
        ("agent.completed", {"usage": {"inputTokens": "1"}}, "payload.usage.inputTokens"),
        ("run.started", {"ceilings": {"wallMs": 0.5}}, "payload.ceilings.wallMs"),
        ("decision.requested", {"options": [{"id": "a", "label": "A"}, 1]}, "payload.options[1]"),
        ("decision.requested", {"options": [{"id": "a"}]}, "payload.options[0].label"),
        ("decision.requested", {"options": {}}, "payload.options"),
    ],
)
def test_known_fields_keep_their_kinds(event_type: str, change: dict[str, Any], path: str) -> None:
    """A known field of a wrong kind, or null, is refused and named."""
    with pytest.raises(ParseError) as caught:
        ethogram.parse_event(event_members(type=event_type, payload=MINIMAL[event_type] | change))
    assert caught.value.path == path


def test_integral_floats_are_integers() -> None:
    """`5.0` and `-0.0` stand in an integer field, and are written `5` and `0`."""
    raw = document("run.finished", b'{"durationMs":5.0,"outcome":"x","usage":{"inputTokens":-0.0}}')
    expected = b'{"durationMs":5,"outcome":"x","usage":{"inputTokens":0}}'
    assert expected in ethogram.serialise_event(ethogram.parse_event(raw))


def test_payloads_are_retained() -> None:
    """Unknown fields, unfamiliar members and texts over their bound are carried as they came."""
    payload = MINIMAL["run.started"] | {"kind": "novel", "__proto__": {"x": None}, "note": "n" * 20_000}
    assert ethogram.parse_event(event_members(type="run.started", payload=payload)).payload == payload


def test_the_stages_part_envelope_from_payload() -> None:
    """The envelope parses whatever the payload; the payload's faults come with the second stage."""
    ethogram.check_payload(ethogram.parse_envelope(document("agent.text", b'{"text":"t"}')))
    event = ethogram.parse_envelope(document("agent.text", b'{"text":1e20}'))
    assert event.seq == 7
    with pytest.raises(ParseError) as caught:
        ethogram.check_payload(event)
    assert caught.value.stage == "payload"


@pytest.mark.parametrize(
    ("raw", "readable"),
    [
        (b'{"v":1,"type":"x","runId":"r","seq":2,"ts":"t","payload":"\xff"}', ("r", 2, "x")),
        (b'{"v":1,"type":"x","runId":"r","seq":2,"ts":"t","payload":1e400}', ("r", 2, "x")),
        (b'\xef\xbb\xbf{"v":1,"type":"x","runId":"r","seq":2,"ts":"t","payload":1}', ("r", 2, "x")),
        (b'{"v":1,"type":"x","runId":"r\xff","seq":2,"ts":"t","payload":1}', (None, 2, "x")),
        (b'{"v":1,"type":"x","runId":"r","runId":"r","seq":2,"ts":"t","payload":1}', (None, 2, "x")),
        (b'{"v":1,"type":"x","runId":"r","runId":"r","seq":2,"ts":"t","payload":NaN}', (None, 2, "x")),
        (b'{"v":1,"type":7,"runId":["r"],"seq":2.5,"ts":"t","payload":1}', (None, None, None)),
        (b'{"v":1,"type":"x","runId":"r","seq":1.0,"payload":1}', ("r", None, "x")),
        (b'{"type":"x","runId":"r","seq":3', (None, None, None)),
        (b'[["runId","r"]]', (None, None, None)),
        (b'[["runId","r"]], NaN', (None, None, None)),
    ],
)
def test_a_refusal_can_name_its_source(raw: bytes, readable: tuple[Any, ...]) -> None:
    """What of the envelope is readable and unambiguous travels with the error."""
    with pytest.raises(ParseError) as caught:
        ethogram.parse_event(raw)
    assert (caught.value.run_id, caught.value.seq, caught.value.type) == readable


class _Text(str):
    """A string that is not quite one."""

    __slots__ = ()


def _cyclic() -> dict[str, Any]:
    value: dict[str, Any] = {}
    value["a"] = [value]
    return value


@pytest.mark.parametrize(
    "payload",
    [
        float("nan"),
        float("-inf"),
        10**400,
        2**64,
        (1,),
        b"x",
        {1: 2},
        {"\ud800": 1},
        "\ud800",
        _Text("x"),
        object(),
        {1},
        _cyclic(),
    ],
)
def test_a_dict_may_hold_nothing_but_json(payload: Any) -> None:  # noqa: ANN401 - wrong on purpose
    """What JSON cannot hold is refused in a dict, with the kit's own error."""
    for wrapped in (payload, [payload], {"a": payload}):
        with pytest.raises(ParseError):
            ethogram.parse_event(event_members(payload=wrapped))


@pytest.mark.parametrize("source", [None, 1, [], object(), {1: 2}, {}, "\ud800", "", ("v", 1)])
def test_other_sources_are_refused(source: Any) -> None:  # noqa: ANN401 - wrong on purpose
    """Whatever is given, nothing but ParseError comes back."""
    with pytest.raises(ParseError):
        ethogram.parse_event(source)


def test_positions_count_bytes() -> None:
    """A fault's position is in bytes, whatever characters come before it."""
    with pytest.raises(ParseError, match="at byte 7:"):
        ethogram.parse_event('{"éé"x')


@pytest.mark.parametrize(
    "draft",
    [
        {"type": "x"},
        {"payload": 1},
        {"type": "x", "payload": 1, "seq": 1},
        {"type": "x", "payload": 1, "capturedAt": None},
        {"type": "x", "payload": 1, 5: 1},
        {"type": 1, "payload": 1},
        {"type": "agent.text", "payload": {}},
        EventDraft("x", float("nan")),
        None,
    ],
)
def test_drafts_are_strict(draft: Any) -> None:  # noqa: ANN401 - wrong on purpose
    """A draft has its three members and no other, and would parse once stamped."""
    with pytest.raises(ParseError):
        ethogram.parse_draft(draft)


def test_drafts_parse() -> None:
    """A draft comes of a draft or of its members."""
    draft = EventDraft("agent.text", {"text": "t"}, "then")
    assert ethogram.parse_draft(draft) == draft
    assert ethogram.parse_draft({"type": "x", "payload": None}) == EventDraft("x", None)
