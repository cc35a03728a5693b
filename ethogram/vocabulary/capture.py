"""The `capture` family: an event that a relay or a capturing runtime refused.

Spec: Capture
"""

from typing import Final

from ethogram.vocabulary.shape import (
    ClosedSet,
    EventType,
    Family,
    Member,
    count,
    excerpted,
    member,
    required,
    text,
    truncated,
)

CAUSE_OVER_BOUND: Final = "over_bound"
CAUSE_GAP: Final = "gap"
CAUSE_DUPLICATE: Final = "duplicate"
CAUSE_FINISHED: Final = "finished"
CAUSE_MALFORMED: Final = "malformed"

REFUSAL_CAUSE: Final = ClosedSet(
    "RefusalCause",
    (
        Member(CAUSE_OVER_BOUND, "a field or the payload exceeded a bound; `field`, `count` and `max` measure it"),
        Member(CAUSE_GAP, "its `seq` is beyond the next of its run"),
        Member(CAUSE_DUPLICATE, "its `seq` was taken before"),
        Member(CAUSE_FINISHED, "its run has ended"),
        Member(CAUSE_MALFORMED, "it is no event, or breaks a rule; `detail` says which"),
    ),
)

CAPTURE_REFUSED: Final = EventType(
    "capture.refused",
    (
        member("cause", REFUSAL_CAUSE, "why it was refused"),
        required(text("sourceRunId", "the run of the refused event")),
        count("sourceSeq", "its `seq`"),
        text("sourceType", "its type"),
        text("field", "the path that exceeded a bound, from `payload`"),
        count("count", "what it measured: Unicode scalar values, or bytes for the whole payload"),
        count("max", "the bound, in the same unit"),
        excerpted("detail", "the parser's or the validator's diagnostic"),
        truncated("`detail`"),
    ),
    "The capturing runtime refused an event; it says so on its own run, never on the source's.",
)

CAPTURE_FAMILY: Final = Family(
    "capture", "Capture", "What a relay or a capturing runtime could not let pass.", (CAPTURE_REFUSED,)
)
