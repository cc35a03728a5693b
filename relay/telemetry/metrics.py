"""Every metric in one typed table; the registry, the documentation and the tests are made from it.

Counted at commit, so that an aborted transaction inflates nothing: consumed = forwarded + refused at every scrape,
which is taken under the same lock. Labels are bounded: a run id is never one.
"""

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import choose_encoder

from relay import __version__
from relay.judge.verdict import Cause
from relay.telemetry.facts import Batch

PREFIX: Final = "ethogram_relay_"


class Kind(StrEnum):
    """The kinds of metric."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True)
class Metric:
    """One row of the table; the exposed name has the prefix before it, and `_total` behind a counter's."""

    name: str
    kind: Kind
    labels: tuple[str, ...]
    meaning: str
    buckets: tuple[float, ...] = ()


_LATENCY_BUCKETS: Final = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 300.0, 1800.0)
_DURATION_BUCKETS: Final = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 15.0)

METRICS: Final = (
    Metric("records_consumed", Kind.COUNTER, ("source",), "Source records judged, in committed transactions."),
    Metric("records_forwarded", Kind.COUNTER, ("source",), "Source records forwarded, in committed transactions."),
    Metric("records_refused", Kind.COUNTER, ("source", "cause"), "Source records refused, in committed transactions."),
    Metric("bytes_forwarded", Kind.COUNTER, ("source",), "Bytes of the values forwarded."),
    Metric("validation_findings", Kind.COUNTER, ("source", "kind"), "Invalid events forwarded (validation: report)."),
    Metric("records_altered", Kind.COUNTER, ("source", "what"), "Records that the client cannot repeat to the letter."),
    Metric("transactions", Kind.COUNTER, ("outcome",), "Transactions: committed, aborted, or of unknown outcome."),
    Metric("transaction_duration_seconds", Kind.HISTOGRAM, (), "From begin to commit.", _DURATION_BUCKETS),
    Metric(
        "end_to_end_latency_seconds",
        Kind.HISTOGRAM,
        ("source",),
        "From the record's timestamp to its commit, of the oldest record of each source in each transaction.",
        _LATENCY_BUCKETS,
    ),
    Metric("source_lag_records", Kind.GAUGE, ("source", "partition"), "Records up to the last stable offset."),
    Metric("oldest_unforwarded_age_seconds", Kind.GAUGE, ("source",), "Age of the oldest record in hand."),
    Metric("open_runs", Kind.GAUGE, (), "Runs that are begun and not finished."),
    Metric("held_runs", Kind.GAUGE, (), "Runs that wait for a refused or missing event, seen since the start."),
    Metric("state_runs", Kind.GAUGE, (), "Runs whose state is held, finished ones included."),
    Metric("partitions", Kind.GAUGE, ("phase",), "Partition numbers assigned here, by phase."),
    Metric("state_restore_duration_seconds", Kind.GAUGE, (), "How long the last restore of a partition took."),
    Metric("last_commit_timestamp_seconds", Kind.GAUGE, (), "When the last transaction was committed, Unix time."),
    Metric("build_info", Kind.GAUGE, ("version",), "Always 1; the version is the label."),
)


class Metrics:
    """The registry made from the table.

    Args:
        sources: The source topics, whose series all start at 0.
    """

    def __init__(self, sources: Iterable[str]) -> None:
        self.registry = CollectorRegistry()
        self._lock = threading.Lock()
        self._metrics: dict[str, Any] = {row.name: _make(row, self.registry) for row in METRICS}
        self._start_at_zero(tuple(sources))

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 - which collector it is stands in the table
        """The collector of a row of the table."""
        return self._metrics[name]

    def batch_committed(self, batch: Batch, *, duration_s: float, now_ms: int) -> None:
        """Count a committed transaction, all of it at once.

        Args:
            batch: What it did.
            duration_s: From begin to commit, seconds.
            now_ms: The relay's clock, milliseconds since the epoch.
        """
        with self._lock:
            for source, count in batch.forwarded.items():
                self["records_consumed"].labels(source).inc(count)
                self["records_forwarded"].labels(source).inc(count)
                self["bytes_forwarded"].labels(source).inc(batch.forwarded_bytes[source])
            for (source, cause), count in batch.refused.items():
                self["records_consumed"].labels(source).inc(count)
                self["records_refused"].labels(source, cause).inc(count)
            for (source, kind), count in batch.findings.items():
                self["validation_findings"].labels(source, kind).inc(count)
            for (source, what), count in batch.altered.items():
                self["records_altered"].labels(source, what).inc(count)
            for source, oldest_ms in batch.oldest_ms.items():
                self["end_to_end_latency_seconds"].labels(source).observe(max(0, now_ms - oldest_ms) / 1000)
            self["transactions"].labels("committed").inc()
            self["transaction_duration_seconds"].observe(duration_s)
            self["last_commit_timestamp_seconds"].set(now_ms / 1000)

    def transaction_ended(self, outcome: str) -> None:
        """Count a transaction that was not committed: `aborted` or `unknown`."""
        with self._lock:
            self["transactions"].labels(outcome).inc()

    def set_gauges(self, values: Mapping[str, float]) -> None:
        """Set gauges without labels."""
        with self._lock:
            for name, value in values.items():
                self[name].set(value)

    def set_labelled(self, name: str, values: Mapping[tuple[str, ...], float] | Mapping[tuple[str], float]) -> None:
        """Replace a labelled gauge's series: those not given disappear."""
        with self._lock:
            self[name].clear()
            for labels, value in values.items():
                self[name].labels(*labels).set(value)

    def expose(self, accept: str) -> tuple[bytes, str]:
        """Write all metrics for a scrape.

        Args:
            accept: The request's Accept header, by which OpenMetrics is negotiated.

        Returns:
            The body and its content type.
        """
        encode, content_type = choose_encoder(accept)
        with self._lock:
            return encode(self.registry), content_type

    def _start_at_zero(self, sources: tuple[str, ...]) -> None:
        for source in sources:
            for name in ("records_consumed", "records_forwarded", "bytes_forwarded"):
                self[name].labels(source)
            for cause in Cause:
                self["records_refused"].labels(source, cause.value)
        for outcome in ("committed", "aborted", "unknown"):
            self["transactions"].labels(outcome)
        self["build_info"].labels(__version__).set(1)


def _make(row: Metric, registry: CollectorRegistry) -> Counter | Gauge | Histogram:
    name = PREFIX + row.name
    match row.kind:
        case Kind.COUNTER:
            return Counter(name, row.meaning, row.labels, registry=registry)
        case Kind.GAUGE:
            return Gauge(name, row.meaning, row.labels, registry=registry)
        case Kind.HISTOGRAM:
            return Histogram(name, row.meaning, row.labels, registry=registry, buckets=row.buckets)
