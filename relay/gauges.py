"""Sets the gauges that are a state rather than a count, now and then."""

from collections import Counter, defaultdict
from typing import Protocol

from relay.clock import Clock
from relay.outbox import Outbox
from relay.partitions import Partitions, Phase
from relay.records import TopicPartition
from relay.telemetry.http import Health
from relay.telemetry.metrics import Metrics


class Ends(Protocol):
    """Where the ends of source partitions are known."""

    def end_offset(self, entry: TopicPartition) -> int | None:
        """The last stable offset, None while it is not known."""
        ...


class Gauges:
    """Reads the state of things and sets gauges and readiness.

    Args:
        metrics: Where gauges are set.
        health: Where readiness is told.
        partitions: What is assigned here.
        outbox: What is in hand.
        ends: Knows the ends of source partitions.
        clock: The relay's clock.
    """

    def __init__(
        self, metrics: Metrics, health: Health, partitions: Partitions, outbox: Outbox, ends: Ends, clock: Clock
    ) -> None:
        self._metrics = metrics
        self._health = health
        self._partitions = partitions
        self._outbox = outbox
        self._ends = ends
        self._clock = clock

    def look(self) -> None:
        """Set every gauge."""
        partitions = list(self._partitions)
        running = list(self._partitions.running.values())
        self._metrics.set_gauges(
            {
                "open_runs": sum(partition.runs.open_count for partition in running),
                "held_runs": sum(len(partition.runs.held) for partition in running),
                "state_runs": sum(len(partition.runs) for partition in running),
            }
        )
        phases = Counter(partition.phase for partition in partitions)
        by_phase = {(phase.name.lower(),): float(phases.get(phase, 0)) for phase in Phase}
        self._metrics.set_labelled("partitions", by_phase)
        self._metrics.set_labelled("source_lag_records", self._lag())
        now_ms = self._clock.now_ms()
        oldest = self._outbox.batch.oldest_ms
        ages = {(source,): max(0, now_ms - oldest_ms) / 1000 for source, oldest_ms in oldest.items()}
        self._metrics.set_labelled("oldest_unforwarded_age_seconds", ages)
        self.tell_readiness()

    def tell_readiness(self) -> None:
        """Ready is: the group gave an answer, and everything assigned is restored and judged."""
        waiting: dict[str, list[int]] = defaultdict(list)
        for partition in self._partitions:
            if partition.phase is not Phase.RUNNING:
                waiting[partition.phase.name.lower()].append(partition.number)
        said = [f"{phase} partitions: {', '.join(map(str, sorted(numbers)))}" for phase, numbers in waiting.items()]
        if not self._partitions.heard:
            said = ["not assigned yet"]
        self._health.ready("; ".join(said))

    def _lag(self) -> dict[tuple[str, ...], float]:
        lag: dict[tuple[str, ...], float] = {}
        for partition in self._partitions:
            for entry in self._partitions.topic_partitions(partition.number):
                end = self._ends.end_offset(entry) if partition.is_placed(entry.topic) else None
                if end is not None:
                    lag[entry.topic, str(entry.partition)] = float(max(0, end - partition.reading_offset(entry.topic)))
        return lag
