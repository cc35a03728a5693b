"""The `control` family: a request to interrupt or steer a run, and its outcome.

Spec: Control
"""

from typing import Final

from ethogram.vocabulary.shape import EventType, Field, FieldKind, excerpted, flag, member, required, text

STEER: Final = "steer"

# There is deliberately no pause: no harness can pause headlessly.
CONTROL_KINDS: Final = ("interrupt", STEER)

CONTROL_REQUESTED: Final = EventType(
    "control.requested",
    (
        required(text("controlId")),
        member("kind", CONTROL_KINDS),
        required(text("by")),
        excerpted("text"),
        flag("truncated"),
    ),
)

CONTROL_APPLIED: Final = EventType(
    "control.applied",
    (
        required(text("controlId")),
        Field("ok", FieldKind.FLAG, required=True),
        excerpted("reason"),
        flag("truncated"),
        text("landedIn"),
    ),
)

CONTROL_TYPES: Final = (CONTROL_REQUESTED, CONTROL_APPLIED)
