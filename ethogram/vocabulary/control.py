"""The `control` family: a request to interrupt or steer a run, and its outcome.

Spec: Control
"""

from typing import Final

from ethogram.vocabulary.shape import (
    ClosedSet,
    EventType,
    Family,
    Field,
    FieldKind,
    Member,
    excerpted,
    member,
    required,
    text,
    truncated,
)

STEER: Final = "steer"

# There is deliberately no pause: no harness can pause headlessly.
CONTROL_KIND: Final = ClosedSet(
    "ControlKind",
    (
        Member("interrupt", "end the run's process group, with grace"),
        Member(STEER, "resume the session with `text` as the next user turn, between turns"),
    ),
)

_CONTROL_ID: Final = required(text("controlId", "the request's id"))

CONTROL_REQUESTED: Final = EventType(
    "control.requested",
    (
        _CONTROL_ID,
        member("kind", CONTROL_KIND, "what is asked for"),
        required(text("by", "the principal who asks, by identity")),
        excerpted("text", "what to steer by"),
        truncated("`text`"),
    ),
    "Someone asked to interrupt or steer the run. The run's runtime emits it, never a console.",
    rules=("A `steer` has a `text` that is not empty.",),
)

CONTROL_APPLIED: Final = EventType(
    "control.applied",
    (
        _CONTROL_ID,
        Field("ok", FieldKind.FLAG, "whether the runtime honoured the request", required=True),
        excerpted("reason", "why it did or did not"),
        truncated("`reason`"),
        text("landedIn", "the `toolUseId` that a hard kill landed inside"),
    ),
    "The runtime honoured the request or did not. A `run.finished` by interruption comes after it.",
)

CONTROL_FAMILY: Final = Family(
    "control", "Control", "Requests to interrupt or steer a run.", (CONTROL_REQUESTED, CONTROL_APPLIED)
)
