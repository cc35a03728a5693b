"""Controls of one run: what was asked of it, and what its runtime made of that.

It must never keep what a request or a reason says.

Spec: Control
"""

from collections.abc import Mapping
from dataclasses import dataclass

from ethogram.envelope import JsonValue


@dataclass(frozen=True, slots=True)
class ControlApplication:
    """A `control.applied`.

    Attributes:
        seq: its 1-based `seq`.
        ok: whether the runtime honoured the request.
        landed_in: the `toolUseId` that a hard kill landed inside; None where there was none.
    """

    seq: int
    ok: bool
    landed_in: str | None = None


@dataclass(frozen=True, slots=True)
class Control:
    """A control, with all that has its id in one run.

    Attributes:
        control_id: its id.
        kind: as the first request has it, familiar or not; None where no request was seen.
        by: who asked first, by identity; None where no request was seen.
        requested_seqs: the `seq` of each request; more than one where a producer repeats the id.
        applications: what the runtime made of it, in the order it came; empty while it did not say.
    """

    control_id: str
    kind: str | None = None
    by: str | None = None
    requested_seqs: tuple[int, ...] = ()
    applications: tuple[ControlApplication, ...] = ()


class _ControlFold:
    """What a run has said of one control so far."""

    __slots__ = ("applications", "by", "kind", "requested_seqs")

    def __init__(self) -> None:
        self.kind: str | None = None
        self.by: str | None = None
        self.requested_seqs: list[int] = []
        self.applications: list[ControlApplication] = []


class ControlsFold:
    """Folds the controls of one run while its events come."""

    __slots__ = ("_controls",)

    def __init__(self) -> None:
        """Know no control yet."""
        self._controls: dict[str, _ControlFold] = {}

    def request(self, seq: int, payload: Mapping[str, JsonValue]) -> None:
        """Take a `control.requested`.

        Spec: Control
        """
        control = self._controls.setdefault(payload["controlId"], _ControlFold())
        if not control.requested_seqs:
            control.kind, control.by = payload["kind"], payload["by"]
        control.requested_seqs.append(seq)

    def apply(self, seq: int, payload: Mapping[str, JsonValue]) -> None:
        """Take a `control.applied`.

        Spec: Control
        """
        control = self._controls.setdefault(payload["controlId"], _ControlFold())
        control.applications.append(ControlApplication(seq, payload["ok"], payload.get("landedIn")))

    def controls(self) -> tuple[Control, ...]:
        """Every control in the order of first sight.

        Spec: Control
        """
        return tuple(
            Control(control_id, held.kind, held.by, tuple(held.requested_seqs), tuple(held.applications))
            for control_id, held in self._controls.items()
        )
