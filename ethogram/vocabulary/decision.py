"""The `decision` family: a question put to a principal, and its answer.

Spec: Decisions
"""

from typing import Final

from ethogram.bounds import MAX_EXCERPT_SCALARS
from ethogram.vocabulary.shape import (
    ClosedSet,
    EventType,
    Family,
    Field,
    FieldKind,
    Member,
    excerpted,
    flag,
    member,
    required,
    text,
    truncated,
)

PERMISSION: Final = "permission"
DENY: Final = "deny"

DECISION_KIND: Final = ClosedSet(
    "DecisionKind",
    (
        Member(PERMISSION, "whether something is allowed; the one kind that may time out"),
        Member("tripwire", "something happened that must not go on unseen"),
        Member("gate_inconclusive", "a gate could not tell"),
        Member("human_decides", "the choice is a person's by rule"),
        Member("budget", "a budget is at its end"),
    ),
)

# One flag says whether any of the dossier's narration was excerpted.
DOSSIER: Final = Field(
    "dossier",
    FieldKind.OBJECT,
    "what the principal needs to know",
    required=True,
    fields=(
        required(excerpted("question", "what is to be decided")),
        Field(
            "optionsRuledOut",
            FieldKind.TEXT_LIST,
            "what was considered and dropped, an entry each",
            required=True,
            scalars_max=MAX_EXCERPT_SCALARS,
        ),
        required(excerpted("recommendedAction", "what the producer would do")),
        required(excerpted("blastRadius", "what the choice can reach")),
        truncated("any of this narration"),
    ),
    class_name="Dossier",
)

OPTIONS: Final = Field(
    "options",
    FieldKind.OBJECT_LIST,
    "what may be chosen",
    required=True,
    fields=(
        required(text("id", "the option's id")),
        required(excerpted("label", "what a person reads")),
    ),
    class_name="DecisionOption",
)

_DECISION_ID: Final = required(text("decisionId", "the decision's id, given by the producer"))

DECISION_REQUESTED: Final = EventType(
    "decision.requested",
    (
        _DECISION_ID,
        member("kind", DECISION_KIND, "why a principal is asked"),
        DOSSIER,
        OPTIONS,
        text("subject", "what it is about, by reference: a pull request, a tool's name"),
        text("expiresAt", "when it expires, ISO-8601"),
        text("onTimeout", "the option that stands if nobody answers; absent leaves it open"),
    ),
    "A producer opened a decision.",
    rules=("`onTimeout` stands only on a `permission`, is `deny`, and is the id of an offered option.",),
)

DECISION_ANSWERED: Final = EventType(
    "decision.answered",
    (
        _DECISION_ID,
        required(text("optionId", "what was chosen: an offered option, or a reversal that the producer accepts")),
        required(text("by", "the principal who answered, by identity")),
        flag("byTimeout", "whether nobody answered in time"),
        text("reversal", "the id that would undo this answer: an option, or `<verb>:<subject>`"),
        text("requestedRunId", "the run that asked"),
    ),
    "The invocation that applies an answer says so, on its own run.",
)

DECISION_FAMILY: Final = Family(
    "decision",
    "Decisions",
    "Questions put to a principal, and their answers. The two are tied by `decisionId` alone, across runs.",
    (DECISION_REQUESTED, DECISION_ANSWERED),
)
