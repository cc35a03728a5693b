"""The relay's own run: the events it says of itself, numbered like any run's.

Pure: the state goes in and comes out, and becomes current only when the transaction that carries the events is known
to be committed; an aborted one gives its numbers back.

Spec: Run lifecycle; Capture.
"""

from typing import Final

from ethogram import EventDraft, RunFinished, RunOutcome, RunStarted, serialise_event, stamp, validate
from relay import __version__
from relay.clock import iso_8601
from relay.codec import RelayRun
from relay.records import HASHED, Header, OutgoingRecord

HARNESS: Final = f"ethogram-relay {__version__}"
"""The own run's `harness`: package and version."""


class OwnRun:
    """Writes the events of one identity's runs onto the unified topic, staging the state they make.

    Attributes:
        current: The open run as the last committed transaction left it, None before the first and after the last.
        staged: The open run as the transaction in hand would leave it.
    """

    def __init__(self, name: str, identity: str, unified_topic: str) -> None:
        self.identity = identity
        self.current: RelayRun | None = None
        self.staged: RelayRun | None = None
        self._name = name
        self._unified_topic = unified_topic

    @property
    def touched(self) -> bool:
        """Whether the transaction in hand changes the own run."""
        return self.staged != self.current

    def adopt(self, run: RelayRun | None) -> None:
        """Take over what the relays topic says of this identity."""
        self.current = self.staged = run

    def commit(self) -> None:
        """The transaction is committed: what was staged is current."""
        self.current = self.staged

    def drop(self) -> None:
        """The transaction is not committed: its numbers are given back."""
        self.staged = self.current

    def open(self, run_id: str, now_ms: int) -> OutgoingRecord:
        """Begin a run.

        Args:
            run_id: The new run's id, `<name>/<instance>/<uuid>`.
            now_ms: Milliseconds since the epoch.

        Returns:
            The `run.started` record.
        """
        self.staged = RelayRun(run_id, 1, now_ms)
        started = RunStarted(kind="relay", actor=self._name, harness=HARNESS)
        return self._append(started.draft(), now_ms, None)

    def refuse(self, draft: EventDraft, now_ms: int, headers: list[Header]) -> OutgoingRecord:
        """Publish a refusal.

        Args:
            draft: The `capture.refused` draft.
            now_ms: Milliseconds since the epoch.
            headers: The coordinates of the refused record.

        Returns:
            The `capture.refused` record.
        """
        return self._append(draft, now_ms, headers)

    def close(self, outcome: RunOutcome, reason: str, now_ms: int) -> OutgoingRecord:
        """End the open run.

        Args:
            outcome: `completed` for a clean stop or a rotation, `failed` for a run that was left open.
            reason: Why it ended, for a person.
            now_ms: Milliseconds since the epoch.

        Returns:
            The `run.finished` record.
        """
        run = self._open_run()
        finished = RunFinished(outcome=outcome, reason=reason, duration_ms=max(0, now_ms - run.started_ms))
        record = self._append(finished.draft(), now_ms, None)
        self.staged = None
        return record

    def _open_run(self) -> RelayRun:
        if self.staged is None:
            raise RuntimeError("the own run is not open")
        return self.staged

    def _append(self, draft: EventDraft, now_ms: int, headers: list[Header] | None) -> OutgoingRecord:
        run = self._open_run()
        validate(draft.type, draft.payload)
        event = stamp(draft, run_id=run.run_id, seq=run.next_seq, ts=iso_8601(now_ms))
        self.staged = RelayRun(run.run_id, run.next_seq + 1, run.started_ms)
        return OutgoingRecord(self._unified_topic, serialise_event(event), run.run_id.encode(), HASHED, now_ms, headers)
