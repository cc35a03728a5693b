"""Typed payloads: the public list, and no logic.

Generated from the vocabulary by `make generate`; change the vocabulary, not this file.

Spec: Status
"""

from ethogram.payloads.agent import AgentCompleted, AgentStarted, AgentText, AgentToolResult, AgentToolUse, AgentWarning
from ethogram.payloads.base import KnownPayload, PayloadObject, UnknownMember, UnknownPayload
from ethogram.payloads.capture import CaptureRefused
from ethogram.payloads.control import ControlApplied, ControlRequested
from ethogram.payloads.decision import DecisionAnswered, DecisionRequested
from ethogram.payloads.objects import (
    Ceilings,
    ControlKind,
    DecisionKind,
    DecisionOption,
    Dossier,
    RefusalCause,
    RunKind,
    RunOutcome,
    Usage,
)
from ethogram.payloads.read import read_payload
from ethogram.payloads.registry import PAYLOAD_CLASSES, Payload
from ethogram.payloads.run import RunFinished, RunStarted

__all__ = [
    "PAYLOAD_CLASSES",
    "AgentCompleted",
    "AgentStarted",
    "AgentText",
    "AgentToolResult",
    "AgentToolUse",
    "AgentWarning",
    "CaptureRefused",
    "Ceilings",
    "ControlApplied",
    "ControlKind",
    "ControlRequested",
    "DecisionAnswered",
    "DecisionKind",
    "DecisionOption",
    "DecisionRequested",
    "Dossier",
    "KnownPayload",
    "Payload",
    "PayloadObject",
    "RefusalCause",
    "RunFinished",
    "RunKind",
    "RunOutcome",
    "RunStarted",
    "UnknownMember",
    "UnknownPayload",
    "Usage",
    "read_payload",
]
