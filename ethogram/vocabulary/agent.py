"""The `agent` family: what an agent was observed doing. `stage` stays an open string on every one.

Spec: Agent observation
"""

from typing import Final

from ethogram.bounds import MAX_TEXT_SCALARS
from ethogram.vocabulary.shape import (
    USAGE,
    EventType,
    Field,
    FieldKind,
    count,
    excerpted,
    flag,
    number,
    required,
    text,
)

AGENT_STARTED: Final = EventType("agent.started", (text("stage"), text("model"), text("sessionId"), count("pid")))

AGENT_TEXT: Final = EventType(
    "agent.text",
    (
        Field("text", FieldKind.TEXT, required=True, scalars_max=MAX_TEXT_SCALARS),
        text("stage"),
        flag("truncated"),
        text("parentToolUseId"),
    ),
)

AGENT_TOOL_USE: Final = EventType(
    "agent.tool_use",
    (
        required(text("tool")),
        text("stage"),
        excerpted("inputExcerpt"),
        flag("truncated"),
        text("toolUseId"),
        text("parentToolUseId"),
    ),
)

AGENT_TOOL_RESULT: Final = EventType(
    "agent.tool_result",
    (
        required(text("tool")),
        text("stage"),
        flag("isError"),
        excerpted("resultExcerpt"),
        flag("truncated"),
        text("toolUseId"),
        text("parentToolUseId"),
    ),
)

AGENT_COMPLETED: Final = EventType(
    "agent.completed",
    (
        text("stage"),
        count("turns"),
        text("sessionId"),
        number("costUsd"),
        text("model"),
        USAGE,
        count("durationMs"),
        flag("estimated"),
    ),
)

AGENT_WARNING: Final = EventType("agent.warning", (required(excerpted("message")), text("stage")))

AGENT_TYPES: Final = (
    AGENT_STARTED,
    AGENT_TEXT,
    AGENT_TOOL_USE,
    AGENT_TOOL_RESULT,
    AGENT_COMPLETED,
    AGENT_WARNING,
)
