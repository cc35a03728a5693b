"""Every way in which a record can be wrong by itself, each as a maker of a planned record for a run and a `seq`.

What is wrong and what must be said of it is taken from the protocol and from the relay's stated rulings.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

from tests.support.plan import Fault, Planned, event, event_bytes

SECRET = "swordfish"  # noqa: S105 - content to look for where it must not be, not a credential
Maker = Callable[[str, int], Planned]

OUTPUT_BYTES_MAX = 65_536
"""The `max.message.bytes` of a unified topic that a `too_large` record does not fit."""

_MALFORMED = Fault("envelope", "malformed")
_PAYLOAD = {"text": SECRET}


def _unread(value: Callable[[str, int], bytes | None]) -> Maker:
    """A record whose envelope cannot be read; its key names the run."""
    return lambda run_id, seq: Planned(value(run_id, seq), run_id.encode(), run_id, fault=_MALFORMED)


def _spelled(member: str, spelling: str) -> Maker:
    """An event with one member of the envelope written in another way."""

    def value(run_id: str, seq: int) -> bytes:
        members: dict[str, object] = {"v": 1, "type": "agent.text", "runId": run_id, "seq": seq, "ts": "now"}
        written = [
            f'"{name}":{spelling if name == member else json.dumps(held)}'
            for name, held in {**members, "payload": _PAYLOAD, member: None}.items()
        ]
        return ("{" + ",".join(written) + "}").encode()

    return _unread(value)


def _misattributed(key: bytes | None) -> Maker:
    """A right event whose record key does not name its run."""
    return lambda run_id, seq: Planned(
        event_bytes(run_id, seq, "agent.text", _PAYLOAD), key, run_id, seq, "agent.text", _MALFORMED
    )


def _content(event_type: str, payload: Mapping[str, Any], fault: Fault) -> Maker:
    return lambda run_id, seq: event(run_id, seq, event_type, payload, fault=fault)


def _raw_payload(payload: str, fault: Fault) -> Maker:
    """An event of an unknown type whose payload is given as JSON text."""

    def made(run_id: str, seq: int) -> Planned:
        value = event_bytes(run_id, seq, "x.unknown", "PAYLOAD").replace(b'"PAYLOAD"', payload.encode())
        if fault.stage == "envelope":
            return Planned(value, run_id.encode(), run_id, fault=fault)
        return Planned(value, run_id.encode(), run_id, seq, "x.unknown", fault)

    return made


def _over(path: str, count: int, maximum: int, finding: str = "OverBound") -> Fault:
    return Fault("content", "over_bound", {"field": path, "count": count, "max": maximum}, finding)


def _leaves(count: int) -> dict[str, str]:
    return {f"leaf{number}": "x" * 16_000 for number in range(count)}


UNREADABLE: Mapping[str, Maker] = {
    "tombstone": _unread(lambda _run, _seq: None),
    "empty": _unread(lambda _run, _seq: b""),
    "bad_json": _unread(lambda run, seq: event_bytes(run, seq, "agent.text", _PAYLOAD)[:-1]),
    "trailing_bytes": _unread(lambda run, seq: event_bytes(run, seq, "agent.text", _PAYLOAD) + b"{}"),
    "byte_order_mark": _unread(lambda run, seq: b"\xef\xbb\xbf" + event_bytes(run, seq, "agent.text", _PAYLOAD)),
    "utf_16": _unread(lambda run, seq: event_bytes(run, seq, "agent.text", _PAYLOAD).decode().encode("utf-16")),
    "not_utf_8": _unread(lambda run, seq: event_bytes(run, seq, "agent.text", _PAYLOAD)[:-2] + b"\xff}}"),
    "not_an_object": _unread(lambda _run, _seq: b"[1]"),
    "unknown_member": _unread(lambda run, seq: event_bytes(run, seq, "agent.text", _PAYLOAD, extra=SECRET)),
    "duplicate_member": _unread(
        lambda run, seq: event_bytes(run, seq, "agent.text", _PAYLOAD).replace(b'{"v":1', b'{"v":1,"v":1', 1)
    ),
    "missing_member": _unread(
        lambda run, seq: event_bytes(run, seq, "agent.text", _PAYLOAD).replace(b'"ts":', b'"capturedAt":', 1)
    ),
    "explicit_null": _unread(lambda run, seq: event_bytes(run, seq, "agent.text", _PAYLOAD, capturedAt=None)),
    "other_version": _spelled("v", "2"),
    "seq_zero": _spelled("seq", "0"),
    "seq_fractional": _spelled("seq", "3.0"),
    "seq_text": _spelled("seq", '"3"'),
    "seq_too_large": _spelled("seq", str(2**53)),
    "lone_surrogate": _spelled("ts", '"\\ud800"'),
    "not_a_number": _spelled("seq", "NaN"),
    "beyond_a_double": _raw_payload('{"n":1e400,"s":"' + SECRET + '"}', _MALFORMED),
    "not_json_number": _raw_payload('{"n":NaN,"s":"' + SECRET + '"}', _MALFORMED),
    "payload_lone_surrogate": _raw_payload('{"s":"' + SECRET + '\\udc00"}', _MALFORMED),
}
"""The envelope cannot be read, what is not JSON anywhere in the document included."""

MISATTRIBUTED: Mapping[str, Maker] = {
    "no_key": _misattributed(None),
    "empty_key": _misattributed(b""),
    "other_key": _misattributed(b"another-run"),
}
"""The envelope is right, and the record around it is not."""

UNREPRESENTABLE: Mapping[str, Maker] = {
    "missing_field": _content(
        "run.finished", {"outcome": "completed", "reason": SECRET}, Fault("content", "malformed")
    ),
    "wrong_type": _content("agent.text", {"text": [SECRET]}, Fault("content", "malformed")),
    "null_field": _content("agent.text", {"text": SECRET, "stage": None}, Fault("content", "malformed")),
    "unsafe_integer": _raw_payload('{"n":9007199254740992,"s":"' + SECRET + '"}', Fault("content", "malformed")),
}
"""The payload cannot be represented: malformed under either validation mode."""

INVALID: Mapping[str, Maker] = {
    "unknown_kind": _content(
        "run.started",
        {"kind": "dance", "actor": SECRET, "harness": "tests"},
        Fault("content", "malformed", finding="UnknownMember"),
    ),
    "unknown_outcome": _content(
        "run.finished",
        {"outcome": "vanished", "durationMs": 1, "reason": SECRET},
        Fault("content", "malformed", finding="UnknownMember"),
    ),
    "steer_without_text": _content(
        "control.requested",
        {"controlId": SECRET, "kind": "steer", "by": "operator"},
        Fault("content", "malformed", finding="Policy"),
    ),
    "field_bound": _content("agent.warning", {"message": SECRET + "é" * 4_088}, _over("payload.message", 4_097, 4_096)),
    "text_bound": _content("agent.text", {"text": SECRET + "😀" * 16_376}, _over("payload.text", 16_385, 16_384)),
    "universal_bound": _content(
        "x.unknown", {"deep": [{"leaf": SECRET + "x" * 16_376}]}, _over("payload.deep[0].leaf", 16_385, 16_384)
    ),
    "payload_size": _content(
        "x.unknown",
        _leaves(9),
        _over("payload", len(json.dumps(_leaves(9), separators=(",", ":"))), 131_072, "PayloadTooLarge"),
    ),
}
"""`validate` reports it: refused where the source enforces, forwarded and counted where it reports."""

TOO_LARGE: Mapping[str, Maker] = {
    "too_large": _content(
        "x.unknown", _leaves(5), Fault("size", "over_bound", {"field": "record", "max": OUTPUT_BYTES_MAX})
    ),
}
"""Right, and larger than the unified topic takes."""

FAULTY: Mapping[str, Maker] = {**UNREADABLE, **MISATTRIBUTED, **UNREPRESENTABLE, **INVALID}
"""Everything that fits the outputs."""
