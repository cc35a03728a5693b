"""Which Kafka settings pass through, and to which client."""

import pytest

from relay.kafka_settings import FORBIDDEN, Settings, for_admin, for_consumer, for_producer, setting_faults

SERVERS = {"bootstrap.servers": "h:1"}


@pytest.mark.parametrize("name", sorted(FORBIDDEN))
def test_settings_that_break_exactly_once_are_refused_by_name(name: str) -> None:
    """Each forbidden setting is refused whatever its value, with the reason, and without the value."""
    assert setting_faults({**SERVERS, name: "secret"}, {}) == [
        f"kafka.{name}: expected not to be set ({FORBIDDEN[name]}), got a value"
    ]


def test_the_settings_that_exactly_once_rests_on_are_forbidden() -> None:
    """Nobody may change what transactions, fencing and co-assignment rest on."""
    assert {
        "acks",
        "auto.offset.reset",
        "enable.auto.commit",
        "enable.auto.offset.store",
        "enable.idempotence",
        "group.id",
        "group.instance.id",
        "group.protocol",
        "isolation.level",
        "partition.assignment.strategy",
        "partitioner",
        "transactional.id",
    } <= FORBIDDEN.keys()


def test_the_variable_is_named() -> None:
    """A setting that came from a variable is refused under the variable's name."""
    (fault,) = setting_faults({**SERVERS, "acks": 1}, {"kafka.acks": "RELAY_KAFKA_ACKS"})
    assert fault.startswith("RELAY_KAFKA_ACKS: ")


def test_settings_go_to_the_client_that_knows_them() -> None:
    """Producer settings stay from consumers and the other way round; an admin gets what connections need."""
    shared: Settings = {
        **SERVERS,
        "security.protocol": "SSL",
        "ssl.ca.location": "ca",
        "client.id": "c",
        "log_level": 6,
    }
    producer: Settings = {
        "linger.ms": 5,
        "compression.type": "zstd",
        "batch.size": 1,
        "queue.buffering.max.kbytes": 1,
        "transaction.timeout.ms": 1,
        "delivery.timeout.ms": 1,
        "retry.backoff.ms": 1,
    }
    consumer: Settings = {
        "fetch.min.bytes": 1,
        "session.timeout.ms": 1,
        "max.poll.interval.ms": 1,
        "queued.min.messages": 1,
        "client.rack": "r",
        "check.crcs": True,
    }
    everything: Settings = {**shared, **producer, **consumer}
    assert for_producer(everything) == {**shared, **producer}
    assert for_consumer(everything) == {**shared, **consumer}
    assert for_admin(everything) == shared
