"""Asks the broker for honesty, before anything is concluded from it.

Stand-ins accept the transactional calls and keep none of their promises. Each promise that exactly-once rests on is put
to the test here; if one fails, no other result of this folder means anything.
"""

import time
from collections.abc import Iterator

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition

from tests.support.kafka import KafkaBroker
from tests.support.records import NewRecord, create_topics, end_offsets, produce_all, read_all

CALL_TIMEOUT_S = 30.0
SHORT_TRANSACTION_TIMEOUT_MS = 2_000
COMMITTED_WAIT_TIMEOUT_S = 2.0


def transactional_producer(kafka: KafkaBroker, transactional_id: str, timeout_ms: int = 60_000) -> Producer:
    """Make a producer that is ready to begin a transaction; an earlier one of this identity is fenced by it."""
    producer = Producer(
        {
            "bootstrap.servers": kafka.bootstrap_servers,
            "transactional.id": transactional_id,
            "transaction.timeout.ms": timeout_ms,
            "log_level": 0,  # The fatal errors wanted here would be logged in red.
        }
    )
    producer.init_transactions(CALL_TIMEOUT_S)
    return producer


def produce_in_transaction(producer: Producer, topic: str, values: list[bytes]) -> None:
    """Begin a transaction and have the values acknowledged in it, without ending it."""
    producer.begin_transaction()
    for value in values:
        producer.produce(topic, value, partition=0)
    assert producer.flush(CALL_TIMEOUT_S) == 0


def error_of(caught: pytest.ExceptionInfo[KafkaException]) -> KafkaError:
    """Take the client's error out of its exception."""
    error = caught.value.args[0]
    assert isinstance(error, KafkaError)
    return error


def group_consumer(kafka: KafkaBroker, group: str) -> Consumer:
    """Make a member of a group as the relay's are: classic, range, committing nothing by itself."""
    return Consumer(
        {
            "bootstrap.servers": kafka.bootstrap_servers,
            "group.id": group,
            "group.protocol": "classic",
            "partition.assignment.strategy": "range",
            "isolation.level": "read_committed",
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            "log_level": 0,
        }
    )


def consume_until_assigned(consumer: Consumer, wanted_count: int, others: tuple[Consumer, ...] = ()) -> None:
    """Poll until the consumer holds that many partitions, while other members poll too, as a rebalance needs."""
    deadline = time.monotonic() + CALL_TIMEOUT_S
    while len(consumer.assignment()) != wanted_count:
        assert time.monotonic() < deadline, f"expected {wanted_count} partitions, got {len(consumer.assignment())}"
        for member in (consumer, *others):
            member.poll(0.05)


@pytest.fixture
def topic(kafka: KafkaBroker, topic_prefix: str) -> str:
    """An empty topic of two partitions."""
    name = f"{topic_prefix}topic"
    create_topics(kafka.bootstrap_servers, {name: {"partitions": 2}})
    return name


@pytest.fixture
def consumer(kafka: KafkaBroker, topic: str, topic_prefix: str) -> Iterator[Consumer]:
    """The one member of a group, holding both partitions."""
    member = group_consumer(kafka, f"{topic_prefix}group")
    member.subscribe([topic])
    consume_until_assigned(member, 2)
    yield member
    member.close()


def test_committed_records_are_read_back_whole(kafka: KafkaBroker, topic: str) -> None:
    """Key, value, headers in order, time and place of a record come back as they were produced."""
    records = [
        NewRecord(b"one", b"k", (("h", b"1"), ("h", None), ("g", b"")), timestamp_ms=1_700_000_000_001, partition=1),
        NewRecord(None, b"k", partition=0),
        NewRecord(b"", None, partition=1),
    ]

    places = produce_all(kafka.bootstrap_servers, topic, records)

    assert places == [(1, 0), (0, 0), (1, 1)]
    read = read_all(kafka.bootstrap_servers, topic)
    assert [(r.partition, r.offset, r.key, r.value) for r in read] == [
        (0, 0, b"k", None),
        (1, 0, b"k", b"one"),
        (1, 1, None, b""),
    ]
    assert read[1].headers == (("h", b"1"), ("h", None), ("g", b""))
    assert read[1].timestamp_ms == 1_700_000_000_001


def test_fenced_producer_cannot_commit(kafka: KafkaBroker, topic: str, topic_prefix: str) -> None:
    """A second producer of the same transactional id fences the first, which can never commit and is never seen."""
    first = transactional_producer(kafka, f"{topic_prefix}id")
    produce_in_transaction(first, topic, [b"by the fenced"])
    second = transactional_producer(kafka, f"{topic_prefix}id")

    with pytest.raises(KafkaException) as caught:
        first.commit_transaction(CALL_TIMEOUT_S)

    error = error_of(caught)
    assert (error.name(), error.fatal()) == ("_FENCED", True)
    produce_in_transaction(second, topic, [b"by its successor"])
    second.commit_transaction(CALL_TIMEOUT_S)
    assert [r.value for r in read_all(kafka.bootstrap_servers, topic)] == [b"by its successor"]


def test_aborted_records_are_unseen_read_committed(kafka: KafkaBroker, topic: str, topic_prefix: str) -> None:
    """An aborted record is in the log, and only a read-uncommitted reader sees it."""
    producer = transactional_producer(kafka, f"{topic_prefix}id")
    produce_in_transaction(producer, topic, [b"committed"])
    producer.commit_transaction(CALL_TIMEOUT_S)
    produce_in_transaction(producer, topic, [b"aborted"])
    producer.abort_transaction(CALL_TIMEOUT_S)

    assert [r.value for r in read_all(kafka.bootstrap_servers, topic)] == [b"committed"]
    uncommitted = read_all(kafka.bootstrap_servers, topic, "read_uncommitted")
    assert [r.value for r in uncommitted] == [b"committed", b"aborted"]


