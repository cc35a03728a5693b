"""Joins the group anew where the assignment cannot be worked with as it is.

A returning static member gets its old assignment back without a rebalance, even if its list of sources has changed
since (KIP-345; the Java leader notices, librdkafka does not). Only leaving and joining makes the group look again.
"""

from collections.abc import Callable
from typing import Final

from relay.clock import Clock
from relay.partitions import Partitions, Phase
from relay.telemetry.logging import Log

_SESSIONS_BETWEEN: Final = 4
"""While members subscribe differently, an incomplete partition is right: try again seldom, each costs a rebalance."""


class Rejoining:
    """Asks for a new assignment, at once the first time and seldom after that.

    Args:
        partitions: What is assigned here.
        rejoin: Leaves the group and joins it anew.
        session_timeout_s: The group's session time-out, seconds.
        clock: The relay's clock.
        log: The structured log.
    """

    def __init__(
        self, partitions: Partitions, rejoin: Callable[[], None], session_timeout_s: float, clock: Clock, log: Log
    ) -> None:
        self._partitions = partitions
        self._rejoin = rejoin
        self._pause_s = _SESSIONS_BETWEEN * session_timeout_s
        self._clock = clock
        self._log = log
        self._last_s: float | None = None

    def look(self) -> None:
        """Join anew if partitions are assigned here that miss another source, or belong to none."""
        incomplete = [partition.number for partition in self._partitions.in_phase(Phase.INCOMPLETE)]
        if not incomplete and not self._partitions.foreign:
            return
        now_s = self._clock.monotonic_s()
        if self._last_s is not None and now_s - self._last_s < self._pause_s:
            return
        self._last_s = now_s
        self._log.info("group.rejoined", incomplete=incomplete, foreign_topics=sorted(self._partitions.foreign))
        self._rejoin()
