"""Which Kafka settings a user may pass through, which the relay sets itself, and which go to which client."""

import re
from collections.abc import Mapping
from typing import Final

Settings = Mapping[str, str | int | float | bool]
"""librdkafka settings under their own dotted names."""

FORBIDDEN: Final = {
    "acks": "a transaction needs all",
    "auto.offset.reset": "nothing may be jumped over; the changelog decides where a partition starts",
    "enable.auto.commit": "offsets are committed in the transaction",
    "enable.auto.offset.store": "offsets are committed in the transaction",
    "enable.gapless.guarantee": "the transaction gives more",
    "enable.idempotence": "a transactional producer is idempotent",
    "enable.partition.eof": "the relay does not use it on sources",
    "enabled_events": "the relay reads the client's events itself",
    "error_cb": "a file holds no function",
    "logger": "the client's lines go to the relay's own log",
    "oauth_cb": "a file holds no function",
    "on_commit": "a file holds no function",
    "on_delivery": "a file holds no function",
    "stats_cb": "a file holds no function",
    "throttle_cb": "a file holds no function",
    "group.id": "it is relay.name",
    "group.instance.id": "it is relay.instance_id",
    "group.protocol": "fencing by group metadata and co-assignment rest on classic",
    "group.protocol.type": "fencing by group metadata and co-assignment rest on classic",
    "group.remote.assignor": "the partitions of one number must meet in one member: range",
    "isolation.level": "aborted records must not be forwarded: read_committed",
    "partition.assignment.strategy": "the partitions of one number must meet in one member: range",
    "partitioner": "a run's partition must be the one that every other client computes: murmur2_random",
    "request.required.acks": "a transaction needs all",
    "retries": "an idempotent producer retries until the record's time is over",
    "message.send.max.retries": "an idempotent producer retries until the record's time is over",
    "transactional.id": "it is <relay.name>/<relay.instance_id>",
}
"""Settings that would break exactly-once, order or identity, and why."""

_COMPUTED_WITH: Final = (
    "batch.size",
    "queue.buffering.max.kbytes",
    "queue.buffering.max.messages",
    "session.timeout.ms",
    "transaction.timeout.ms",
)
"""Settings that the relay itself computes with."""

_PRODUCER_ONLY: Final = (
    "batch.",
    "compression.",
    "delivery.",
    "linger.ms",
    "message.timeout.ms",
    "queue.buffering.",
    "queuing.strategy",
    "request.timeout.ms",
    "retry.",
    "sticky.",
    "topic.metadata.propagation.max.ms",
    "transaction.timeout.ms",
)
_CONSUMER_ONLY: Final = (
    "allow.auto.create.topics",
    "check.crcs",
    "client.rack",
    "consume.",
    "coordinator.query.interval.ms",
    "fetch.",
    "heartbeat.interval.ms",
    "max.partition.fetch.bytes",
    "max.poll.interval.ms",
    "queued.",
    "session.timeout.ms",
)


def setting_faults(settings: Settings, origins: Mapping[str, str]) -> list[str]:
    """Find settings that may not be passed through, and a missing `bootstrap.servers`.

    Args:
        settings: The `kafka:` section.
        origins: Path to the environment variable it came from.

    Returns:
        Faults, without values: they may be secrets.
    """
    faults = [
        f"{origins.get(f'kafka.{name}', f'kafka.{name}')}: expected not to be set ({FORBIDDEN[name]}), got a value"
        for name in sorted(settings)
        if name in FORBIDDEN
    ]
    faults += [
        f"{origins.get(f'kafka.{name}', f'kafka.{name}')}: expected an integer of 1 or more, got another value"
        for name in _COMPUTED_WITH
        if name in settings and not _is_count(settings[name])
    ]
    if not settings.get("bootstrap.servers"):
        faults.append("kafka.bootstrap.servers: expected host:port, or several with commas between, got nothing")
    return faults


def _is_count(value: object) -> bool:
    """Whether a setting reads as a whole number of 1 or more, as YAML's number or as text."""
    return not isinstance(value, bool | float) and re.fullmatch(r"0*[1-9][0-9]{0,17}", str(value)) is not None


def for_producer(settings: Settings) -> dict[str, str | int | float | bool]:
    """The settings that a producer understands."""
    return {name: value for name, value in settings.items() if not name.startswith(_CONSUMER_ONLY)}


def for_consumer(settings: Settings) -> dict[str, str | int | float | bool]:
    """The settings that a consumer understands."""
    return {name: value for name, value in settings.items() if not name.startswith(_PRODUCER_ONLY)}


def for_admin(settings: Settings) -> dict[str, str | int | float | bool]:
    """The settings that belong to connections alone."""
    return {name: value for name, value in for_consumer(settings).items() if not name.startswith(_CONSUMER_ONLY)}
