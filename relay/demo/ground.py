"""What the demonstration runs on: the embedded cluster, or a real one with topics of its own for a while."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from relay.config import Config, parse_config
from relay.demo.embedded import EmbeddedCluster
from relay.errors import NotAnswered, StartUpError
from relay.kafka.admin import Admin
from relay.kafka.settings import admin_settings
from relay.outbox import QUARANTINE_ENVELOPE_BYTES_MAX
from relay.topics import RELAYS_PARTITION_COUNT, Layout, settings_for

PARTITION_COUNT: Final = 4
SOURCES: Final = ("chreode", "ostrom", "hub")
_ANSWER_TIMEOUT_S: Final = 10.0
_RECORD_BYTES_MAX: Final = 1_048_588
"""What a topic of Kafka takes by default; the embedded cluster has no bound to ask for."""
_NEVER: Final = 0
"""The client's log level at which it says nothing: it would write over the table."""
_SESSION_TIMEOUT_MS: Final = {True: 30_000, False: 6_000}
"""By whether it is embedded. There, a membership lost in a slow moment is not to be had back: it stores no offsets of
a transaction, and the relay rightly refuses to go on. On a real broker the group should be gone soon after."""


@dataclass(frozen=True, slots=True)
class Ground:
    """A cluster with the demonstration's topics.

    Attributes:
        config: The relay's configuration on it.
        layout: What the relay is told of the topics, None where it asks the cluster.
        said: What it is, for a person.
    """

    config: Config
    layout: Layout | None
    said: str

    @property
    def bootstrap_servers(self) -> str:
        """Where the cluster listens."""
        return str(self.config.kafka["bootstrap.servers"])


@contextmanager
def embedded_ground() -> Iterator[Ground]:
    """Start the embedded cluster.

    Yields:
        It, with every topic.

    Raises:
        StartUpError: The client library at hand has none.
    """
    name = "demo"
    counts = dict.fromkeys(_config(name, "unknown", embedded=True).source_topics, PARTITION_COUNT)
    names = _config(name, "unknown", embedded=True).topics
    counts |= dict.fromkeys(names.all(), PARTITION_COUNT) | {names.relays: RELAYS_PARTITION_COUNT}
    layout = Layout(
        partition_count=PARTITION_COUNT,
        keep_partition=True,
        record_bytes_max=_RECORD_BYTES_MAX,
        state_bytes_max=_RECORD_BYTES_MAX,
        quarantine_bytes_max=_RECORD_BYTES_MAX + QUARANTINE_ENVELOPE_BYTES_MAX,
        batch_bytes_max=_RECORD_BYTES_MAX,
        forget_finished_ms=None,
        forget_idle_ms=None,
    )
    with EmbeddedCluster(counts) as cluster:
        config = _config(name, cluster.bootstrap_servers, embedded=True)
        yield Ground(config, layout, "a Kafka stand-in inside this process (librdkafka's mock cluster)")


@contextmanager
def real_ground(bootstrap_servers: str) -> Iterator[Ground]:
    """Create topics under a name of their own on a cluster, and remove them at the end.

    Args:
        bootstrap_servers: The cluster.

    Yields:
        It, with every topic.

    Raises:
        StartUpError: The cluster does not answer, or a topic could not be created.
    """
    config = _config(f"demo-{uuid.uuid4().hex[:8]}", bootstrap_servers, embedded=False)
    settings = admin_settings(config)
    admin = Admin(settings)
    try:
        admin.topic_ids(config.source_topics, _ANSWER_TIMEOUT_S)  # one that does not answer has nothing to remove
    except NotAnswered as error:
        raise StartUpError([f"{bootstrap_servers}: expected a Kafka cluster that answers, got: {error}"]) from error
    try:
        _create(config, admin)
        yield Ground(config, None, f"the Kafka cluster at {bootstrap_servers}, topics {config.relay.name}.*")
    finally:
        _remove(config, AdminClient(settings))


def _config(name: str, bootstrap_servers: str, *, embedded: bool) -> Config:
    tree = {
        "relay": {"name": name, "unified_topic": f"{name}.unified", "instance_id": "relay-0", "drain_timeout": "5s"},
        "sources": [{"topic": f"{name}.{source}"} for source in SOURCES],
        "kafka": {
            "bootstrap.servers": bootstrap_servers,
            "session.timeout.ms": _SESSION_TIMEOUT_MS[embedded],
            "log_level": _NEVER,
        },
        "http": {"port": 0},
    }
    return parse_config(tree, {})


def _create(config: Config, admin: Admin) -> None:
    names = config.topics
    wanted = [NewTopic(name, num_partitions=PARTITION_COUNT, replication_factor=-1) for name in config.source_topics]
    for name in names.all():
        count = RELAYS_PARTITION_COUNT if name == names.relays else PARTITION_COUNT
        settings = settings_for(config, name, [])
        wanted.append(NewTopic(name, num_partitions=count, replication_factor=-1, config=settings))
    try:
        failures = admin.create(wanted, _ANSWER_TIMEOUT_S)
    except NotAnswered as error:
        raise StartUpError([f"{config.relay.name}.*: expected the topics to be created, got: {error}"]) from error
    if failures:
        raise StartUpError([f"{name}: expected it to be created, got: {said}" for name, said in failures.items()])


def _remove(config: Config, client: AdminClient) -> None:
    """Remove the topics, and the group if its one member is gone already; else it ends with its offsets."""
    asked: list[dict[str, Any]] = [
        client.delete_topics([*config.source_topics, *config.topics.all()], operation_timeout=_ANSWER_TIMEOUT_S),
        client.delete_consumer_groups([config.relay.name], request_timeout=_ANSWER_TIMEOUT_S),
    ]
    for future in [future for futures in asked for future in futures.values()]:
        with suppress(KafkaException, TimeoutError):
            future.result(_ANSWER_TIMEOUT_S)
