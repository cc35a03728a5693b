"""Forgets runs past their horizon: a tombstone in the changelog, then gone from memory.

Spec: none; the horizons are the relay's own promise (`relay/DESIGN.md`, "Forgetting").
"""

from collections.abc import Callable
from typing import Final

from relay.clock import Clock
from relay.outbox import Outbox
from relay.partitions import Partitions
from relay.topics import Layout

_RUNS_A_TRANSACTION_MAX: Final = 10_000


class Forgetting:
    """Stages tombstones, a bounded number at a time, and has them committed at once.

    Args:
        layout: Holds the horizons.
        partitions: Whose runs are looked at.
        outbox: Where tombstones are staged.
        commit: Ends a transaction; False when it was not committed (the runs are then found again).
        clock: The relay's clock.
    """

    def __init__(
        self, layout: Layout, partitions: Partitions, outbox: Outbox, commit: Callable[[], bool], clock: Clock
    ) -> None:
        self._layout = layout
        self._partitions = partitions
        self._outbox = outbox
        self._commit = commit
        self._clock = clock

    def forget(self) -> None:
        """Forget what is past its horizon in each running partition, and partitions that went away for long.

        Called between transactions, for one of its own: a run must not be judged and forgotten in the same one.
        """
        self._partitions.drop_kept(self._clock.monotonic_s())
        if self._layout.forget_finished_ms is None or self._layout.forget_idle_ms is None:
            return
        now_ms = self._clock.now_ms()
        staged = False
        for partition in list(self._partitions.running.values()):
            run_ids = partition.runs.expired(
                now_ms - self._layout.forget_finished_ms, now_ms - self._layout.forget_idle_ms, _RUNS_A_TRANSACTION_MAX
            )
            if run_ids:
                self._outbox.stage_forgotten(partition, run_ids)
                staged = True
        if staged:
            self._commit()
