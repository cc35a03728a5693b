"""The protocol kit: the public list, and no logic.

Spec: Status
"""

from ethogram.audit import Audit
from ethogram.bounds import (
    FIRST_SEQ,
    MAX_EXCERPT_SCALARS,
    MAX_PAYLOAD_BYTES,
    MAX_PAYLOAD_DEPTH,
    MAX_SAFE_INTEGER,
    MAX_TEXT_SCALARS,
    SCHEMA_VERSION,
)
from ethogram.canonical import serialise_event, serialise_validation_error
from ethogram.decisions import validate_decision_answer
from ethogram.envelope import Event, EventDraft, stamp
from ethogram.errors import (
    DecisionAnswerError,
    EthogramError,
    FoldError,
    ParseError,
    RunClosedError,
    SequenceError,
    SerialiseError,
    ValidationError,
)
from ethogram.excerpt import Excerpt, excerpt
from ethogram.fold import RunView, fold_run
from ethogram.gapless import Auditor, audit_runs, prove_gapless
from ethogram.parse import check_payload, parse_draft, parse_envelope, parse_event
from ethogram.payloads import (
    AgentCompleted,
    AgentStarted,
    AgentText,
    AgentToolResult,
    AgentToolUse,
    AgentWarning,
    CaptureRefused,
    Ceilings,
    ControlApplied,
    ControlKind,
    ControlRequested,
    DecisionAnswered,
    DecisionKind,
    DecisionOption,
    DecisionRequested,
    Dossier,
    Payload,
    RefusalCause,
    RunFinished,
    RunKind,
    RunOutcome,
    RunStarted,
    UnknownMember,
    UnknownPayload,
    Usage,
    read_payload,
)
from ethogram.refusal import refusal_of
from ethogram.sink import InMemorySink, Sink
from ethogram.stream import StreamFold, StreamView, fold_stream
from ethogram.validate import validate, validate_event
from ethogram.vocabulary import VOCABULARY

__all__ = [
    "FIRST_SEQ",
    "MAX_EXCERPT_SCALARS",
    "MAX_PAYLOAD_BYTES",
    "MAX_PAYLOAD_DEPTH",
    "MAX_SAFE_INTEGER",
    "MAX_TEXT_SCALARS",
    "SCHEMA_VERSION",
    "VOCABULARY",
    "AgentCompleted",
    "AgentStarted",
    "AgentText",
    "AgentToolResult",
    "AgentToolUse",
    "AgentWarning",
    "Audit",
    "Auditor",
    "CaptureRefused",
    "Ceilings",
    "ControlApplied",
    "ControlKind",
    "ControlRequested",
    "DecisionAnswerError",
    "DecisionAnswered",
    "DecisionKind",
    "DecisionOption",
    "DecisionRequested",
    "Dossier",
    "EthogramError",
    "Event",
    "EventDraft",
    "Excerpt",
    "FoldError",
    "InMemorySink",
    "ParseError",
    "Payload",
    "RefusalCause",
    "RunClosedError",
    "RunFinished",
    "RunKind",
    "RunOutcome",
    "RunStarted",
    "RunView",
    "SequenceError",
    "SerialiseError",
    "Sink",
    "StreamFold",
    "StreamView",
    "UnknownMember",
    "UnknownPayload",
    "Usage",
    "ValidationError",
    "audit_runs",
    "check_payload",
    "excerpt",
    "fold_run",
    "fold_stream",
    "parse_draft",
    "parse_envelope",
    "parse_event",
    "prove_gapless",
    "read_payload",
    "refusal_of",
    "serialise_event",
    "serialise_validation_error",
    "stamp",
    "validate",
    "validate_decision_answer",
    "validate_event",
]
