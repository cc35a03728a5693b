"""The settings of each client."""

from relay.kafka.settings import admin_settings, member_settings, producer_settings, reader_settings
from tests.unit.relay.samples import config_of

PRODUCER_MUST = {
    "transactional.id": "ethogram-relay/i",
    "enable.idempotence": True,
    "acks": "all",
    "partitioner": "murmur2_random",
}
MEMBER_MUST = {
    "group.id": "ethogram-relay",
    "group.instance.id": "i",
    "group.protocol": "classic",
    "partition.assignment.strategy": "range",
    "isolation.level": "read_committed",
    "enable.auto.commit": False,
    "enable.auto.offset.store": False,
    "auto.offset.reset": "error",
}


def test_a_producer_is_transactional() -> None:
    """What exactly-once rests on is set, whatever the user passes through; what they may choose is theirs."""
    config = config_of(kafka={"linger.ms": 50, "client.id": "c", "fetch.min.bytes": 1})
    made = producer_settings(config, "ethogram-relay/i", 5_000_000, 900_000)
    assert {name: made[name] for name in PRODUCER_MUST} == PRODUCER_MUST
    assert (made["linger.ms"], made["client.id"], made["bootstrap.servers"]) == (50, "c", "127.0.0.1:9092")
    assert made["transaction.timeout.ms"] == 15_000
    assert "fetch.min.bytes" not in made
    assert producer_settings(config_of(), "ethogram-relay/i", 1, 1)["client.id"] == "ethogram-relay/i"


def test_batches_fit_what_the_brokers_take() -> None:
    """A batch is at most the smallest limit of the outputs; a record may be as large as the largest ever written."""
    made = producer_settings(config_of(), "x", 5_000_000, 900_000)
    assert (made["batch.size"], made["message.max.bytes"]) == (900_000, 5_000_000)
    made = producer_settings(config_of(kafka={"batch.size": "65536"}), "x", 10, 2_000_000)
    assert (made["batch.size"], made["message.max.bytes"]) == (65_536, 1000)
    assert producer_settings(config_of(), "x", 2_000_000_000, 2_000_000)["message.max.bytes"] == 1_000_000_000


def test_the_queue_holds_several_transactions() -> None:
    """Without a setting of the user's the client's queue holds four transactions of the configured bounds."""
    config = config_of(relay={"commit_records_max": 1_000_000, "commit_bytes_max": 1 << 30})
    made = producer_settings(config, "x", 1, 1)
    assert made["queue.buffering.max.messages"] == 4_000_000
    assert made["queue.buffering.max.kbytes"] == 4 << 20
    made = producer_settings(config_of(kafka={"queue.buffering.max.messages": 7_000_000}), "x", 1, 1)
    assert made["queue.buffering.max.messages"] == 7_000_000


def test_a_member_commits_nothing_by_itself() -> None:
    """The group member is static, classic, range-assigned, read-committed, and starts only where it is told."""
    made = member_settings(config_of(kafka={"linger.ms": 5, "session.timeout.ms": 9000}))
    assert {name: made[name] for name in MEMBER_MUST} == MEMBER_MUST
    assert made["session.timeout.ms"] == 9000
    assert "linger.ms" not in made
    assert member_settings(config_of())["session.timeout.ms"] == 45_000


def test_a_reader_joins_no_group() -> None:
    """A reader of the relay's own topics is read-committed, sees ends, stores nothing and has no instance id."""
    made = reader_settings(config_of())
    assert made["isolation.level"] == "read_committed"
    assert made["enable.partition.eof"] is True
    assert made["enable.auto.commit"] is False
    assert made["enable.auto.offset.store"] is False
    assert made["auto.offset.reset"] == "error"
    assert "group.instance.id" not in made


def test_an_admin_has_what_connections_need() -> None:
    """The admin client gets neither producer nor consumer settings."""
    made = admin_settings(config_of(kafka={"linger.ms": 5, "fetch.min.bytes": 1, "ssl.ca.location": "ca"}))
    assert {name for name in made if name != "logger"} == {"bootstrap.servers", "ssl.ca.location"}
