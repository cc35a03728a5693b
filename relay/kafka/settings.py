"""The settings of each client: the user's, with those that exactly-once rests on laid over them."""

from collections.abc import Mapping
from typing import Any, Final

from relay.config import TRANSACTION_TIMEOUT_MS, Config
from relay.kafka_settings import for_admin, for_consumer, for_producer
from relay.telemetry.client_log import client_logger

BATCH_BYTES_DEFAULT: Final = 1_000_000
"""The client's own default of `batch.size`, bytes."""
CLIENT_RECORD_BYTES_MAX: Final = 1_000_000_000
"""The client's own ceiling of `message.max.bytes`, bytes."""

_QUEUED_TRANSACTIONS: Final = 4
"""How many transactions of the configured bounds the client's queue holds, so that producing never stalls in one."""
_PRODUCER_DEFAULTS: Final[Mapping[str, Any]] = {
    "linger.ms": 5,  # the transaction gathers; the client need not
    "transaction.timeout.ms": TRANSACTION_TIMEOUT_MS,
}
_CONSUMER_DEFAULTS: Final[Mapping[str, Any]] = {
    "fetch.queue.backoff.ms": 5,  # the client's 1,000 halves the throughput (measured)
    "queued.min.messages": 50_000,
    "session.timeout.ms": 45_000,  # static membership: long enough for a restart to come back to its partitions
}


def producer_settings(config: Config, identity: str, record_bytes_max: int, batch_bytes_max: int) -> dict[str, Any]:
    """Settings of a transactional producer.

    Args:
        config: The configuration.
        identity: The transactional identity.
        record_bytes_max: The largest record that is ever handed to the client, bytes.
        batch_bytes_max: The smallest `max.message.bytes` of the outputs: a broker weighs whole batches.
    """
    user = for_producer(config.kafka)
    return {
        **_PRODUCER_DEFAULTS,
        "queue.buffering.max.messages": max(1_000_000, _QUEUED_TRANSACTIONS * config.relay.commit_records_max),
        "queue.buffering.max.kbytes": max(1_048_576, _QUEUED_TRANSACTIONS * config.relay.commit_bytes_max // 1024),
        **user,
        "batch.size": min(int(user.get("batch.size", BATCH_BYTES_DEFAULT)), batch_bytes_max),
        "message.max.bytes": min(CLIENT_RECORD_BYTES_MAX, max(record_bytes_max, 1000)),
        "logger": client_logger(),
        "transactional.id": identity,
        "enable.idempotence": True,
        "acks": "all",
        "partitioner": "murmur2_random",
        "client.id": str(user.get("client.id", identity)),
    }


def member_settings(config: Config) -> dict[str, Any]:
    """Settings of the group member that reads the sources."""
    user = for_consumer(config.kafka)
    return {
        **_CONSUMER_DEFAULTS,
        **user,
        "logger": client_logger(),
        "group.id": config.relay.name,
        "group.instance.id": config.relay.instance_id,
        "group.protocol": "classic",
        "partition.assignment.strategy": "range",
        "isolation.level": "read_committed",
        "enable.auto.commit": False,
        "enable.auto.offset.store": False,
        "auto.offset.reset": "error",
        "client.id": str(user.get("client.id", config.relay.instance_id)),
    }


def reader_settings(config: Config) -> dict[str, Any]:
    """Settings of a reader of the relay's own topics. It never joins the group whose name it needs."""
    return {
        **for_consumer(config.kafka),
        "logger": client_logger(),
        "group.id": config.relay.name,
        "isolation.level": "read_committed",
        "enable.auto.commit": False,
        "enable.auto.offset.store": False,
        "enable.partition.eof": True,
        "auto.offset.reset": "error",
        "fetch.queue.backoff.ms": 5,
        "fetch.wait.max.ms": 20,  # the end of a log shows in a fetch that found nothing: do not wait long for it
    }


def admin_settings(config: Config) -> dict[str, Any]:
    """Settings of the admin client."""
    return {**for_admin(config.kafka), "logger": client_logger()}
