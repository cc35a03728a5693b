"""The union of all payloads, and the class of each type.

Generated from the vocabulary by `make generate`; change the vocabulary, not this file.

Spec: Status
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

from ethogram.payloads.agent import AgentCompleted, AgentStarted, AgentText, AgentToolResult, AgentToolUse, AgentWarning
from ethogram.payloads.base import KnownPayload, UnknownPayload
from ethogram.payloads.capture import CaptureRefused
from ethogram.payloads.control import ControlApplied, ControlRequested
from ethogram.payloads.decision import DecisionAnswered, DecisionRequested
from ethogram.payloads.run import RunFinished, RunStarted

Payload: TypeAlias = (
    RunStarted
    | RunFinished
    | AgentStarted
    | AgentText
    | AgentToolUse
    | AgentToolResult
    | AgentCompleted
    | AgentWarning
    | ControlRequested
    | ControlApplied
    | CaptureRefused
    | DecisionRequested
    | DecisionAnswered
    | UnknownPayload
)
"""What `read_payload` gives: match on these, and a type checker says which are missing."""

PAYLOAD_CLASSES: Final[Mapping[str, type[KnownPayload]]] = MappingProxyType(
    {
        RunStarted.TYPE: RunStarted,
        RunFinished.TYPE: RunFinished,
        AgentStarted.TYPE: AgentStarted,
        AgentText.TYPE: AgentText,
        AgentToolUse.TYPE: AgentToolUse,
        AgentToolResult.TYPE: AgentToolResult,
        AgentCompleted.TYPE: AgentCompleted,
        AgentWarning.TYPE: AgentWarning,
        ControlRequested.TYPE: ControlRequested,
        ControlApplied.TYPE: ControlApplied,
        CaptureRefused.TYPE: CaptureRefused,
        DecisionRequested.TYPE: DecisionRequested,
        DecisionAnswered.TYPE: DecisionAnswered,
    }
)
"""The class of each type of the vocabulary."""
