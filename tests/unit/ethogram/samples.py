"""Payloads and documents that several tests start from."""

import json
from typing import Any

HEAD = b'{"v":1,"type":"%b","runId":"run-1","seq":7,"ts":"2026-01-01T00:00:00.000Z","payload":'

MINIMAL: dict[str, dict[str, Any]] = {
    "run.started": {"kind": "loop", "actor": "a", "harness": "h"},
    "run.finished": {"outcome": "completed", "durationMs": 1},
    "agent.started": {},
    "agent.text": {"text": "t"},
    "agent.tool_use": {"tool": "t"},
    "agent.tool_result": {"tool": "t"},
    "agent.completed": {},
    "agent.warning": {"message": "m"},
    "control.requested": {"controlId": "c", "kind": "interrupt", "by": "u"},
    "control.applied": {"controlId": "c", "ok": True},
    "capture.refused": {"cause": "gap", "sourceRunId": "r"},
    "decision.requested": {
        "decisionId": "d",
        "kind": "permission",
        "dossier": {"question": "q", "optionsRuledOut": ["o"], "recommendedAction": "r", "blastRadius": "b"},
        "options": [{"id": "allow", "label": "Allow"}, {"id": "deny", "label": "Deny"}],
    },
    "decision.answered": {"decisionId": "d", "optionId": "allow", "by": "u"},
}
"""The smallest valid payload of every type of the vocabulary."""


def document(event_type: str, payload: bytes, tail: bytes = b"}") -> bytes:
    """Canonical bytes of an event around a payload that is given as bytes."""
    return HEAD % event_type.encode() + payload + tail


def event_members(**changes: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON value
    """The members of an event, some of them changed; None takes a member away."""
    members = {"v": 1, "type": "x.y", "runId": "r", "seq": 1, "ts": "t", "payload": {}} | changes
    return {name: value for name, value in members.items() if value is not None}


def encode(members: object) -> bytes:
    """A document that is valid JSON and not canonical."""
    return json.dumps(members, ensure_ascii=False).encode()
