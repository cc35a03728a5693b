"""The run states of one partition number: what is committed, and what the transaction in hand would make true.

A judge sees the staged state of a run first. `commit` and `drop` settle the staged ones together; nothing else moves
them, so that an aborted transaction leaves no trace.
"""

from collections.abc import Iterable
from typing import Final

from relay.judge.run_state import RunState

HELD_RUNS_MAX: Final = 100_000
"""The most waiting runs that are remembered per partition: a run that never began has no other bound."""


class PartitionRuns:
    """Run states by run id.

    A committed open run costs about 270 bytes of memory with a run id of a UUID's length (measured, see
    `relay/DESIGN.md`).
    """

    __slots__ = ("_committed", "_open_count", "_staged_held", "held", "staged", "waiting")

    def __init__(self) -> None:
        self._committed: dict[str, RunState] = {}
        self.staged: dict[str, RunState] = {}
        """The states that the transaction in hand would give to runs."""
        self.held: set[str] = set()
        """Runs that wait for a refused or missing event, as far as this process has seen."""
        self._staged_held: dict[str, bool] = {}
        self.waiting = False
        """Whether any run waits, staged or not: spares the look for each record of the others."""
        self._open_count = 0

    def __len__(self) -> int:
        """How many runs are committed, finished ones included."""
        return len(self._committed)

    @property
    def open_count(self) -> int:
        """How many committed runs are not finished."""
        return self._open_count

    def get(self, run_id: str, /) -> RunState | None:
        """The state a judge must see: staged, else committed, else None."""
        state = self.staged.get(run_id)
        return state if state is not None else self._committed.get(run_id)

    def stage_held(self, run_id: str) -> None:
        """Note that a run waits for a refused or missing event."""
        if len(self.held) + len(self._staged_held) < HELD_RUNS_MAX:
            self._staged_held[run_id] = True
            self.waiting = True

    def stage_moved(self, run_id: str) -> None:
        """Note that a run moved on, and so waits no more (until the next event that is too early)."""
        if run_id in self.held or run_id in self._staged_held:
            self._staged_held[run_id] = False

    def seal(self, changed_ms: int) -> dict[str, RunState]:
        """The last staged state of every touched run, with its change time set.

        Args:
            changed_ms: The relay's clock, milliseconds since the epoch.
        """
        for run_id, state in self.staged.items():
            self.staged[run_id] = RunState(state.next_seq, state.finished, state.source, changed_ms)
        return self.staged

    def commit(self) -> None:
        """The transaction is committed: what was staged is true."""
        for run_id, state in self.staged.items():
            self._put(run_id, state)
        for run_id, held in self._staged_held.items():
            (self.held.add if held else self.held.discard)(run_id)
        self.drop()

    def drop(self) -> None:
        """The transaction is not committed: nothing of it happened."""
        self.staged = {}
        self._staged_held = {}
        self.waiting = bool(self.held)

    def load(self, run_id: str, state: RunState) -> None:
        """Put in a committed state, as a restore reads it: whatever the run waited for is of the past."""
        self.held.discard(run_id)
        self._put(run_id, state)

    def _put(self, run_id: str, state: RunState) -> None:
        before = self._committed.get(run_id)
        self._open_count += (not state.finished) - (before is not None and not before.finished)
        self._committed[run_id] = state

    def forget(self, run_ids: Iterable[str]) -> None:
        """Take out runs whose tombstones are committed (or were read)."""
        for run_id in run_ids:
            state = self._committed.pop(run_id, None)
            if state is not None:
                self._open_count -= not state.finished
            self.held.discard(run_id)

    def expired(self, finished_before_ms: int | None, idle_before_ms: int | None, limit: int) -> list[str]:
        """List runs to forget.

        Args:
            finished_before_ms: Finished runs last changed before this are listed; None lists none.
            idle_before_ms: Open runs last changed before this are listed; None lists none.
            limit: The most to list.

        Returns:
            Run ids that no staged state touches.
        """
        found = []
        for run_id, state in self._committed.items():
            horizon = finished_before_ms if state.finished else idle_before_ms
            if horizon is not None and state.changed_ms < horizon and run_id not in self.staged:
                found.append(run_id)
                if len(found) == limit:
                    break
        return found

    def sources(self) -> set[str]:
        """The source topics that own a run here."""
        return {state.source for state in self._committed.values()}