def test_open_transaction_holds_readers_back(kafka: KafkaBroker, topic: str, topic_prefix: str) -> None:
    """A read-committed reader stops before an open transaction, and the end read uncommitted lies behind it."""
    producer = transactional_producer(kafka, f"{topic_prefix}id")
    produce_in_transaction(producer, topic, [b"open"])
    produce_all(kafka.bootstrap_servers, topic, [NewRecord(b"after", partition=0)])

    assert read_all(kafka.bootstrap_servers, topic, end="last_stable") == []
    with pytest.raises(TimeoutError, match=r"\[0\] at 0 of 2"):
        read_all(kafka.bootstrap_servers, topic, deadline_s=1.0)
    assert end_offsets(kafka.bootstrap_servers, topic)[0] == 2
    producer.abort_transaction(CALL_TIMEOUT_S)
    assert [r.value for r in read_all(kafka.bootstrap_servers, topic)] == [b"after"]


def test_stale_generation_cannot_commit_offsets(
    kafka: KafkaBroker, topic: str, topic_prefix: str, consumer: Consumer
) -> None:
    """Group metadata from before a rebalance is refused inside a transaction, which can be aborted and done anew."""
    stale = consumer.consumer_group_metadata()
    other = group_consumer(kafka, f"{topic_prefix}group")
    other.subscribe([topic])
    consume_until_assigned(other, 1, (consumer,))
    producer = transactional_producer(kafka, f"{topic_prefix}id")
    produce_in_transaction(producer, topic, [b"under a stale generation"])

    with pytest.raises(KafkaException) as caught:
        producer.send_offsets_to_transaction([TopicPartition(topic, 0, 7)], stale, CALL_TIMEOUT_S)

    error = error_of(caught)
    assert error.name() in {"ILLEGAL_GENERATION", "UNKNOWN_MEMBER_ID"}
    assert (error.txn_requires_abort(), error.fatal()) == (True, False)
    producer.abort_transaction(CALL_TIMEOUT_S)
    assert read_all(kafka.bootstrap_servers, topic) == []
    consume_until_assigned(consumer, 1, (other,))
    produce_in_transaction(producer, topic, [b"under the new one"])
    fresh = consumer.consumer_group_metadata()
    producer.send_offsets_to_transaction([TopicPartition(topic, 0, 8)], fresh, CALL_TIMEOUT_S)
    producer.commit_transaction(CALL_TIMEOUT_S)
    assert consumer.committed([TopicPartition(topic, 0)], CALL_TIMEOUT_S)[0].offset == 8
    other.close()


def test_committed_waits_for_pending_offsets(
    kafka: KafkaBroker, topic: str, topic_prefix: str, consumer: Consumer
) -> None:
    """A read-committed `committed()` does not answer while offsets are in a transaction, and gives the new after."""
    producer = transactional_producer(kafka, f"{topic_prefix}id")
    produce_in_transaction(producer, topic, [b"pending"])
    metadata = consumer.consumer_group_metadata()
    producer.send_offsets_to_transaction([TopicPartition(topic, 0, 5)], metadata, CALL_TIMEOUT_S)

    with pytest.raises(KafkaException) as caught:
        consumer.committed([TopicPartition(topic, 0)], COMMITTED_WAIT_TIMEOUT_S)

    assert error_of(caught).name() == "_TIMED_OUT"
    producer.commit_transaction(CALL_TIMEOUT_S)
    assert consumer.committed([TopicPartition(topic, 0)], CALL_TIMEOUT_S)[0].offset == 5


def test_aborted_offsets_are_not_stored(kafka: KafkaBroker, topic: str, topic_prefix: str, consumer: Consumer) -> None:
    """Offsets sent in a transaction that is aborted are as if never sent."""
    producer = transactional_producer(kafka, f"{topic_prefix}id")
    produce_in_transaction(producer, topic, [b"aborted"])
    metadata = consumer.consumer_group_metadata()
    producer.send_offsets_to_transaction([TopicPartition(topic, 0, 5)], metadata, CALL_TIMEOUT_S)
    producer.abort_transaction(CALL_TIMEOUT_S)

    assert consumer.committed([TopicPartition(topic, 0)], CALL_TIMEOUT_S)[0].offset < 0


def test_transaction_over_its_timeout_is_fenced(kafka: KafkaBroker, topic: str, topic_prefix: str) -> None:
    """The broker aborts a transaction that outlives its time-out; its producer is fenced, with nothing to abort."""
    producer = transactional_producer(kafka, f"{topic_prefix}id", SHORT_TRANSACTION_TIMEOUT_MS)
    produce_in_transaction(producer, topic, [b"too late"])
    # Once the broker has aborted it, a reader is held back no more.
    assert read_all(kafka.bootstrap_servers, topic) == []

    with pytest.raises(KafkaException) as caught:
        producer.commit_transaction(CALL_TIMEOUT_S)

    error = error_of(caught)
    assert (error.name(), error.fatal(), error.txn_requires_abort()) == ("_FENCED", True, False)
    assert read_all(kafka.bootstrap_servers, topic) == []
