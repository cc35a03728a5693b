"""What the topics must be like."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from relay.config import Config
from relay.topics import Layout, check_topics, layout_of, settings_for
from tests.unit.relay.samples import config_of

UNIFIED, CHANGELOG, RELAYS, QUARANTINE = (
    "u",
    "ethogram-relay.changelog",
    "ethogram-relay.relays",
    "ethogram-relay.quarantine",
)
DAY_MS = 86_400_000
FOREVER = "9223372036854775807"


@dataclass
class FakeTopic:
    """What a cluster would say of a topic."""

    name: str
    partition_count: int = 4
    replication_factor: int = 1
    settings: dict[str, str] = field(default_factory=dict)
    operations: frozenset[str] | None = None
    topic_id: str = "id"

    def number(self, setting: str, default: int) -> int:
        """A numeric setting."""
        return int(self.settings.get(setting, default))


def good_topics(**changes: Any) -> dict[str, Any]:  # noqa: ANN401 - attributes of a topic, or None for a missing one
    """Topics that are as they must be, some of their attributes changed; names by their last word."""
    topics: dict[str, Any] = {
        "a": FakeTopic("a"),
        "b": FakeTopic("b"),
        UNIFIED: FakeTopic(UNIFIED),
        CHANGELOG: FakeTopic(CHANGELOG, settings={"cleanup.policy": "compact"}),
        RELAYS: FakeTopic(RELAYS, 1, settings={"cleanup.policy": "compact"}),
        QUARANTINE: FakeTopic(QUARANTINE, settings={"max.message.bytes": "2000000"}),
    }
    full = {"changelog": CHANGELOG, "relays": RELAYS, "quarantine": QUARANTINE}
    for short, attributes in changes.items():
        name = full.get(short, short)
        if attributes is None:
            topics[name] = None
            continue
        for attribute, value in attributes.items():
            if attribute == "settings":
                topics[name].settings |= value
            else:
                setattr(topics[name], attribute, value)
    return topics


def findings(config: Config | None = None, **changes: Any) -> tuple[list[str], list[str]]:  # noqa: ANN401 - as above
    """Faults and warnings."""
    found = check_topics(config or config_of(), good_topics(**changes))
    return found.faults, found.warnings


def test_good_topics_have_no_findings() -> None:
    """Topics as they must be are not found fault with."""
    assert findings() == ([], [])


@pytest.mark.parametrize("name", ["a", UNIFIED, CHANGELOG, RELAYS, QUARANTINE])
def test_missing_topics_are_named(name: str) -> None:
    """Each missing topic is a fault that says how to make it, and the others are checked all the same."""
    topics = good_topics() | {name: None}
    assert check_topics(config_of(), topics).faults == [
        f"{name}: expected the topic to exist; create it (`ethogram-relay topics create` makes the relay's own)"
    ]


def test_no_topic_at_all_is_six_faults() -> None:
    """With nothing there, every topic is named and nothing else is said."""
    found = check_topics(config_of(), dict.fromkeys(good_topics()))
    assert len(found.faults) == 6
    assert found.warnings == []


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        (
            {"b": {"partition_count": 3}},
            "sources: expected one partition count for all, got a 4, b 3; state is kept per number",
        ),
        (
            {"changelog": {"partition_count": 5}},
            (
                f"{CHANGELOG}: expected 4 partitions, as the sources have, got 5; make the topic anew before the first "
                "start"
            ),
        ),
        ({"relays": {"partition_count": 2}}, f"{RELAYS}: expected 1 partition, got 2"),
        (
            {"a": {"settings": {"cleanup.policy": "compact,delete"}}},
            (
                "a: expected cleanup.policy=delete, got compact,delete; compaction by runId would take events out of "
                "runs before they are read"
            ),
        ),
        (
            {"u": {"settings": {"cleanup.policy": "compact"}}},
            "u: expected cleanup.policy=delete, got compact; compaction by runId would leave one event of each run",
        ),
        (
            {"changelog": {"settings": {"cleanup.policy": "compact,delete"}}},
            f"{CHANGELOG}: expected cleanup.policy=compact, got compact,delete; state must not vanish by age",
        ),
        (
            {"relays": {"settings": {"cleanup.policy": "delete"}}},
            f"{RELAYS}: expected cleanup.policy=compact, got delete; state must not vanish by age",
        ),
        (
            {"quarantine": {"settings": {"cleanup.policy": "compact"}}},
            f"{QUARANTINE}: expected cleanup.policy=delete, got compact; compaction would lose refused records",
        ),
        (
            {"u": {"settings": {"message.timestamp.type": "LogAppendTime"}}},
            "u: expected message.timestamp.type=CreateTime, so that records keep theirs, got LogAppendTime",
        ),
        (
            {"changelog": {"settings": {"delete.retention.ms": "60000"}}},
            f"{CHANGELOG}: expected delete.retention.ms of at least 7200000, got 60000",
        ),
        (
            {"quarantine": {"settings": {"max.message.bytes": "1114123"}}},
            (
                f"{QUARANTINE}: expected max.message.bytes of at least 1114124 (the largest source record and its "
                "envelope), got 1114123"
            ),
        ),
        (
            {"u": {"settings": {"min.insync.replicas": "2"}}},
            "u: expected min.insync.replicas of at most its 1 replicas, got 2; nothing could be written",
        ),
        (
            {"a": {"operations": frozenset({"DESCRIBE"})}},
            "a: expected the right to READ it; grant it to the relay's principal",
        ),
        (
            {"u": {"operations": frozenset({"READ"})}},
            "u: expected the right to WRITE it; grant it to the relay's principal",
        ),
    ],
)
def test_each_fault_names_topic_wanted_and_got(changes: dict[str, Any], fault: str) -> None:
    """Each fault says which topic, what is wanted, what is there, and why or what to change."""
    assert findings(**changes)[0] == [fault]


@pytest.mark.parametrize("setting", ["message.timestamp.before.max.ms", "message.timestamp.after.max.ms"])
def test_timestamp_limits_must_take_what_the_sources_hold(setting: str) -> None:
    """The unified topic's limit may not be tighter than a source's: one record beyond it fails its whole batch."""
    faults, _warnings = findings(
        u={"settings": {setting: "3600000"}}, a={"settings": {setting: "3600000"}}, b={"settings": {setting: FOREVER}}
    )
    assert faults == [
        (
            f"u: expected {setting} of at least {FOREVER}, as b has, got 3600000; one record beyond it fails its whole "
            "batch"
        )
    ]


@pytest.mark.parametrize(
    ("changes", "warning"),
    [
        (
            {"u": {"settings": {"retention.ms": "1000"}}, "a": {"settings": {"retention.ms": "1000"}}},
            (
                "u: retention.ms 1000 is shorter than that of b (604800000); records keep their CreateTime, so old "
                "events may vanish from it at once"
            ),
        ),
        (
            {"a": {"settings": {"retention.ms": "-1"}}},
            (
                "u: retention.ms 604800000 is shorter than that of a (-1); records keep their CreateTime, so old "
                "events may vanish from it at once"
            ),
        ),
        (
            {"u": {"settings": {"max.message.bytes": "1000"}}},
            "u: max.message.bytes is smaller than a source's 1048588; larger records are refused as over_bound",
        ),
    ],
)
def test_each_warning_says_what_happens(changes: dict[str, Any], warning: str) -> None:
    """What can be lived with is a warning that says what to expect."""
    assert findings(**changes) == ([], [warning])


def test_replication_is_warned_of() -> None:
    """Outputs with fewer replicas than the sources, or that lose commits with one broker, are warned of."""
    everywhere: dict[str, Any] = {
        name: {"replication_factor": 3} for name in ("a", "b", "u", "changelog", "relays", "quarantine")
    }
    faults, warnings = findings(None, **everywhere)
    assert faults == []
    assert warnings == [
        f"{name}: min.insync.replicas is 1; 2 keeps a commit when a broker is lost"
        for name in (UNIFIED, CHANGELOG, RELAYS, QUARANTINE)
    ]
    _faults, warnings = findings(a={"replication_factor": 2}, u={"replication_factor": 2})
    assert warnings == [f"{name}: 1 replicas, the sources have 2" for name in (CHANGELOG, RELAYS, QUARANTINE)]


def test_rights_to_all_are_rights_to_each() -> None:
    """A client that may do ALL with a topic may read and write it."""
    assert findings(a={"operations": frozenset({"ALL"})}, u={"operations": frozenset({"ALL"})}) == ([], [])


def test_the_clients_queue_holds_several_transactions() -> None:
    """A queue that does not hold three transactions of the configured bounds is a fault."""
    config = config_of(
        relay={"commit_records_max": 1000, "commit_bytes_max": 1_048_576},
        kafka={"queue.buffering.max.messages": 2999, "queue.buffering.max.kbytes": "3071"},
    )
    assert findings(config)[0] == [
        "kafka.queue.buffering.max.messages: expected at least 3000 (3 transactions), got 2999",
        "kafka.queue.buffering.max.kbytes: expected at least 3072 (3 transactions), got 3071",
    ]
    enough = config_of(
        relay={"commit_records_max": 1000, "commit_bytes_max": 1_048_576},
        kafka={"queue.buffering.max.messages": 3000, "queue.buffering.max.kbytes": "3072"},
    )
    assert findings(enough) == ([], [])


def test_a_layout_is_taken_from_the_topics() -> None:
    """Counts, sizes and horizons are what the topics allow."""
    topics = good_topics(
        u={"partition_count": 6, "settings": {"max.message.bytes": "900000", "retention.ms": str(9 * DAY_MS)}},
        relays={"settings": {"max.message.bytes": "800000"}},
    )
    assert layout_of(config_of(), topics) == Layout(
        partition_count=4,
        keep_partition=False,
        record_bytes_max=900_000,
        state_bytes_max=1_048_588,
        quarantine_bytes_max=2_000_000,
        batch_bytes_max=800_000,
        forget_finished_ms=(9 + 7) * DAY_MS,
        forget_idle_ms=30 * DAY_MS,
    )
    assert layout_of(config_of(), good_topics()).keep_partition


def test_unlimited_retention_turns_forgetting_off() -> None:
    """Where a source or the unified topic keeps events for ever, no run is ever forgotten."""
    for name in ("a", "u"):
        taken = layout_of(config_of(), good_topics(**{name: {"settings": {"retention.ms": "-1"}}}))
        assert (taken.forget_finished_ms, taken.forget_idle_ms) == (None, None)


def test_topics_are_made_as_they_are_checked() -> None:
    """The settings that `topics create` gives the relay's own topics leave no fault and no warning."""
    sources: list[Any] = [FakeTopic("a", settings={"max.message.bytes": "5000000"}), FakeTopic("b")]
    made: dict[str, Any] = {source.name: source for source in sources}
    for name in config_of().topics.all():
        made[name] = FakeTopic(name, 1 if name == RELAYS else 4, settings=settings_for(config_of(), name, sources))
    found = check_topics(config_of(), made)
    assert (found.faults, found.warnings) == ([], [])
    assert made[QUARANTINE].settings == {
        "cleanup.policy": "delete",
        "retention.ms": str(30 * DAY_MS),
        "max.message.bytes": "5065536",
    }
    assert made[UNIFIED].settings["max.message.bytes"] == "5000000"
    assert settings_for(config_of(), UNIFIED, [])["max.message.bytes"] == "1048588"
