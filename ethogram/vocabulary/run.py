"""The `run` family: a run's two lifecycle events.

Spec: Run lifecycle
"""

from typing import Final

from ethogram.vocabulary.shape import (
    USAGE,
    EventType,
    Field,
    FieldKind,
    count,
    excerpted,
    flag,
    member,
    number,
    required,
    text,
)

RUN_KINDS: Final = ("loop", "handoff", "subagent", "session", "judgment", "relay")

RUN_OUTCOMES: Final = (
    "completed",
    "failed",
    "no-op",
    "timed-out",
    "interrupted",
    "permission-denied",
    "canceled",
    "capped",
    "blocked",
    "unstarted",
)

CEILINGS: Final = Field(
    "ceilings",
    FieldKind.OBJECT,
    fields=(number("costUsd"), count("tokens"), count("wallMs"), count("idleMs"), count("turns")),
)

RUN_STARTED: Final = EventType(
    "run.started",
    (
        member("kind", RUN_KINDS),
        required(text("actor")),
        required(text("harness")),
        text("model"),
        text("parentRunId"),
        text("parentToolUseId"),
        text("schedule"),
        text("repository"),
        text("workOrder"),
        CEILINGS,
    ),
)

RUN_FINISHED: Final = EventType(
    "run.finished",
    (
        member("outcome", RUN_OUTCOMES),
        required(count("durationMs")),
        excerpted("reason"),
        flag("truncated"),
        number("costUsd"),
        USAGE,
        flag("estimated"),
    ),
)

RUN_TYPES: Final = (RUN_STARTED, RUN_FINISHED)
