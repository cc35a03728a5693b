"""Folding the events of one run into what its lifecycle says.

It must never judge a payload beyond being readable: an unfamiliar kind or outcome is carried as it is.

Spec: Run lifecycle
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from ethogram.envelope import Event
from ethogram.errors import FoldError
from ethogram.representable import find_payload_fault
from ethogram.vocabulary.run import RUN_FINISHED, RUN_STARTED


@dataclass(frozen=True, slots=True)
class RunView:
    """What a run's lifecycle events say of it.

    Attributes:
        run_id: the run.
        kind: as its start has it, familiar or not.
        actor: who it runs for.
        harness: what it runs in.
        outcome: as its finish has it, familiar or not; None while it is open.
        duration_ms: milliseconds, as its finish has it; None while it is open.
    """

    run_id: str
    kind: str
    actor: str
    harness: str
    outcome: str | None = None
    duration_ms: int | None = None

    @property
    def is_open(self) -> bool:
        """Whether no finish was seen."""
        return self.outcome is None

    def to_dict(self) -> dict[str, Any]:
        """The view under the wire's names; `outcome` and `durationMs` only once it is finished.

        Spec: Run lifecycle
        """
        view: dict[str, Any] = {
            "runId": self.run_id,
            "kind": self.kind,
            "actor": self.actor,
            "harness": self.harness,
            "open": self.is_open,
        }
        if not self.is_open:
            view |= {"outcome": self.outcome, "durationMs": self.duration_ms}
        return view


def fold_run(events: Iterable[Event]) -> RunView | None:
    """Fold a series of events into the run that it starts.

    Events other than a start and a finish are passed over, whichever run they are of, and so is their order. The last
    of several finishes counts.

    Args:
        events: events in the order they were seen.

    Returns:
        The run, or None where none starts and none finishes.

    Raises:
        FoldError: a second start, a finish before any start or of another run, or a lifecycle payload that is not
            representable.

    Spec: Run lifecycle
    """
    view: RunView | None = None
    for event in events:
        if event.type not in {RUN_STARTED.name, RUN_FINISHED.name}:
            continue
        fault = find_payload_fault(event.type, event.payload)
        if fault is not None:
            raise FoldError(f"{fault.path}: {fault.fault} (fold)")
        if event.type == RUN_STARTED.name:
            if view is not None:
                raise FoldError("type: expected one run.started, got another (fold)")
            view = RunView(event.run_id, event.payload["kind"], event.payload["actor"], event.payload["harness"])
        elif view is None or event.run_id != view.run_id:
            raise FoldError("type: expected the run.started of this run first, got its run.finished (fold)")
        else:
            payload = event.payload
            view = replace(view, outcome=payload["outcome"], duration_ms=int(payload["durationMs"]))
    return view
