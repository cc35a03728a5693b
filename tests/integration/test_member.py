"""The group member starts where it is told: what it delivers first is exactly what was asked for, time after time."""

import random
import time
from concurrent.futures import ThreadPoolExecutor

from confluent_kafka import TopicPartition as ClientTopicPartition
from confluent_kafka.admin import AdminClient

from relay.config import Config, parse_config
from relay.errors import Fenced
from relay.kafka.admin import Admin
from relay.kafka.consumer import SourceConsumer
from relay.kafka.settings import admin_settings, member_settings
from relay.records import SourceRecord, TopicPartition
from tests.support.kafka import KafkaBroker
from tests.support.records import NewRecord, create_topics, produce_all

GROUPS = 3
STARTS = 10
PARTITIONS = 4
RECORDS = 60
DELETED = 20
TIMEOUT_S = 20.0


class Assignments:
    """Remembers what is assigned, and that nothing was unreadable."""

    def __init__(self) -> None:
        self.here: set[TopicPartition] = set()

    def assigned(self, partitions: list[TopicPartition]) -> None:
        """They are ours."""
        self.here |= set(partitions)

    def revoked(self, partitions: list[TopicPartition]) -> None:
        """They go."""
        self.here -= set(partitions)

    def lost(self, partitions: list[TopicPartition]) -> None:
        """They are gone."""
        self.here -= set(partitions)

    def unreadable(self, entry: TopicPartition, reason: str) -> None:
        """There is nothing of the kind in this test.

        Raises:
            AssertionError: Always.
        """
        raise AssertionError(f"{entry}: {reason}")


def no_fence(error: Fenced) -> None:
    """There is no second member in this test.

    Raises:
        Fenced: Always.
    """
    raise error


def follow(records: list[SourceRecord], reading: dict[TopicPartition, int]) -> None:
    """Hold each record to the offset that its topic-partition must deliver next."""
    for record in records:
        entry = TopicPartition(record.topic, record.partition)
        assert record.offset == reading[entry], f"{entry} jumped"
        reading[entry] += 1


def config_of(kafka: KafkaBroker, name: str, topics: list[str]) -> Config:
    """The least configuration of a relay of a name of its own."""
    tree = {
        "relay": {"name": name, "unified_topic": f"{name}.unified", "instance_id": "i"},
        "sources": [{"topic": topic} for topic in topics],
        "kafka": {"bootstrap.servers": kafka.bootstrap_servers},
    }
    return parse_config(tree, {})


def start_again_and_again(config: Config, rng: random.Random) -> None:
    """Start members of one group one after the other, each at offsets that are drawn."""
    admin = Admin(admin_settings(config))
    entries = {TopicPartition(topic, number) for topic in config.source_topics for number in range(PARTITIONS)}
    for start in range(STARTS):
        member = SourceConsumer(member_settings(config), lambda asked: admin.ends_of(asked, TIMEOUT_S), no_fence)
        assignments = Assignments()
        member.join(config.source_topics, assignments)
        deadline = time.monotonic() + TIMEOUT_S
        while assignments.here != entries:
            assert time.monotonic() < deadline, f"start {start}: assigned {assignments.here}"
            assert member.fetch(1, 0.05) == [], "read before it was told where to begin"
        reading = {entry: rng.randrange(DELETED, RECORDS) for entry in sorted(entries)}
        for number in range(PARTITIONS):  # One number after the other, as restores end.
            member.resume({entry: offset for entry, offset in reading.items() if entry.partition == number})
            follow(member.fetch(10, 0.0), reading)
        follow(member.fetch(50, 1.0), reading)
        reading = {entry: rng.randrange(DELETED, RECORDS) for entry in sorted(entries)}
        member.rewind(reading)
        while min(reading.values()) < RECORDS:
            assert time.monotonic() < deadline, f"start {start}: stands at {reading}"
            follow(member.fetch(100, 0.05), reading)
        member.abandon()


def test_every_start_is_at_the_offset_asked_for(kafka: KafkaBroker, topic_prefix: str, rng: random.Random) -> None:
    """Over many starts, with and without records deleted before, no topic-partition begins anywhere else or stands.

    Assigning, pausing, seeking and resuming race with the client's own threads; a start that is off by anything would
    be a jump.
    """
    topics = [f"{topic_prefix}whole", f"{topic_prefix}cut"]
    create_topics(kafka.bootstrap_servers, {topic: {"partitions": PARTITIONS} for topic in topics})
    for topic in topics:
        records = [NewRecord(b"x", partition=number) for number in range(PARTITIONS) for _ in range(RECORDS)]
        produce_all(kafka.bootstrap_servers, topic, records)
    client = AdminClient({"bootstrap.servers": kafka.bootstrap_servers, "log_level": 0})
    cut = [ClientTopicPartition(topics[1], number, DELETED) for number in range(PARTITIONS)]
    for future in client.delete_records(cut).values():
        future.result(TIMEOUT_S)
    with ThreadPoolExecutor(GROUPS) as threads:  # Each group is mostly waited for.
        groups = [
            threads.submit(
                start_again_and_again,
                config_of(kafka, f"{topic_prefix}{group}", topics),
                random.Random(rng.getrandbits(32)),
            )
            for group in range(GROUPS)
        ]
        for group in groups:
            group.result()
