"""Bytes to event: a strict envelope around a tolerant, retained payload.

It must never apply a bound, a closed set or a policy (`validate` does), and never let anything but `ParseError` out.
Unknown payload fields are kept, and so are a closed set's unfamiliar members.

Parsing has two stages, since a relay has questions of its own between them: `parse_envelope` reads the JSON and the
envelope, `check_payload` asks whether the payload is representable.

Spec: The envelope
"""

import re
from collections.abc import Callable
from typing import Any, Final

import orjson

from ethogram.bounds import MAX_PAYLOAD_DEPTH, SCHEMA_VERSION
from ethogram.document import find_repeated_members, locate_fault, read_loosely
from ethogram.envelope import Event, EventDraft, JsonValue, is_seq, is_text
from ethogram.errors import ParseError, ParseStage
from ethogram.representable import find_payload_fault, is_plainly_representable, name_kind
from ethogram.vocabulary.shape import FieldKind
from ethogram.walk import copy_value, find_leaf_fault, render_path, walk

_REQUIRED_MEMBERS: Final = ("v", "type", "runId", "seq", "ts", "payload")
_MEMBERS: Final = frozenset((*_REQUIRED_MEMBERS, "capturedAt"))
_DRAFT_MEMBERS: Final = frozenset(("type", "payload", "capturedAt"))

# The canonical layout. String bodies without a quote, a backslash or a control character stand for themselves, and a
# seq of 15 digits is a safe one. An event that ends in a quote and a brace has a `capturedAt`, or a bare string for a
# payload, which is left to the exact reading.
_HEAD: Final = (
    rb'\{"v":1,"type":"([^"\\\x00-\x1f]*+)","runId":"([^"\\\x00-\x1f]*+)","seq":([1-9][0-9]{0,14}+),'
    rb'"ts":"([^"\\\x00-\x1f]*+)","payload":'
)
_match_bare: Final = re.compile(_HEAD + rb"(.*)\}", re.DOTALL).fullmatch
_match_captured: Final = re.compile(_HEAD + rb'(.*),"capturedAt":"([^"\\\x00-\x1f]*+)"\}', re.DOTALL).fullmatch

# No value shorter than this nests deeper than the exact reading carries: a level takes two bytes.
_SHALLOW_BYTES: Final = 2 * MAX_PAYLOAD_DEPTH

_loads: Final = orjson.loads
# The class's own constructor takes twice as long, as it has arguments to sort out.
_make_event: Final[Callable[[type[Event], tuple[Any, ...]], Event]] = tuple.__new__


def parse_event(source: bytes | str | dict[str, JsonValue]) -> Event:
    """Read one event, whole.

    Args:
        source: a JSON document as UTF-8 bytes or text, or its members as a dict. A dict is copied.

    Returns:
        The event.

    Raises:
        ParseError: the source is not an event; nothing else is raised, whatever the source.

    Spec: The envelope
    """
    if type(source) is bytes:
        event = parse_envelope(source)
    elif isinstance(source, dict):
        event = _read_members(_admit(source), ())
    elif isinstance(source, str):
        event = parse_envelope(_encode(source))
    elif isinstance(source, (bytes, bytearray, memoryview)):
        event = parse_envelope(bytes(source))
    else:
        raise ParseError("event", f"expected bytes, str or dict, got a {type(source).__name__}", stage="envelope")
    if not is_plainly_representable(event.type, event.payload):
        _check_exactly(event)
    return event


def parse_envelope(raw: bytes) -> Event:
    """Read the JSON and the envelope; the payload is any JSON value and is not looked at.

    Canonical bytes take a short way. There the pattern shows the members up to the payload, and that the payload's
    slice is one JSON value by itself shows that no member follows it but `capturedAt`. So the envelope has these
    members, each once. Whatever the pattern or the slice does not fit is decided by the exact reading.

    Args:
        raw: one JSON document in UTF-8, with nothing before or after it but whitespace.

    Returns:
        The event.

    Raises:
        ParseError: stage `envelope`; nothing else is raised, whatever the bytes.

    Spec: The envelope
    """
    captured: bytes | None = None
    if raw.endswith(b'"}'):
        match = _match_captured(raw)
        if match is None:
            return _parse_exactly(raw)
        event_type, run_id, seq, ts, value, captured = match.groups()
    else:
        match = _match_bare(raw)
        if match is None:
            return _parse_exactly(raw)
        event_type, run_id, seq, ts, value = match.groups()
    if len(value) > _SHALLOW_BYTES and value.count(b"[") + value.count(b"{") > MAX_PAYLOAD_DEPTH:
        return _parse_exactly(raw)
    try:
        return _make_event(
            Event,
            (
                event_type.decode(),
                run_id.decode(),
                int(seq),
                ts.decode(),
                _loads(value),
                None if captured is None else captured.decode(),
            ),
        )
    except ValueError:  # Not UTF-8, or no JSON value: the exact reading says which, or knows better.
        return _parse_exactly(raw)


def check_payload(event: Event) -> None:
    """Ask whether an event's payload is representable: safe numbers, required fields, kinds of known fields.

    Args:
        event: an event from `parse_envelope`; not changed.

    Raises:
        ParseError: stage `payload`.

    Spec: Agent observation
    """
    if not is_plainly_representable(event.type, event.payload):
        _check_exactly(event)


