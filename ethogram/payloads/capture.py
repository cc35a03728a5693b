"""The payload classes of the `capture` family.

Generated from the vocabulary by `make generate`; change the vocabulary, not this file.

Spec: Capture
"""

from dataclasses import dataclass
from typing import ClassVar

from ethogram.payloads.base import Attributes, KnownPayload, UnknownMember, attributes_of_type
from ethogram.payloads.objects import RefusalCause


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureRefused(KnownPayload):
    """`capture.refused`: the capturing runtime refused an event; it says so on its own run, never on the source's.

    Attributes:
        cause: why it was refused.
        source_run_id: the run of the refused event.
        source_seq: its `seq`.
        source_type: its type.
        field: the path that exceeded a bound, from `payload`.
        count: what it measured: Unicode scalar values, or bytes for the whole payload.
        max: the bound, in the same unit.
        detail: the parser's or the validator's diagnostic; at most 4096 scalars.
        truncated: whether `detail` was cut to its bound.

    Spec: Capture
    """

    TYPE: ClassVar[str] = "capture.refused"
    ATTRIBUTES: ClassVar[Attributes] = attributes_of_type("capture.refused")

    cause: RefusalCause | UnknownMember
    source_run_id: str
    source_seq: int | None = None
    source_type: str | None = None
    field: str | None = None
    count: int | None = None
    max: int | None = None
    detail: str | None = None
    truncated: bool | None = None
