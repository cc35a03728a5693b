"""Keeps the books: everything produced to the sources, what must become of it, and how far it is judged."""

import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from confluent_kafka import ConsumerGroupTopicPartitions, KafkaError, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from tests.support.plan import Cursor, Model, Planned, SourcePlan
from tests.support.proof import Books, Proof
from tests.support.records import ReadRecord, read_all
from tests.support.relay_process import Metrics
from tests.support.tally import Outputs, Place, Produced, Tally

TIMESTAMP_HEADROOM_MS = 3_600_000
WAIT_INTERVAL_S = 0.1
PRODUCE_TIMEOUT_S = 30.0
PRODUCED_BYTES_MAX = 4_000_000


class Ledger:
    """Produces, remembers, and proves.

    Args:
        bootstrap_servers: The broker.
        sources: The source topics.
        outputs: What the relay writes.
        partitions: Partitions of every source.
        unified_partitions: Partitions of the unified topic.
    """

    def __init__(
        self,
        bootstrap_servers: str,
        sources: Iterable[SourcePlan],
        outputs: Outputs,
        partitions: int,
        unified_partitions: int,
    ) -> None:
        self._bootstrap_servers = bootstrap_servers
        self._sources = {source.topic: source for source in sources}
        self._outputs = outputs
        self._partitions = partitions
        self._unified_partitions = unified_partitions
        self._model = Model(self._sources)
        self._by_timestamp: dict[int, Produced] = {}
        self._next_timestamp_ms = time.time_ns() // 1_000_000 - TIMESTAMP_HEADROOM_MS
        # Silent: a failed test keeps its clients, and they would tell of a broker that has been stopped.
        self._admin = AdminClient({"bootstrap.servers": bootstrap_servers, "log_level": 0})
        self._producer = Producer(
            {
                "bootstrap.servers": bootstrap_servers,
                "enable.idempotence": True,
                "message.max.bytes": PRODUCED_BYTES_MAX,
                "log_level": 0,
            }
        )

    @property
    def produced(self) -> list[Produced]:
        """Every source record so far."""
        return list(self._by_timestamp.values())

    def know(self, partition: int, run_id: str, cursor: Cursor) -> None:
        """Take in a run's state that a test wrote to the changelog itself."""
        self._model.runs[partition, run_id] = cursor

    def produce(self, topic: str, planned: Iterable[Planned], *, judged: bool = True) -> list[Place]:
        """Produce records to one source; each gets a CreateTime of its own, by which it is found again.

        Where a run is in two sources, the calls must be in the order in which the relay will judge them.

        Args:
            topic: The source topic.
            planned: The records.
            judged: False for records that must be left unjudged: seen among the outputs, they are a fault.

        Returns:
            Where they stand, all of them acknowledged.
        """
        wanted = list(planned)
        stamps = range(self._next_timestamp_ms, self._next_timestamp_ms + len(wanted))
        self._next_timestamp_ms = stamps.stop
        places: dict[int, Place] = {}

        def deliver(index: int) -> Callable[[KafkaError | None, Message], None]:
            def delivered(error: KafkaError | None, message: Message) -> None:
                partition, offset = message.partition(), message.offset()
                if error is None and partition is not None and offset is not None:
                    places[index] = Place(topic, partition, offset)

            return delivered

        for index, (record, stamp) in enumerate(zip(wanted, stamps, strict=True)):
            headers: Any = list(record.headers)
            partition = record.partition_of(self._partitions)
            self._producer.produce(topic, record.value, record.key, partition, deliver(index), None, stamp, headers)
            self._producer.poll(0)
        self._producer.flush(PRODUCE_TIMEOUT_S)
        assert len(places) == len(wanted), f"{topic}: expected {len(wanted)} acknowledged, got {len(places)}"
        for index, (record, stamp) in enumerate(zip(wanted, stamps, strict=True)):
            place = places[index]
            if not judged:
                continue
            cause = self._model.cause(topic, place.partition, record)
            finding = self._model.finding(topic, record) if cause is None else ""
            self._by_timestamp[stamp] = Produced(place, record, stamp, cause, finding)
        return [places[index] for index in range(len(wanted))]

    def ends(self) -> dict[tuple[str, int], int]:
        """The offset after the last record of every topic-partition that has one."""
        ends: dict[tuple[str, int], int] = {}
        for produced in self._by_timestamp.values():
            topic, partition, offset = produced.place
            ends[topic, partition] = max(ends.get((topic, partition), 0), offset + 1)
        return ends

    def committed(self) -> dict[tuple[str, int], int]:
        """The group's committed offsets of every source partition that has one."""
        asked = [TopicPartition(topic, number) for topic in self._sources for number in range(self._partitions)]
        request = [ConsumerGroupTopicPartitions(self._outputs.name, asked)]
        (future,) = self._admin.list_consumer_group_offsets(request, require_stable=True, request_timeout=30).values()
        return {(at.topic, at.partition): at.offset for at in future.result(30).topic_partitions if at.offset >= 0}

    def wait_judged(self, timeout_s: float = 60.0) -> None:
        """Wait until the group's committed offsets are at the end of everything produced.

        Raises:
            TimeoutError: If they are not in time; it says which are behind.
        """
        deadline = time.monotonic() + timeout_s
        ends = self.ends()
        while True:
            committed = self.committed()
            behind = {at: (committed.get(at), end) for at, end in ends.items() if committed.get(at) != end}
            if not behind:
                return
            if time.monotonic() > deadline:
                raise TimeoutError(f"expected everything judged in {timeout_s:.0f} s, got (committed, end) {behind}")
            time.sleep(WAIT_INTERVAL_S)

    def prove(self, *, offsets_kept: bool = True) -> Tally:
        """Prove that every source record is forwarded once, byte for byte, or refused once, and all that goes with it.

        Args:
            offsets_kept: False where a test itself did away with committed offsets, which then are not looked at.

        Raises:
            AssertionError: If something does not add up.
        """
        ends = self.ends()
        if offsets_kept:
            assert self.committed() == ends
        books = Books(
            self._sources,
            self._outputs,
            self._partitions,
            self._unified_partitions,
            self._by_timestamp,
            self._model.runs,
            ends,
        )
        tally = Proof(books, self._read_outputs()).tally()
        print(f"ledger: {len(self._by_timestamp)} produced, {tally}")  # noqa: T201 - pytest shows it with a failure
        return tally

    def prove_metrics(self, tally: Tally, metrics: Metrics) -> None:
        """Hold one relay's metrics, which must have judged everything in one life, against the counts."""
        name = "ethogram_relay_"
        for topic in self._sources:
            refused = sum(count for (source, _cause), count in tally.refused.items() if source == topic)
            consumed = metrics.value(f"{name}records_consumed_total", source=topic)
            assert consumed == tally.forwarded[topic] + refused
            assert metrics.value(f"{name}records_forwarded_total", source=topic) == tally.forwarded[topic]
            for cause in ("malformed", "over_bound", "finished", "duplicate", "gap"):
                counted = metrics.value(f"{name}records_refused_total", source=topic, cause=cause)
                assert counted == tally.refused[topic, cause], f"{topic}: {cause}"
            values = [
                len(p.planned.value or b"")
                for p in self._by_timestamp.values()
                if p.place.topic == topic and p.cause is None
            ]
            assert metrics.value(f"{name}bytes_forwarded_total", source=topic) == sum(values)
        findings = {
            (dict(labels)["source"], dict(labels)["kind"]): count
            for (sample, labels), count in metrics.samples.items()
            if sample == f"{name}validation_findings_total"
        }
        assert findings == dict(tally.findings)

    def _read_outputs(self) -> dict[str, list[ReadRecord]]:
        """Read what the relay wrote, read-committed; all topics at a time, since each is mostly waited for."""
        names = self._outputs
        wanted = (names.unified, names.changelog, names.relays, names.quarantine)
        with ThreadPoolExecutor(len(wanted)) as threads:
            return dict(
                zip(wanted, threads.map(lambda topic: read_all(self._bootstrap_servers, topic), wanted), strict=True)
            )