def _check_exactly(event: Event) -> None:
    fault = find_payload_fault(event.type, event.payload)
    if fault is not None:
        raise ParseError(fault.path, fault.fault, stage="payload", run_id=event.run_id, seq=event.seq, type=event.type)


def parse_draft(source: EventDraft | dict[str, JsonValue]) -> EventDraft:
    """Read a draft as strictly as an event: no unknown member, no null, a payload that is representable.

    Args:
        source: a draft, or its members under their wire names. The payload is copied.

    Returns:
        The draft.

    Raises:
        ParseError: the source is not a draft.

    Spec: The envelope
    """
    if isinstance(source, EventDraft):
        members = {"type": source.type, "payload": source.payload}
        if source.captured_at is not None:
            members["capturedAt"] = source.captured_at
    elif isinstance(source, dict):
        members = source
    else:
        raise ParseError("draft", f"expected a draft or a dict, got a {type(source).__name__}", stage="envelope")
    _refuse_unknown(members, _DRAFT_MEMBERS, None)
    stamped = {"v": SCHEMA_VERSION, "runId": "", "seq": 1, "ts": "", **members}
    event = parse_event(stamped)
    return EventDraft(event.type, event.payload, event.captured_at)


def _encode(source: str) -> bytes:
    try:
        return source.encode()
    except UnicodeEncodeError as error:
        fault = f"expected text that UTF-8 can hold, got a lone surrogate at character {error.start}"
        raise ParseError("event", fault, stage="envelope") from None


def _parse_exactly(raw: bytes) -> Event:
    """Read any document; the one judge of what the short way does not fit."""
    try:
        members = _loads(raw)
    except orjson.JSONDecodeError as error:
        readable = _Readable(*read_loosely(raw))
        raise readable.fault("event", f"expected one JSON document in UTF-8, {locate_fault(raw, error)}") from None
    if type(members) is not dict:
        raise ParseError("event", f"expected an object, got {name_kind(members)}", stage="envelope")
    return _read_members(members, find_repeated_members(raw, len(members)))


def _admit(source: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Copy a dict, once it is known to hold nothing but JSON."""
    members = dict(source)
    for node, leaf in walk(members, MAX_PAYLOAD_DEPTH + 1):
        fault = find_leaf_fault(leaf)
        if fault is not None:
            readable = _Readable(members, ())
            raise readable.fault(render_path(node, "event").removeprefix("event."), fault)
    copied: dict[str, JsonValue] = copy_value(members)
    return copied


class _Readable:
    """What can be said of an envelope that is refused: the members that are there once and of their type."""

    def __init__(self, members: dict[str, JsonValue], repeated: tuple[str, ...]) -> None:
        def read(name: str, fits: Callable[[object], bool]) -> Any:  # noqa: ANN401 - as `fits` says
            value = members.get(name)
            return value if name not in repeated and fits(value) else None

        self.run_id: str | None = read("runId", is_text)
        self.seq: int | None = read("seq", is_seq)
        self.type: str | None = read("type", is_text)

    def fault(self, path: str, fault: str, stage: ParseStage = "envelope") -> ParseError:
        """The error for a refused source, naming what of it could be read."""
        return ParseError(path, fault, stage=stage, run_id=self.run_id, seq=self.seq, type=self.type)


def _refuse_unknown(members: dict[Any, JsonValue], known: frozenset[str], readable: _Readable | None) -> None:
    for name in members:
        if name not in known:
            path = name if isinstance(name, str) else "event"
            readable = readable or _Readable(members, ())
            raise readable.fault(path, f"expected one of {len(known)} members, got another")


def _read_members(members: dict[str, JsonValue], repeated: tuple[str, ...]) -> Event:
    """Hold an envelope's members to their names, number and types.

    Args:
        members: the document's members; the last one where a name is repeated.
        repeated: the names that the document repeats.
    """
    if members.keys() != _MEMBERS and members.keys() != _MEMBERS - {"capturedAt"}:
        readable = _Readable(members, repeated)
        for name in _REQUIRED_MEMBERS:
            if name not in members:
                raise readable.fault(name, "expected a value, got no such member")
        _refuse_unknown(members, _MEMBERS, readable)
    if repeated:
        raise _Readable(members, repeated).fault(repeated[0], "expected the member once, got it again")
    if type(members["v"]) is not int or members["v"] != SCHEMA_VERSION:
        raise _Readable(members, ()).fault("v", f"expected {SCHEMA_VERSION}, got another version")
    if not is_seq(members["seq"]):
        fault = f"expected {FieldKind.COUNT.value}, but not 0, got {name_kind(members['seq'])} that is none"
        raise _Readable(members, ()).fault("seq", fault)
    for name in ("type", "runId", "ts", "capturedAt"):
        if name in members and type(members[name]) is not str:
            raise _Readable(members, ()).fault(name, f"expected a string, got {name_kind(members[name])}")
    return Event(
        members["type"],
        members["runId"],
        members["seq"],
        members["ts"],
        members["payload"],
        members.get("capturedAt"),
    )
