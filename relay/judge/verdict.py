"""What the judge says: the closed set of outcomes, as plain values."""

import hashlib
from enum import StrEnum
from typing import NamedTuple

from ethogram import EventDraft
from relay.judge.run_state import RunState


class Cause(StrEnum):
    """The closed set of refusal causes. Spec: Capture."""

    MALFORMED = "malformed"
    OVER_BOUND = "over_bound"
    FINISHED = "finished"
    DUPLICATE = "duplicate"
    GAP = "gap"


class Refusal(NamedTuple):
    """Why a record is not forwarded, ready to be stamped on the relay's own run."""

    cause: Cause
    draft: EventDraft
    """The `capture.refused` draft; it passes `validate`."""
    source_run_id: str
    """The run it is attributed to, whole, however long (the draft holds an excerpt)."""
    source_run_id_cut: bool
    """Whether the draft's `sourceRunId` is an excerpt."""

    def source_run_sha256(self) -> str:
        """Identify the run where the draft could not carry its id whole: SHA-256 of its UTF-8 bytes, hexadecimal."""
        return hashlib.sha256(self.source_run_id.encode()).hexdigest()


class Judgement(NamedTuple):
    """The verdict on one record. Forwarded where `refusal` is None. A tuple, since one is made for every record."""

    refusal: Refusal | None
    run_id: str
    """The run that the record belongs to or is attributed to."""
    next_state: RunState | None
    """The run's new state, None where the record moves nothing."""
    finding: str | None = None
    """The kind of a validation error that was reported and forwarded all the same (`validation: report`)."""
    held: bool = False
    """Whether the run now waits for the event that was refused (or is missing) before it can go on."""
