"""What must not be jumped over stops its partition loudly: `/readyz` says so, the log says why, the others go on."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from confluent_kafka import ConsumerGroupTopicPartitions, KafkaException, TopicPartition
from confluent_kafka.cimpl import NewPartitions, NewTopic

from tests.support.kafka import KafkaBroker
from tests.support.plan import SourcePlan, event, started, whole_run
from tests.support.relay_process import RelayProcess
from tests.support.rig import SESSION_TIMEOUT_MS, Rig, wait_until

REQUEST_TIMEOUT_S = 30.0
WATCH_TIMEOUT_S = 45.0
"""The relay looks at its topics every 30 s."""
UNAVAILABLE = 503


def halts(relay: RelayProcess) -> dict[int, str]:
    """Partition numbers that the log says are halted, and why."""
    lines = [json.loads(line) for line in relay.log().splitlines() if line.startswith("{")]
    return {line["partition"]: line["reason"] for line in lines if line["event"] == "partition.halted"}


def wait_halted(relay: RelayProcess, partitions: set[int], timeout_s: float = 20.0) -> str:
    """Wait until these partitions are halted and no others; returns the reason of one."""
    wait_until(
        lambda: halts(relay).keys() >= partitions or relay.process.poll() is not None,
        timeout_s,
        f"partitions {partitions} halted\n{relay.log_tail()}",
    )
    assert relay.process.poll() is None, f"expected it to go on, halted\n{relay.log_tail()}"
    assert halts(relay).keys() == partitions
    wait_until(lambda: (relay.get("/readyz") or (0, ""))[0] == UNAVAILABLE, 10, "503 from /readyz")
    answer = relay.get("/readyz")
    assert answer is not None
    assert "halted" in answer[1]
    assert all(str(number) in answer[1] for number in partitions)
    return halts(relay)[min(partitions)]


def set_committed(rig: Rig, offsets: dict[int, int]) -> None:
    """Commit other offsets for the first source, or with none given take all away, once the group has no member."""
    topic, admin = rig.topics[0], rig.admin

    def done() -> bool:
        try:
            if not offsets:
                admin.delete_consumer_groups([rig.name])[rig.name].result(REQUEST_TIMEOUT_S)
            else:
                places = [TopicPartition(topic, partition, offset) for partition, offset in offsets.items()]
                wanted = ConsumerGroupTopicPartitions(rig.name, places)
                (future,) = admin.alter_consumer_group_offsets([wanted]).values()
                assert all(place.error is None for place in future.result(REQUEST_TIMEOUT_S).topic_partitions)
        except (AssertionError, KafkaException):
            return False  # A static member stays in the group until its session times out.
        return True

    wait_until(done, 3 * SESSION_TIMEOUT_MS / 1000, "a group without members, whose offsets can be set")


@pytest.fixture
def stopped(kafka: KafkaBroker, topic_prefix: str, tmp_path: Path) -> Rig:
    """A rig whose relay has judged four records on each of three partitions, and was stopped."""
    rig = Rig(kafka, topic_prefix, tmp_path, partitions=3)
    rig.create_topics()
    rig.produce(0, [planned for number in range(3) for planned in whole_run(f"r{number}", 4, number)])
    with rig.relay(life="-before") as relay:
        relay.wait_ready()
        rig.ledger.wait_judged()
        assert relay.terminate() == 0
    return rig


def test_committed_offsets_that_disagree_halt(stopped: Rig) -> None:
    """A committed offset behind or ahead of the changelog's halts its partition until put right; the others go on."""
    rig = stopped
    topic = rig.topics[0]
    rig.produce(0, [started(f"later{number}", partition=number) for number in range(3)])
    set_committed(rig, {0: 2, 1: 5})
    with rig.relay() as relay:
        wait_halted(relay, {0, 1})
        for partition, offset in ((0, "2"), (1, "5")):
            reason = halts(relay)[partition].removeprefix(topic)
            assert "4" in reason
            assert offset in reason
        wait_until(lambda: rig.ledger.committed().get((topic, 2)) == 5, 10, "the other partition judged")
        assert relay.terminate() == 0
    assert rig.ledger.committed() == {(topic, 0): 2, (topic, 1): 5, (topic, 2): 5}, "a halted one moves no offset"

    set_committed(rig, {0: 4, 1: 4})
    with rig.relay(life="-right") as relay:
        relay.wait_ready()
        rig.ledger.wait_judged()
        assert relay.terminate() == 0
    assert rig.ledger.prove().forwarded.total() == 15


