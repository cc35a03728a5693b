"""The `run` family: a run's two lifecycle events.

Spec: Run lifecycle
"""

from typing import Final

from ethogram.vocabulary.shape import (
    USAGE,
    ClosedSet,
    EventType,
    Family,
    Field,
    FieldKind,
    Member,
    count,
    excerpted,
    member,
    number,
    required,
    text,
    truncated,
)

RUN_KIND: Final = ClosedSet(
    "RunKind",
    (
        Member("loop", "a producer's own repeating work"),
        Member("handoff", "work taken over from another run"),
        Member("subagent", "an agent that another run started"),
        Member("session", "one session of a harness"),
        Member("judgment", "a run that judges another's work"),
        Member("relay", "a long-lived process that observes other runs and emits on its own"),
    ),
)

RUN_OUTCOME: Final = ClosedSet(
    "RunOutcome",
    (
        Member("completed", "it did what it was to do"),
        Member("failed", "its process ran and did not succeed"),
        Member("no-op", "there was nothing to do"),
        Member("timed-out", "a wall-clock or idle time-out ended it"),
        Member("interrupted", "an interruption ended it"),
        Member("permission-denied", "it was not allowed what it needed"),
        Member("canceled", "its operator called it off"),
        Member("capped", "it reached a ceiling other than time; `reason` names which"),
        Member("blocked", "it may not proceed until something outside changes; no error of the run"),
        Member("unstarted", "it was recorded, but its process never ran; `reason` names why"),
    ),
)

CEILINGS: Final = Field(
    "ceilings",
    FieldKind.OBJECT,
    "the bounds it is held to; an absent one is no bound",
    fields=(
        number("costUsd", "cost, in US dollars"),
        count("tokens", "tokens"),
        count("wallMs", "milliseconds from start to end; beyond it the run is `timed-out`"),
        count("idleMs", "milliseconds without activity, tool calls in flight left out; beyond it `timed-out`"),
        count("turns", "turns of the agent"),
    ),
    class_name="Ceilings",
)

RUN_STARTED: Final = EventType(
    "run.started",
    (
        member("kind", RUN_KIND, "what kind of run it is"),
        required(text("actor", "who or what it runs for")),
        required(text("harness", "what it runs in, with its version")),
        text("model", "the model it was given"),
        text("parentRunId", "the run that started it"),
        text("parentToolUseId", "the tool call of that run that started it"),
        text("schedule", "the schedule that fired it"),
        text("repository", "what it works on"),
        text("workOrder", "what it was asked for, by reference"),
        CEILINGS,
    ),
    "Opens a run: its harness, and any parent and bounds that were declared.",
)

RUN_FINISHED: Final = EventType(
    "run.finished",
    (
        member("outcome", RUN_OUTCOME, "how it ended"),
        required(count("durationMs", "milliseconds from its start to its end")),
        excerpted("reason", "why it ended so"),
        truncated("`reason`"),
        number("costUsd", "its cost, in US dollars"),
        USAGE,
        Field("estimated", FieldKind.FLAG, "whether cost or usage is an estimate"),
    ),
    "Closes a run, however it ended; nothing of the run follows it.",
)

RUN_FAMILY: Final = Family(
    "run",
    "Run lifecycle",
    "One harness session, or one process that observes them, from its start to its end.",
    (RUN_STARTED, RUN_FINISHED),
)
