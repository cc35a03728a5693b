"""The `capture` family: an event that a relay or a capturing runtime refused.

Spec: Capture
"""

from typing import Final

from ethogram.vocabulary.shape import EventType, count, excerpted, flag, member, required, text

CAUSE_OVER_BOUND: Final = "over_bound"
CAUSE_GAP: Final = "gap"
CAUSE_DUPLICATE: Final = "duplicate"
CAUSE_FINISHED: Final = "finished"
CAUSE_MALFORMED: Final = "malformed"

REFUSAL_CAUSES: Final = (CAUSE_OVER_BOUND, CAUSE_GAP, CAUSE_DUPLICATE, CAUSE_FINISHED, CAUSE_MALFORMED)

CAPTURE_REFUSED: Final = EventType(
    "capture.refused",
    (
        member("cause", REFUSAL_CAUSES),
        required(text("sourceRunId")),
        count("sourceSeq"),
        text("sourceType"),
        text("field"),
        count("count"),
        count("max"),
        excerpted("detail"),
        flag("truncated"),
    ),
)

CAPTURE_TYPES: Final = (CAPTURE_REFUSED,)