def test_committed_offsets_that_are_gone_halt(stopped: Rig) -> None:
    """A group without offsets, where the changelog has states, starts nothing from the beginning."""
    rig = stopped
    rig.produce(0, [event(f"r{number}", 5, partition=number) for number in range(3)], judged=False)
    set_committed(rig, {})
    with rig.relay() as relay:
        assert "none" in wait_halted(relay, {0, 1, 2})
        assert relay.terminate() == 0
    assert rig.ledger.prove(offsets_kept=False).forwarded.total() == 12


def test_retention_past_the_committed_offset_halts(stopped: Rig) -> None:
    """Records deleted before they were read halt their partition: the hole is not jumped."""
    rig = stopped
    rig.produce(0, whole_run("unread", 6, 0), judged=False)
    rig.produce(0, whole_run("read", 6, 1))
    (future,) = rig.admin.delete_records([TopicPartition(rig.topics[0], 0, 7)]).values()
    assert future.result(REQUEST_TIMEOUT_S).low_watermark == 7
    with rig.relay() as relay:
        assert rig.topics[0] in wait_halted(relay, {0})
        rig.ledger.wait_judged()
        assert relay.terminate() == 0
    assert rig.ledger.prove().forwarded.total() == 18


def test_retention_up_to_the_committed_offset_is_no_fault(stopped: Rig) -> None:
    """Records that were read may be deleted; the relay goes on at its committed offset."""
    rig = stopped
    (future,) = rig.admin.delete_records([TopicPartition(rig.topics[0], 0, 4)]).values()
    assert future.result(REQUEST_TIMEOUT_S).low_watermark == 4
    rig.produce(0, whole_run("read", 3, 0))
    with rig.relay() as relay:
        relay.wait_ready()
        rig.ledger.wait_judged()
        assert relay.terminate() == 0
    assert rig.ledger.prove().forwarded.total() == 15


def delete_topic(rig: Rig, topic: str) -> None:
    """Delete a topic and wait until it is gone."""
    rig.admin.delete_topics([topic])[topic].result(REQUEST_TIMEOUT_S)
    wait_until(lambda: topic not in rig.admin.list_topics(timeout=10).topics, 20, f"{topic} gone")


def create_topic(rig: Rig, topic: str) -> None:
    """Create a topic with the rig's partition count, trying again while its deletion is still going on."""

    def done() -> bool:
        try:
            rig.admin.create_topics([NewTopic(topic, rig.partitions, 1)])[topic].result(REQUEST_TIMEOUT_S)
        except KafkaException:
            return False
        return True

    wait_until(done, 20, f"{topic} created")


def test_source_made_anew_while_stopped_halts(stopped: Rig) -> None:
    """A source topic that was deleted and made anew between two lives halts: old offsets mean nothing in it."""
    rig = stopped
    delete_topic(rig, rig.topics[0])
    create_topic(rig, rig.topics[0])
    rig.produce(0, [planned for number in range(3) for planned in whole_run(f"new{number}", 6, number)], judged=False)
    with rig.relay() as relay:
        assert rig.topics[0] in wait_halted(relay, {0, 1, 2})
        assert relay.terminate() == 0
    assert rig.ledger.prove(offsets_kept=False).forwarded.total() == 12


def test_topics_changed_at_run_time_halt(kafka: KafkaBroker, topic_prefix: str, tmp_path: Path) -> None:
    """A source made anew, or one given more partitions, under a running relay halts it before anything is jumped."""

    def recreate(rig: Rig) -> None:
        delete_topic(rig, rig.topics[0])
        create_topic(rig, rig.topics[0])

    def widen(rig: Rig) -> None:
        rig.admin.create_partitions([NewPartitions(rig.topics[0], 3)])[rig.topics[0]].result(REQUEST_TIMEOUT_S)

    changes: dict[str, Callable[[Rig], None]] = {"anew": recreate, "wide": widen}
    sources = (SourcePlan("a"), SourcePlan("b"))
    rigs = {}
    for name in changes:
        folder = tmp_path / name
        folder.mkdir()
        rigs[name] = Rig(kafka, f"{topic_prefix}{name}-", folder, sources)
        rigs[name].create_topics()
    with rigs["anew"].relay() as anew, rigs["wide"].relay() as wide:
        relays = {"anew": anew, "wide": wide}
        for name, rig in rigs.items():
            relays[name].wait_ready()
            for source in (0, 1):
                rig.produce(source, [p for number in (0, 1) for p in whole_run(f"r{source}{number}", 6, number)])
            rig.ledger.wait_judged()
            changes[name](rig)
        rigs["anew"].produce(0, [started(f"n{number}", partition=number) for number in (0, 1)], judged=False)
        for name, rig in rigs.items():
            assert rig.topics[0] in wait_halted(relays[name], {0, 1}, WATCH_TIMEOUT_S)
            assert relays[name].terminate() == 0
    for name, rig in rigs.items():
        assert rig.ledger.prove(offsets_kept=name != "anew").forwarded.total() == 24
