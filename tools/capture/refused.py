"""Records that a relay refuses, each for a reason of its own, and the name of the variant that says so."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

TS: Final = "2026-12-01T08:00:00.000Z"
UNIFIED_BYTES_MAX: Final = 400_000

GARDEN: Final = "garden.events"
ORCHARD: Final = "orchard.events"
MEADOW: Final = "meadow.events"


@dataclass(frozen=True, slots=True)
class Sent:
    """One record of a source.

    Attributes:
        value: its bytes; None for a tombstone.
        key: its key.
        topic: the source.
        partition: where it goes.
        variant: the name of the refusal that it provokes; empty for one that is forwarded.
    """

    value: bytes | None
    key: bytes | None
    topic: str = GARDEN
    partition: int = 0
    variant: str = ""


def _event(run_id: str, seq: object, event_type: str, payload: object, **more: object) -> bytes:
    members = {"v": 1, "type": event_type, "runId": run_id, "seq": seq, "ts": TS, "payload": payload, **more}
    return json.dumps(members, ensure_ascii=False, separators=(",", ":")).encode()


def _sent(run_id: str, seq: int, event_type: str, payload: Mapping[str, Any], variant: str = "", **where: Any) -> Sent:  # noqa: ANN401 - of a record
    return Sent(_event(run_id, seq, event_type, payload), run_id.encode(), variant=variant, **where)


def _started(run_id: str, **where: Any) -> Sent:  # noqa: ANN401 - of a record
    return _sent(run_id, 1, "run.started", {"kind": "session", "actor": "ada", "harness": "spade 1.0"}, **where)


def _refused(name: str) -> str:
    return f"capture.refused/{name}"


def _ordered() -> list[Sent]:
    """A gap, a repetition, and what follows an end."""
    said = {"text": "Watered."}
    return [
        _started("run-order"),
        _sent("run-order", 3, "agent.text", said, _refused("gap")),
        _sent("run-order", 2, "agent.text", said),
        _sent("run-order", 2, "agent.text", said, _refused("duplicate")),
        _sent("run-order", 3, "run.finished", {"outcome": "completed", "durationMs": 5}),
        _sent("run-order", 4, "agent.text", said, _refused("finished")),
    ]


def _over_bound() -> list[Sent]:
    """A field, a payload and a record over their bounds."""
    leaves = {f"leaf{number}": "x" * 16_000 for number in range(9)}
    return [
        _sent("run-text", 1, "agent.text", {"text": "🌷" * 16_385}, _refused("over-bound-field")),
        _sent("run-size", 1, "x.harvest", leaves, _refused("over-bound-payload")),
        Sent(
            _event("run-record", 1, "x.harvest", {}, ts="t" * 500_000),
            b"run-record",
            variant=_refused("over-bound-record"),
        ),
        _sent("r" * 5_000, 1, "agent.text", {"text": "x" * 16_385}, _refused("over-bound-field-long-run-id")),
    ]


def _content() -> list[Sent]:
    """Events whose envelope stands and whose payload does not."""
    steer = {"controlId": "c1", "kind": "steer", "by": "ada"}
    return [
        _sent("run-field", 1, "run.finished", {"outcome": "completed"}, _refused("malformed-payload-missing-field")),
        _sent("run-kind", 1, "agent.text", {"text": 7}, _refused("malformed-payload-another-kind")),
        _sent("run-null", 1, "agent.text", {"text": "x", "stage": None}, _refused("malformed-payload-null")),
        _sent("run-number", 1, "x.harvest", {"seeds": 2**53}, _refused("malformed-payload-unsafe-number")),
        Sent(_event("run-array", 1, "agent.text", []), b"run-array", variant=_refused("malformed-payload-no-object")),
        _sent(
            "run-member",
            1,
            "run.finished",
            {"outcome": "wilted", "durationMs": 1},
            _refused("malformed-unknown-member"),
        ),
        _sent("run-policy", 1, "control.requested", steer, _refused("malformed-policy")),
    ]


def _envelopes() -> list[Sent]:
    """Records that are no events, by what of them can still be read."""
    said = {"text": "Watered."}
    right = _event("run-envelope", 1, "agent.text", said)
    key = b"run-envelope"

    def spelled(name: str, old: bytes, new: bytes) -> Sent:
        return Sent(right.replace(old, new, 1), key, variant=_refused(f"malformed-envelope-{name}"))

    return [
        Sent(b"{", b"run-unread", variant=_refused("malformed-envelope-no-json")),
        Sent(b"{", None, variant=_refused("malformed-envelope-unattributed")),
        Sent(None, b"run-tombstone", variant=_refused("malformed-tombstone")),
        Sent(b"[1]", b"run-unread", variant=_refused("malformed-envelope-no-object")),
        spelled("repeated-member", b'{"v":1', b'{"v":1,"v":1'),
        spelled("version", b'"v":1', b'"v":2'),
        spelled("seq", b'"seq":1', b'"seq":0'),
        spelled("ts", b'"ts":"' + TS.encode() + b'"', b'"ts":7'),
        spelled("no-payload", b'"payload":{"text":"Watered."}', b'"capturedAt":"then"'),
        spelled("type", b'"type":"agent.text"', b'"type":7'),
        spelled("run-id", b'"runId":"run-envelope"', b'"runId":7'),
        spelled("captured-at", b'"payload":', b'"capturedAt":null,"payload":'),
        spelled("another-member", b'"payload":', b'"weather":"fine","payload":'),
    ]


def _attribution(own_run_prefix: str) -> list[Sent]:
    """Right events in records that are not theirs to be in."""
    said = {"text": "Watered."}
    value = _event("run-key", 1, "agent.text", said)
    return [
        Sent(value, None, variant=_refused("malformed-no-key")),
        Sent(value, b"run-lock", variant=_refused("malformed-another-key")),
        _sent(f"{own_run_prefix}x", 1, "agent.text", said, _refused("malformed-reserved-run")),
        _started("run-shared"),
        _sent("run-shared", 2, "agent.text", said, _refused("malformed-another-source"), topic=ORCHARD),
        *(
            _sent(
                "run-place", 1, "agent.text", said, _refused("malformed-partition"), topic=MEADOW, partition=partition
            )
            for partition in (0, 1)
        ),
    ]


def records(own_run_prefix: str) -> list[Sent]:
    """Everything that the relay has to refuse, and what it needs before it.

    Args:
        own_run_prefix: what the relay's own run ids begin with.

    Returns:
        Records in the order to send them in. Of the two for another partition one is right.
    """
    return [*_ordered(), *_over_bound(), *_content(), *_envelopes(), *_attribution(own_run_prefix)]
