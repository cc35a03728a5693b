"""The payload classes of the `control` family.

Generated from the vocabulary by `make generate`; change the vocabulary, not this file.

Spec: Control
"""

from dataclasses import dataclass
from typing import ClassVar

from ethogram.payloads.base import Attributes, KnownPayload, UnknownMember, attributes_of_type
from ethogram.payloads.objects import ControlKind


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlRequested(KnownPayload):
    """`control.requested`: someone asked to interrupt or steer the run. The run's runtime emits it, never a console.

    A `steer` has a `text` that is not empty.

    Attributes:
        control_id: the request's id.
        kind: what is asked for.
        by: the principal who asks, by identity.
        text: what to steer by; at most 4096 scalars.
        truncated: whether `text` was cut to its bound.

    Spec: Control
    """

    TYPE: ClassVar[str] = "control.requested"
    ATTRIBUTES: ClassVar[Attributes] = attributes_of_type("control.requested")

    control_id: str
    kind: ControlKind | UnknownMember
    by: str
    text: str | None = None
    truncated: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlApplied(KnownPayload):
    """`control.applied`: the runtime honoured the request or did not. A `run.finished` by interruption comes after it.

    Attributes:
        control_id: the request's id.
        ok: whether the runtime honoured the request.
        reason: why it did or did not; at most 4096 scalars.
        truncated: whether `reason` was cut to its bound.
        landed_in: the `toolUseId` that a hard kill landed inside.

    Spec: Control
    """

    TYPE: ClassVar[str] = "control.applied"
    ATTRIBUTES: ClassVar[Attributes] = attributes_of_type("control.applied")

    control_id: str
    ok: bool
    reason: str | None = None
    truncated: bool | None = None
    landed_in: str | None = None
