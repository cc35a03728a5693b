"""A stream of several runs, written down event by event."""

from typing import Any

from ethogram import Event
from ethogram.stream import StreamView, fold_stream
from tests.unit.ethogram.samples import MINIMAL


class Script:
    """Events in the order they are told; each run counts its own `seq`."""

    def __init__(self) -> None:
        """Tell nothing yet."""
        self.events: list[Event] = []
        self._next_seqs: dict[str, int] = {}

    def tell(
        self,
        run_id: str,
        event_type: str,
        /,
        *,
        at: int | None = None,
        ts: str = "2026-01-01T00:00:00Z",
        **fields: Any,  # noqa: ANN401 - any JSON value
    ) -> "Script":
        """Add an event: the smallest payload of its type with these fields, at the next `seq` or the given one."""
        seq = self._next_seqs.get(run_id, 1) if at is None else at
        self._next_seqs[run_id] = seq + 1
        self.events.append(Event(event_type, run_id, seq, ts, MINIMAL.get(event_type, {}) | fields))
        return self

    def view(self) -> StreamView:
        """Fold what was told."""
        return fold_stream(self.events)
