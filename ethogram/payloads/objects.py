"""Closed sets, and the objects inside payloads.

Generated from the vocabulary by `make generate`; change the vocabulary, not this file.

Spec: Run lifecycle
"""

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from ethogram.payloads.base import Attributes, PayloadObject, attributes_of_object

RunKind: TypeAlias = Literal["loop", "handoff", "subagent", "session", "judgment", "relay"]
"""A closed set.

loop: a producer's own repeating work.
handoff: work taken over from another run.
subagent: an agent that another run started.
session: one session of a harness.
judgment: a run that judges another's work.
relay: a long-lived process that observes other runs and emits on its own.
"""

RunOutcome: TypeAlias = Literal[
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
]
"""A closed set.

completed: it did what it was to do.
failed: its process ran and did not succeed.
no-op: there was nothing to do.
timed-out: a wall-clock or idle time-out ended it.
interrupted: an interruption ended it.
permission-denied: it was not allowed what it needed.
canceled: its operator called it off.
capped: it reached a ceiling other than time; `reason` names which.
blocked: it may not proceed until something outside changes; no error of the run.
unstarted: it was recorded, but its process never ran; `reason` names why.
"""

ControlKind: TypeAlias = Literal["interrupt", "steer"]
"""A closed set.

interrupt: end the run's process group, with grace.
steer: resume the session with `text` as the next user turn, between turns.
"""

RefusalCause: TypeAlias = Literal["over_bound", "gap", "duplicate", "finished", "malformed"]
"""A closed set.

over_bound: a field or the payload exceeded a bound; `field`, `count` and `max` measure it.
gap: its `seq` is beyond the next of its run.
duplicate: its `seq` was taken before.
finished: its run has ended.
malformed: it is no event, or breaks a rule; `detail` says which.
"""

DecisionKind: TypeAlias = Literal["permission", "tripwire", "gate_inconclusive", "human_decides", "budget"]
"""A closed set.

permission: whether something is allowed; the one kind that may time out.
tripwire: something happened that must not go on unseen.
gate_inconclusive: a gate could not tell.
human_decides: the choice is a person's by rule.
budget: a budget is at its end.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceilings(PayloadObject):
    """The object `ceilings`: the bounds it is held to; an absent one is no bound.

    Attributes:
        cost_usd: cost, in US dollars.
        tokens: tokens.
        wall_ms: milliseconds from start to end; beyond it the run is `timed-out`.
        idle_ms: milliseconds without activity, tool calls in flight left out; beyond it `timed-out`.
        turns: turns of the agent.

    Spec: Run lifecycle
    """

    ATTRIBUTES: ClassVar[Attributes] = attributes_of_object("Ceilings")

    cost_usd: float | None = None
    tokens: int | None = None
    wall_ms: int | None = None
    idle_ms: int | None = None
    turns: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage(PayloadObject):
    """The object `usage`: what was consumed, as the harness reports it.

    Attributes:
        input_tokens: tokens read.
        output_tokens: tokens written.
        cache_read_tokens: tokens read from a cache.
        cache_creation_tokens: tokens written to a cache.
        unit: what is counted; absent means tokens, and unlike units are never summed.

    Spec: Run lifecycle
    """

    ATTRIBUTES: ClassVar[Attributes] = attributes_of_object("Usage")

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_creation_tokens: int | None = None
    unit: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Dossier(PayloadObject):
    """The object `dossier`: what the principal needs to know.

    Attributes:
        question: what is to be decided; at most 4096 scalars.
        options_ruled_out: what was considered and dropped, an entry each; at most 4096 scalars.
        recommended_action: what the producer would do; at most 4096 scalars.
        blast_radius: what the choice can reach; at most 4096 scalars.
        truncated: whether any of this narration was cut to its bound.

    Spec: Decisions
    """

    ATTRIBUTES: ClassVar[Attributes] = attributes_of_object("Dossier")

    question: str
    options_ruled_out: tuple[str, ...]
    recommended_action: str
    blast_radius: str
    truncated: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionOption(PayloadObject):
    """The object `options`: what may be chosen.

    Attributes:
        id: the option's id.
        label: what a person reads; at most 4096 scalars.

    Spec: Decisions
    """

    ATTRIBUTES: ClassVar[Attributes] = attributes_of_object("DecisionOption")

    id: str
    label: str
