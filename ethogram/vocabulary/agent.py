"""The `agent` family: what an agent was observed doing. `stage` stays an open string on every one.

Spec: Agent observation
"""

from typing import Final

from ethogram.bounds import MAX_TEXT_SCALARS
from ethogram.vocabulary.shape import (
    USAGE,
    EventType,
    Family,
    count,
    excerpted,
    flag,
    number,
    required,
    text,
    truncated,
)

_STAGE: Final = text("stage", "the producer's own stage of work; an open name")
_SESSION_ID: Final = text("sessionId", "the harness's own id of the session, the way back to its raw transcript")
_TOOL: Final = required(text("tool", "the tool's name"))
_TOOL_USE_ID: Final = text("toolUseId", "the call's id; producers may repeat one")
_PARENT_TOOL_USE_ID: Final = text("parentToolUseId", "the tool call that this is nested beneath")

AGENT_STARTED: Final = EventType(
    "agent.started",
    (_STAGE, text("model", "the model that answers"), _SESSION_ID, count("pid", "the process id")),
    "An agent began.",
)

AGENT_TEXT: Final = EventType(
    "agent.text",
    (
        required(excerpted("text", "what the agent said", MAX_TEXT_SCALARS)),
        _STAGE,
        truncated("`text`"),
        _PARENT_TOOL_USE_ID,
    ),
    "The agent said something.",
)

AGENT_TOOL_USE: Final = EventType(
    "agent.tool_use",
    (
        _TOOL,
        _STAGE,
        excerpted("inputExcerpt", "what the tool was given"),
        truncated("`inputExcerpt`"),
        _TOOL_USE_ID,
        _PARENT_TOOL_USE_ID,
    ),
    "The agent called a tool.",
)

AGENT_TOOL_RESULT: Final = EventType(
    "agent.tool_result",
    (
        _TOOL,
        _STAGE,
        flag("isError", "whether the harness calls the result an error"),
        excerpted("resultExcerpt", "what the tool gave back"),
        truncated("`resultExcerpt`"),
        _TOOL_USE_ID,
        _PARENT_TOOL_USE_ID,
    ),
    "A tool answered; `toolUseId` names the call.",
)

AGENT_COMPLETED: Final = EventType(
    "agent.completed",
    (
        _STAGE,
        count("turns", "turns that were taken; the bound is `ceilings.turns`"),
        _SESSION_ID,
        number("costUsd", "the session's cost so far, in US dollars"),
        text("model", "the model that answered"),
        USAGE,
        count("durationMs", "milliseconds"),
        flag("estimated", "whether cost or usage is an estimate"),
    ),
    "An agent completed, with whatever totals its harness reports.",
)

AGENT_WARNING: Final = EventType(
    "agent.warning",
    (required(excerpted("message", "what the harness warned of")), _STAGE),
    "The harness warned of something that ends nothing.",
)

AGENT_FAMILY: Final = Family(
    "agent",
    "Agent observation",
    "What an agent was seen doing. Text is narration: it must stay away from anything that decides.",
    (AGENT_STARTED, AGENT_TEXT, AGENT_TOOL_USE, AGENT_TOOL_RESULT, AGENT_COMPLETED, AGENT_WARNING),
)
