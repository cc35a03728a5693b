"""The payload classes of the `agent` family.

Generated from the vocabulary by `make generate`; change the vocabulary, not this file.

Spec: Agent observation
"""

from dataclasses import dataclass
from typing import ClassVar

from ethogram.payloads.base import Attributes, KnownPayload, Objects, attributes_of_type
from ethogram.payloads.objects import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentStarted(KnownPayload):
    """`agent.started`: an agent began.

    Attributes:
        stage: the producer's own stage of work; an open name.
        model: the model that answers.
        session_id: the harness's own id of the session, the way back to its raw transcript.
        pid: the process id.

    Spec: Agent observation
    """

    TYPE: ClassVar[str] = "agent.started"
    ATTRIBUTES: ClassVar[Attributes] = attributes_of_type("agent.started")

    stage: str | None = None
    model: str | None = None
    session_id: str | None = None
    pid: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentText(KnownPayload):
    """`agent.text`: the agent said something.

    Attributes:
        text: what the agent said; at most 16384 scalars.
        stage: the producer's own stage of work; an open name.
        truncated: whether `text` was cut to its bound.
        parent_tool_use_id: the tool call that this is nested beneath.

    Spec: Agent observation
    """

    TYPE: ClassVar[str] = "agent.text"
    ATTRIBUTES: ClassVar[Attributes] = attributes_of_type("agent.text")

    text: str
    stage: str | None = None
    truncated: bool | None = None
    parent_tool_use_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentToolUse(KnownPayload):
    """`agent.tool_use`: the agent called a tool.

    Attributes:
        tool: the tool's name.
        stage: the producer's own stage of work; an open name.
        input_excerpt: what the tool was given; at most 4096 scalars.
        truncated: whether `inputExcerpt` was cut to its bound.
        tool_use_id: the call's id; producers may repeat one.
        parent_tool_use_id: the tool call that this is nested beneath.

    Spec: Agent observation
    """

    TYPE: ClassVar[str] = "agent.tool_use"
    ATTRIBUTES: ClassVar[Attributes] = attributes_of_type("agent.tool_use")

    tool: str
    stage: str | None = None
    input_excerpt: str | None = None
    truncated: bool | None = None
    tool_use_id: str | None = None
    parent_tool_use_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentToolResult(KnownPayload):
    """`agent.tool_result`: a tool answered; `toolUseId` names the call.

    Attributes:
        tool: the tool's name.
        stage: the producer's own stage of work; an open name.
        is_error: whether the harness calls the result an error.
        result_excerpt: what the tool gave back; at most 4096 scalars.
        truncated: whether `resultExcerpt` was cut to its bound.
        tool_use_id: the call's id; producers may repeat one.
        parent_tool_use_id: the tool call that this is nested beneath.

    Spec: Agent observation
    """

    TYPE: ClassVar[str] = "agent.tool_result"
    ATTRIBUTES: ClassVar[Attributes] = attributes_of_type("agent.tool_result")

    tool: str
    stage: str | None = None
    is_error: bool | None = None
    result_excerpt: str | None = None
    truncated: bool | None = None
    tool_use_id: str | None = None
    parent_tool_use_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentCompleted(KnownPayload):
    """`agent.completed`: an agent completed, with whatever totals its harness reports.

    Attributes:
        stage: the producer's own stage of work; an open name.
        turns: turns that were taken; the bound is `ceilings.turns`.
        session_id: the harness's own id of the session, the way back to its raw transcript.
        cost_usd: the session's cost so far, in US dollars.
        model: the model that answered.
        usage: what was consumed, as the harness reports it.
        duration_ms: milliseconds.
        estimated: whether cost or usage is an estimate.

    Spec: Agent observation
    """

    TYPE: ClassVar[str] = "agent.completed"
    ATTRIBUTES: ClassVar[Attributes] = attributes_of_type("agent.completed")
    OBJECTS: ClassVar[Objects] = {"Usage": Usage}

    stage: str | None = None
    turns: int | None = None
    session_id: str | None = None
    cost_usd: float | None = None
    model: str | None = None
    usage: Usage | None = None
    duration_ms: int | None = None
    estimated: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentWarning(KnownPayload):
    """`agent.warning`: the harness warned of something that ends nothing.

    Attributes:
        message: what the harness warned of; at most 4096 scalars.
        stage: the producer's own stage of work; an open name.

    Spec: Agent observation
    """

    TYPE: ClassVar[str] = "agent.warning"
    ATTRIBUTES: ClassVar[Attributes] = attributes_of_type("agent.warning")

    message: str
    stage: str | None = None
