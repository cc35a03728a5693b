"""Topics and records on a real broker, for tests: create, produce, and read everything to the end.

Every call ends within a stated time, with an error that says what was missing.
"""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from confluent_kafka import Consumer, IsolationLevel, KafkaError, KafkaException, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec  # type: ignore[attr-defined] # public, yet not re-exported
from confluent_kafka.cimpl import NewTopic

REQUEST_TIMEOUT_S = 30.0
POLL_TIMEOUT_S = 0.2
CONSUME_RECORDS_MAX = 1000

Isolation = Literal["read_committed", "read_uncommitted"]
End = Literal["high_watermark", "last_stable"]
Headers = tuple[tuple[str, bytes | None], ...]


@dataclass(frozen=True)
class NewRecord:
    """A record to produce; `timestamp_ms` None is now, `partition` None is the client's choice."""

    value: bytes | None
    key: bytes | None = None
    headers: Headers = ()
    timestamp_ms: int | None = None
    partition: int | None = None


@dataclass(frozen=True)
class ReadRecord:
    """A record as it was read; `timestamp_ms` None is none."""

    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: Headers
    timestamp_ms: int | None


def create_topics(bootstrap_servers: str, topics: Mapping[str, Mapping[str, Any]]) -> None:
    """Create topics and wait until each can be described.

    Args:
        bootstrap_servers: The broker.
        topics: Names to `partitions` (default 1), `replication_factor` (default the broker's), `config` (default none).

    Raises:
        KafkaException: If one of them cannot be created.
    """
    admin = AdminClient({"bootstrap.servers": bootstrap_servers})
    wanted = [
        NewTopic(
            name,
            num_partitions=spec.get("partitions", 1),
            replication_factor=spec.get("replication_factor", -1),
            config=dict(spec.get("config", {})),
        )
        for name, spec in topics.items()
    ]
    for future in admin.create_topics(wanted, operation_timeout=REQUEST_TIMEOUT_S).values():
        future.result(REQUEST_TIMEOUT_S)


def partition_count(bootstrap_servers: str, topic: str) -> int:
    """Ask how many partitions the topic has.

    Raises:
        KafkaException: If there is no such topic.
    """
    found = (
        AdminClient({"bootstrap.servers": bootstrap_servers})
        .list_topics(topic, timeout=REQUEST_TIMEOUT_S)
        .topics[topic]
    )
    if found.error is not None:
        raise KafkaException(found.error)
    return len(found.partitions)


def _list_offsets(
    bootstrap_servers: str, topic: str, spec: OffsetSpec, isolation: IsolationLevel = IsolationLevel.READ_UNCOMMITTED
) -> dict[int, int]:
    """Ask for one offset of every partition."""
    admin = AdminClient({"bootstrap.servers": bootstrap_servers})
    asked = {TopicPartition(topic, number): spec for number in range(partition_count(bootstrap_servers, topic))}
    answers = admin.list_offsets(asked, isolation_level=isolation, request_timeout=REQUEST_TIMEOUT_S)
    return {place.partition: future.result(REQUEST_TIMEOUT_S).offset for place, future in answers.items()}


def end_offsets(bootstrap_servers: str, topic: str, end: End = "high_watermark") -> dict[int, int]:
    """Ask where every partition ends.

    Args:
        bootstrap_servers: The broker.
        topic: The topic.
        end: `high_watermark` counts open transactions in, `last_stable` stops before the first of them.

    Returns:
        Partition numbers to the offset that the next record there will have, or that the open transaction has.
    """
    stable = end == "last_stable"
    isolation = IsolationLevel.READ_COMMITTED if stable else IsolationLevel.READ_UNCOMMITTED
    return _list_offsets(bootstrap_servers, topic, OffsetSpec.latest(), isolation)  # type: ignore[no-untyped-call]  # the client's own


