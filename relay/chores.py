"""What must be done now and then: gauges, forgetting, watching the topics, ending the runs of the dead.

Each chore has its interval; `tick` runs at most one of them a call. One that asks the cluster, or needs a transaction
of its own, is done between transactions: however long the answer takes, nothing may time out meanwhile.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from relay.clock import Clock

GAUGES_INTERVAL_S: Final = 1.0
ROTATE_INTERVAL_S: Final = 1.0
FORGET_INTERVAL_S: Final = 60.0
WATCH_INTERVAL_S: Final = 30.0


@dataclass(slots=True)
class Chore:
    """One chore, its interval in seconds, and when it is due by the monotonic clock."""

    interval_s: float
    do: Callable[[], None]
    between_transactions: bool = False
    due_s: float = 0.0


class Chores:
    """Runs chores when they are due.

    Args:
        clock: The relay's clock.
        chores: The chores, the most urgent first.
        settle: Ends the transaction in hand; False when it was not committed.
    """

    def __init__(self, clock: Clock, chores: list[Chore], settle: Callable[[], bool]) -> None:
        self._clock = clock
        self._chores = chores
        self._settle = settle
        for chore in chores:
            chore.due_s = clock.monotonic_s() + chore.interval_s

    def tick(self) -> None:
        """Do the first chore that is due, if any."""
        now_s = self._clock.monotonic_s()
        for chore in self._chores:
            if now_s >= chore.due_s:
                if chore.between_transactions and not self._settle():
                    return  # still due: the next turn looks again
                chore.due_s = now_s + chore.interval_s
                chore.do()
                return
