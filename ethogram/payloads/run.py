"""The payload classes of the `run` family.

Generated from the vocabulary by `make generate`; change the vocabulary, not this file.

Spec: Run lifecycle
"""

from dataclasses import dataclass
from typing import ClassVar

from ethogram.payloads.base import Attributes, KnownPayload, Objects, UnknownMember, attributes_of_type
from ethogram.payloads.objects import Ceilings, RunKind, RunOutcome, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted(KnownPayload):
    """`run.started`: opens a run: its harness, and any parent and bounds that were declared.

    Attributes:
        kind: what kind of run it is.
        actor: who or what it runs for.
        harness: what it runs in, with its version.
        model: the model it was given.
        parent_run_id: the run that started it.
        parent_tool_use_id: the tool call of that run that started it.
        schedule: the schedule that fired it.
        repository: what it works on.
        work_order: what it was asked for, by reference.
        ceilings: the bounds it is held to; an absent one is no bound.

    Spec: Run lifecycle
    """

    TYPE: ClassVar[str] = "run.started"
    ATTRIBUTES: ClassVar[Attributes] = attributes_of_type("run.started")
    OBJECTS: ClassVar[Objects] = {"Ceilings": Ceilings}

    kind: RunKind | UnknownMember
    actor: str
    harness: str
    model: str | None = None
    parent_run_id: str | None = None
    parent_tool_use_id: str | None = None
    schedule: str | None = None
    repository: str | None = None
    work_order: str | None = None
    ceilings: Ceilings | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFinished(KnownPayload):
    """`run.finished`: closes a run, however it ended; nothing of the run follows it.

    Attributes:
        outcome: how it ended.
        duration_ms: milliseconds from its start to its end.
        reason: why it ended so; at most 4096 scalars.
        truncated: whether `reason` was cut to its bound.
        cost_usd: its cost, in US dollars.
        usage: what was consumed, as the harness reports it.
        estimated: whether cost or usage is an estimate.

    Spec: Run lifecycle
    """

    TYPE: ClassVar[str] = "run.finished"
    ATTRIBUTES: ClassVar[Attributes] = attributes_of_type("run.finished")
    OBJECTS: ClassVar[Objects] = {"Usage": Usage}

    outcome: RunOutcome | UnknownMember
    duration_ms: int
    reason: str | None = None
    truncated: bool | None = None
    cost_usd: float | None = None
    usage: Usage | None = None
    estimated: bool | None = None
