"""The `decision` family: a question put to a principal, and its answer.

Spec: Decisions
"""

from typing import Final

from ethogram.bounds import MAX_EXCERPT_SCALARS
from ethogram.vocabulary.shape import EventType, Field, FieldKind, excerpted, flag, member, required, text

PERMISSION: Final = "permission"
DENY: Final = "deny"

DECISION_KINDS: Final = (PERMISSION, "tripwire", "gate_inconclusive", "human_decides", "budget")

# One flag says whether any of the dossier's narration was excerpted.
DOSSIER: Final = Field(
    "dossier",
    FieldKind.OBJECT,
    required=True,
    fields=(
        required(excerpted("question")),
        Field("optionsRuledOut", FieldKind.TEXT_LIST, required=True, scalars_max=MAX_EXCERPT_SCALARS),
        required(excerpted("recommendedAction")),
        required(excerpted("blastRadius")),
        flag("truncated"),
    ),
)

OPTIONS: Final = Field(
    "options",
    FieldKind.OBJECT_LIST,
    required=True,
    fields=(required(text("id")), required(excerpted("label"))),
)

DECISION_REQUESTED: Final = EventType(
    "decision.requested",
    (
        required(text("decisionId")),
        member("kind", DECISION_KINDS),
        DOSSIER,
        OPTIONS,
        text("subject"),
        text("expiresAt"),
        text("onTimeout"),
    ),
)

DECISION_ANSWERED: Final = EventType(
    "decision.answered",
    (
        required(text("decisionId")),
        required(text("optionId")),
        required(text("by")),
        flag("byTimeout"),
        text("reversal"),
        text("requestedRunId"),
    ),
)

DECISION_TYPES: Final = (DECISION_REQUESTED, DECISION_ANSWERED)
