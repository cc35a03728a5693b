"""The payload classes of the `decision` family.

Generated from the vocabulary by `make generate`; change the vocabulary, not this file.

Spec: Decisions
"""

from dataclasses import dataclass
from typing import ClassVar

from ethogram.payloads.base import Attributes, KnownPayload, Objects, UnknownMember, attributes_of_type
from ethogram.payloads.objects import DecisionKind, DecisionOption, Dossier


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionRequested(KnownPayload):
    """`decision.requested`: a producer opened a decision.

    `onTimeout` stands only on a `permission`, is `deny`, and is the id of an offered option.

    Attributes:
        decision_id: the decision's id, given by the producer.
        kind: why a principal is asked.
        dossier: what the principal needs to know.
        options: what may be chosen.
        subject: what it is about, by reference: a pull request, a tool's name.
        expires_at: when it expires, ISO-8601.
        on_timeout: the option that stands if nobody answers; absent leaves it open.

    Spec: Decisions
    """

    TYPE: ClassVar[str] = "decision.requested"
    ATTRIBUTES: ClassVar[Attributes] = attributes_of_type("decision.requested")
    OBJECTS: ClassVar[Objects] = {"Dossier": Dossier, "DecisionOption": DecisionOption}

    decision_id: str
    kind: DecisionKind | UnknownMember
    dossier: Dossier
    options: tuple[DecisionOption, ...]
    subject: str | None = None
    expires_at: str | None = None
    on_timeout: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionAnswered(KnownPayload):
    """`decision.answered`: the invocation that applies an answer says so, on its own run.

    Attributes:
        decision_id: the decision's id, given by the producer.
        option_id: what was chosen: an offered option, or a reversal that the producer accepts.
        by: the principal who answered, by identity.
        by_timeout: whether nobody answered in time.
        reversal: the id that would undo this answer: an option, or `<verb>:<subject>`.
        requested_run_id: the run that asked.

    Spec: Decisions
    """

    TYPE: ClassVar[str] = "decision.answered"
    ATTRIBUTES: ClassVar[Attributes] = attributes_of_type("decision.answered")

    decision_id: str
    option_id: str
    by: str
    by_timeout: bool | None = None
    reversal: str | None = None
    requested_run_id: str | None = None
