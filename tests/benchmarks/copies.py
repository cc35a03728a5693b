"""One measured pass over the sources, in a process of its own: the bare copy, or the relay.

Run as `python -m tests.benchmarks.copies copy|relay BOOTSTRAP NAME COUNT`; prints one line of JSON.
"""

import json
import sys
import time
from collections.abc import Callable, Mapping
from typing import Final

import structlog
from confluent_kafka import Consumer, Producer, TopicPartition

from relay.app import RelayApp, Telemetering
from relay.clock import SystemClock
from relay.config import parse_config
from relay.telemetry.facts import Batch
from relay.telemetry.http import Health
from relay.telemetry.metrics import Metrics
from tests.benchmarks.workload import SOURCES

COMMIT_INTERVAL_S: Final = 0.1
_FETCH_RECORDS: Final = 1000


class Meter:
    """Wall and processor time from the first record to the last commit."""

    def __init__(self, wanted: int) -> None:
        self._wanted = wanted
        self._began: tuple[float, float] | None = None
        self.done = 0

    def begin(self) -> None:
        """The first record is here."""
        if self._began is None:
            self._began = (time.perf_counter(), time.process_time())

    def committed(self, count: int) -> bool:
        """A transaction is committed; says whether all records are."""
        self.done += count
        return self.done >= self._wanted

    def report(self) -> dict[str, float]:
        """Records, seconds of wall and of processor time."""
        began = self._began or (0.0, 0.0)
        return {
            "records": self.done,
            "wall_s": time.perf_counter() - began[0],
            "cpu_s": time.process_time() - began[1],
        }


def copy(bootstrap: str, name: str, count: int) -> dict[str, float]:
    """Consume, produce, commit by time alone; look at nothing."""
    meter = Meter(count)
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": name,
            "isolation.level": "read_committed",
            "enable.auto.commit": False,
            "enable.auto.offset.store": False,
            "auto.offset.reset": "earliest",
            "fetch.queue.backoff.ms": 5,
            "queued.min.messages": 50_000,
        }
    )
    producer = Producer(
        {
            "bootstrap.servers": bootstrap,
            "transactional.id": name,
            "linger.ms": 5,
            "queue.buffering.max.messages": 1_000_000,
            "queue.buffering.max.kbytes": 1_048_576,
        }
    )
    producer.init_transactions(30)
    consumer.subscribe(list(SOURCES))
    offsets: dict[tuple[str, int], int] = {}
    produce, unified, in_hand = producer.produce, f"{name}.unified", 0
    due = 0.0
    while meter.done < count:
        messages = consumer.consume(_FETCH_RECORDS, 0.05)
        if messages:
            meter.begin()
            if not in_hand:
                producer.begin_transaction()
                due = time.perf_counter() + COMMIT_INTERVAL_S
            for message in messages:
                partition = message.partition()
                produce(unified, message.value(), message.key(), partition, None, None, message.timestamp()[1])  # type: ignore[arg-type]  # records have all
                offsets[message.topic(), partition] = message.offset() + 1  # type: ignore[index, operator]  # as above
            in_hand += len(messages)
            producer.poll(0)
        if in_hand and time.perf_counter() >= due:
            entries = [TopicPartition(t, p, o) for (t, p), o in offsets.items()]
            producer.send_offsets_to_transaction(entries, consumer.consumer_group_metadata())
            producer.commit_transaction()
            meter.committed(in_hand)
            offsets, in_hand = {}, 0
        if in_hand and meter.done + in_hand >= count:
            due = 0.0
    report = meter.report()
    consumer.close()
    return report


class _MeteredMetrics(Metrics):
    """Tells the meter of each commit."""

    def __init__(self, meter: Meter) -> None:
        super().__init__(SOURCES)
        self._meter = meter
        self.finished: dict[str, float] | None = None

    def set_gauges(self, values: Mapping[str, float]) -> None:
        """The first partition is restored: reading begins."""
        super().set_gauges(values)
        if "state_restore_duration_seconds" in values:
            self._meter.begin()

    def batch_committed(self, batch: Batch, *, duration_s: float, now_ms: int) -> None:
        """Count, then see whether that was all."""
        super().batch_committed(batch, duration_s=duration_s, now_ms=now_ms)
        if batch.refused:
            raise RuntimeError(f"the workload is right, and {batch.refused.total()} of its records were refused")
        if self._meter.committed(batch.record_count) and self.finished is None:
            self.finished = self._meter.report()


def relay(bootstrap: str, name: str, count: int) -> dict[str, float]:
    """The relay, whole."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(40))
    tree = {
        "relay": {"name": name, "unified_topic": f"{name}.unified", "instance_id": "bench-0"},
        "sources": [{"topic": topic} for topic in SOURCES],
        "kafka": {"bootstrap.servers": bootstrap},
    }
    config = parse_config(tree, {})
    meter = Meter(count)
    metrics = _MeteredMetrics(meter)
    clock = SystemClock()
    telemetry = Telemetering(metrics, Health(clock), structlog.get_logger())
    RelayApp(config, telemetry, lambda: metrics.finished is not None).run()
    if metrics.finished is None:
        raise RuntimeError("the relay stopped before all records were committed")
    return metrics.finished


PASSES: Final[dict[str, Callable[[str, str, int], dict[str, float]]]] = {"copy": copy, "relay": relay}


if __name__ == "__main__":
    _kind, _bootstrap, _name, _count = sys.argv[1:]
    print(json.dumps(PASSES[_kind](_bootstrap, _name, int(_count))))  # noqa: T201 - the parent reads it