def produce_all(
    bootstrap_servers: str, topic: str, records: Iterable[NewRecord], config: Mapping[str, Any] | None = None
) -> list[tuple[int, int]]:
    """Produce records, without a transaction, and wait until all are acknowledged.

    Args:
        bootstrap_servers: The broker.
        topic: The topic.
        records: What to produce, in this order.
        config: Client settings over the defaults, which are idempotent.

    Returns:
        Partition and offset of each record, in the order given.

    Raises:
        KafkaException: If one was not acknowledged.
        TimeoutError: If some are still on their way after 30 seconds.
    """
    producer = Producer({"bootstrap.servers": bootstrap_servers, "enable.idempotence": True, **(config or {})})
    places: dict[int, tuple[int, int]] = {}
    faults: list[KafkaError] = []
    count = 0
    for count, record in enumerate(records, start=1):

        def delivered(error: KafkaError | None, message: Message, index: int = count) -> None:
            partition, offset = message.partition(), message.offset()
            if error is not None or partition is None or offset is None:
                faults.append(error or KafkaError(KafkaError._FAIL))  # noqa: SLF001 - the client's own name for its codes
            else:
                places[index] = (partition, offset)

        arguments: dict[str, Any] = {"value": record.value, "key": record.key, "headers": list(record.headers)}
        if record.partition is not None:
            arguments["partition"] = record.partition
        if record.timestamp_ms is not None:
            arguments["timestamp"] = record.timestamp_ms
        while True:
            try:
                producer.produce(topic, on_delivery=delivered, **arguments)
                break
            except BufferError:
                producer.poll(POLL_TIMEOUT_S)
        producer.poll(0)
    if left := producer.flush(REQUEST_TIMEOUT_S):
        raise TimeoutError(
            f"{topic}: expected {count} records acknowledged in {REQUEST_TIMEOUT_S:.0f} s, {left} are not"
        )
    if faults:
        raise KafkaException(faults[0])
    return [places[index] for index in range(1, count + 1)]


def _read_record(message: Message) -> ReadRecord:
    """Take a message of the client apart."""
    topic, partition, offset = message.topic(), message.partition(), message.offset()
    if topic is None or partition is None or offset is None:
        raise AssertionError("a message without an error has topic, partition and offset")
    kind, timestamp_ms = message.timestamp()
    headers: Any = message.headers() or ()
    return ReadRecord(
        topic, partition, offset, message.key(), message.value(), tuple(headers), timestamp_ms if kind else None
    )


def read_all(
    bootstrap_servers: str,
    topic: str,
    isolation: Isolation = "read_committed",
    *,
    end: End = "high_watermark",
    deadline_s: float = REQUEST_TIMEOUT_S,
) -> list[ReadRecord]:
    """Read every partition from its beginning to the end that it has at the time of the call.

    Args:
        bootstrap_servers: The broker.
        topic: The topic.
        isolation: Whether records of open and aborted transactions are seen.
        end: `high_watermark` waits for open transactions to end, as a test that stops its producers wants it;
            `last_stable` reads what is readable now.
        deadline_s: How long the reading may take, in seconds.

    Returns:
        The records by partition, then offset.

    Raises:
        TimeoutError: If an end is not reached in time; it says where reading stopped.
        KafkaException: If the client reports an error.
    """
    ends = end_offsets(bootstrap_servers, topic, end)
    starts = _list_offsets(bootstrap_servers, topic, OffsetSpec.earliest())  # type: ignore[no-untyped-call]  # the client's own
    reached = dict(starts)
    waiting = {number for number in ends if starts[number] < ends[number]}
    records: list[ReadRecord] = []
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap_servers,
            "group.id": "read-all",  # Needed by the client, joined by nobody: partitions are assigned by hand.
            "isolation.level": isolation,
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "auto.offset.reset": "error",
            "check.crcs": True,
        }
    )
    try:
        consumer.assign([TopicPartition(topic, number, starts[number]) for number in sorted(waiting)])
        deadline = time.monotonic() + deadline_s
        while waiting:
            for message in consumer.consume(CONSUME_RECORDS_MAX, POLL_TIMEOUT_S):
                number, offset = _note(message, ends, records)
                reached[number] = max(reached[number], offset)
            waiting = {number for number in waiting if reached[number] < ends[number]}
            if waiting and time.monotonic() > deadline:
                behind = ", ".join(f"[{n}] at {reached[n]} of {ends[n]}" for n in sorted(waiting))
                raise TimeoutError(
                    f"{topic}: expected every partition read to its end in {deadline_s:.0f} s, got {behind}; "
                    "read committed, an open transaction holds the rest back"
                )
    finally:
        consumer.close()
    return sorted(records, key=lambda record: (record.partition, record.offset))


def _note(message: Message, ends: Mapping[int, int], records: list[ReadRecord]) -> tuple[int, int]:
    """Keep a record, or learn from an end-of-partition event.

    Args:
        message: What the client gave.
        ends: The ends that were wanted; records at or behind them came after the call and are left out.
        records: Where records go.

    Returns:
        The partition, and the offset up to which it has been read now. Such an event also passes markers and aborted
        records, which come as no record.

    Raises:
        KafkaException: If it is another error.
    """
    error = message.error()
    if error is None:
        record = _read_record(message)
        if record.offset < ends[record.partition]:
            records.append(record)
        return record.partition, record.offset + 1
    number, offset = message.partition(), message.offset()
    if error.code() != KafkaError._PARTITION_EOF or number is None or offset is None:  # noqa: SLF001 - the client's name
        raise KafkaException(error)
    return number, offset
