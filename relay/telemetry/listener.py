"""Tells metrics and log of what happened. It decides nothing and keeps nothing that the loop relies on."""

from typing import Final

from relay.clock import Clock
from relay.partitions import Partition, Phase
from relay.telemetry.facts import Batch
from relay.telemetry.logging import Log
from relay.telemetry.metrics import Metrics

_REASON_CHARACTERS_MAX: Final = 500


class Telemetry:
    """The loop's listener.

    Args:
        metrics: What is counted.
        log: The structured log.
        clock: The relay's clock.
    """

    def __init__(self, metrics: Metrics, log: Log, clock: Clock) -> None:
        self._metrics = metrics
        self._log = log
        self._clock = clock
        self._told: dict[int, Phase] = {}

    def committed(self, outcome: Batch, duration_s: float) -> None:
        """A transaction was committed: count it; say so where something was refused."""
        self._metrics.batch_committed(outcome, duration_s=duration_s, now_ms=self._clock.now_ms())
        for (source, cause), count in sorted(outcome.refused.items()):
            self._log.warning("records.refused", source=source, cause=cause, count=count)
        if outcome.record_count:
            self._log.debug("batch.committed", records=outcome.record_count, duration_ms=round(duration_s * 1000))

    def not_committed(self, outcome: str, reason: str) -> None:
        """A transaction was aborted, or its outcome is unknown."""
        self._metrics.transaction_ended(outcome)
        self._log.warning("transaction.failed", outcome=outcome, reason=reason[:_REASON_CHARACTERS_MAX])

    def partition_changed(self, partition: Partition, duration_s: float | None) -> None:
        """A partition came to another phase."""
        if self._told.get(partition.number) is partition.phase and duration_s is None:
            return
        self._told[partition.number] = partition.phase
        if partition.phase is Phase.RUNNING:
            runs = len(partition.runs)
            if duration_s is not None:
                self._metrics.set_gauges({"state_restore_duration_seconds": duration_s})
            self._log.info(
                "partition.restored",
                partition=partition.number,
                runs=runs,
                duration_ms=None if duration_s is None else round(duration_s * 1000),
            )
        elif partition.phase is Phase.HALTED:
            self._log.error("partition.halted", partition=partition.number, reason=partition.halt_reason)
        elif partition.phase is Phase.INCOMPLETE:
            self._log.warning(
                "partition.incomplete", partition=partition.number, waiting_for="this partition of every other source"
            )
