"""Restoring run states: nothing is judged before all of them are read, and what cannot be read is fatal."""

import time
from pathlib import Path

import pytest
from confluent_kafka import Producer

from relay.codec import encode_run_state, run_key
from relay.judge.run_state import RunState
from tests.support.faulty import INVALID
from tests.support.kafka import KafkaBroker
from tests.support.plan import Cursor, SourcePlan, event, started, whole_run
from tests.support.records import NewRecord, produce_all, read_all
from tests.support.rig import Rig, wait_until

CALL_TIMEOUT_S = 30.0
HELD_OPEN_S = 2.0
FATAL = 6
COMPACTED_TIMEOUT_S = 45.0
ROUNDS = 8


def open_transaction(rig: Rig, partition: int, run_id: str) -> Producer:
    """Write that a run is finished into the changelog, acknowledged, in a transaction that stays open."""
    producer = Producer(
        {
            "bootstrap.servers": rig.kafka.bootstrap_servers,
            "transactional.id": f"{rig.name}.{run_id}",
            "log_level": 0,
        }
    )
    producer.init_transactions(CALL_TIMEOUT_S)
    producer.begin_transaction()
    state = RunState(5, finished=True, source=rig.topics[0], changed_ms=int(time.time() * 1000))
    producer.produce(rig.outputs.changelog, encode_run_state(state), run_key(run_id), partition)
    assert producer.flush(CALL_TIMEOUT_S) == 0
    return producer


def test_restore_waits_for_an_open_transaction(kafka: KafkaBroker, topic_prefix: str, tmp_path: Path) -> None:
    """A restore that begins while a transaction on the changelog is open waits for its end, and sees what it made."""
    rig = Rig(kafka, topic_prefix, tmp_path)
    rig.create_topics()
    rig.produce(0, [started("early", partition=0)])
    with rig.relay() as relay:
        relay.wait_ready()
        rig.ledger.wait_judged()
        assert relay.terminate() == 0

        committing = open_transaction(rig, 0, "committed")
        aborting = open_transaction(rig, 1, "aborted")
        rig.ledger.know(0, "committed", Cursor(5, finished=True, owner=rig.topics[0]))
        rig.produce(0, [event("early", 2, partition=0), event("committed", 5, partition=0)])
        rig.produce(0, [started("aborted", partition=1)])
        relay.start()
        wait_until(lambda: "own_run.opened" in relay.log().rpartition("relay.stopped")[2], 20, "an own run")
        answer, deadline = None, time.monotonic() + HELD_OPEN_S
        while time.monotonic() < deadline:
            answer = relay.get("/readyz")
            assert answer is not None, relay.log_tail()
            assert answer[0] == 503, "ready before the changelog was read to its end"
            time.sleep(0.1)
        assert answer == (503, "restoring partitions: 0, 1\n")
        assert rig.ledger.committed() == {(rig.topics[0], 0): 1}, "judged before the changelog was read to its end"
        committing.commit_transaction(CALL_TIMEOUT_S)
        aborting.abort_transaction(CALL_TIMEOUT_S)
        relay.wait_ready()
        rig.ledger.wait_judged()
        assert relay.terminate() == 0

    tally = rig.ledger.prove()
    assert tally.causes() == {"finished": 1}
    assert tally.forwarded.total() == 3


def test_stop_does_not_wait_for_a_restore(kafka: KafkaBroker, topic_prefix: str, tmp_path: Path) -> None:
    """A relay that is told to stop while its restore is held up ends at once, its own run closed."""
    rig = Rig(kafka, topic_prefix, tmp_path)
    rig.create_topics()
    holding = open_transaction(rig, 0, "held")
    rig.produce(0, [started("r", partition=0)])
    with rig.relay() as relay:
        wait_until(lambda: "own_run.opened" in relay.log(), 20, "an own run")
        wait_until(lambda: "restoring" in (relay.get("/readyz") or (0, ""))[1], 20, "a restore that is held up")
        assert relay.terminate(10) == 0
        holding.abort_transaction(CALL_TIMEOUT_S)
        relay.start()
        relay.wait_ready()
        rig.ledger.wait_judged()
        assert relay.terminate() == 0
    assert rig.ledger.prove().endings() == {"completed": 2}


def test_restore_from_a_compacted_changelog(kafka: KafkaBroker, topic_prefix: str, tmp_path: Path) -> None:
    """After the broker has compacted the changelog, run states and positions are still all there."""
    compacting = {"segment.ms": "200", "min.cleanable.dirty.ratio": "0.01", "min.compaction.lag.ms": "0"}
    rig = Rig(kafka, topic_prefix, tmp_path, topic_settings={"changelog": compacting, "relays": compacting})
    rig.create_topics()
    with rig.relay() as relay:
        relay.wait_ready()
        for seq in range(1, ROUNDS):
            rig.produce(0, [event(f"r{number}", seq) for number in range(50)])
            rig.produce(0, [event(f"gap-in-the-own-run-{seq}", 2)])
            rig.ledger.wait_judged()
            time.sleep(0.25)  # So that the next write rolls the segment: only what is rolled is compacted.

        def superseded() -> int:
            rig.produce(0, [event("filler", 2)])
            records = read_all(kafka.bootstrap_servers, rig.outputs.changelog, end="last_stable")
            return len(records) - len({(record.partition, record.key) for record in records})

        wait_until(lambda: superseded() < 50, COMPACTED_TIMEOUT_S, "a changelog with few superseded records")
        rig.ledger.wait_judged()
        relay.kill()
        rig.produce(0, [event(f"r{number}", ROUNDS) for number in range(50)])
        relay.start()
        relay.wait_ready()
        rig.ledger.wait_judged()
        assert relay.terminate() == 0

    tally = rig.ledger.prove()
    assert tally.forwarded.total() == 50 * ROUNDS
    assert tally.endings() == {"failed": 1, "completed": 1}


def test_states_survive_a_restart(kafka: KafkaBroker, topic_prefix: str, tmp_path: Path) -> None:
    """Open runs, finished runs, owners and advanced cursors are the same after a restart as before."""
    rig = Rig(kafka, topic_prefix, tmp_path, (SourcePlan("a"), SourcePlan("b", after_refusal="advance")))
    rig.create_topics()
    with rig.relay() as relay:
        relay.wait_ready()
        rig.produce(0, [*whole_run("finished", 3, 1), started("open", partition=0), event("open", 2, partition=0)])
        rig.produce(1, [INVALID["unknown_kind"]("advanced", 1)])
        rig.ledger.wait_judged()
        assert relay.terminate() == 0
        relay.start()
        relay.wait_ready()
        rig.produce(0, [event("finished", 4, partition=1), event("open", 3, partition=0)])
        rig.produce(1, [event("open", 4, partition=0), event("advanced", 2), started("advanced")])
        rig.ledger.wait_judged()
        assert relay.terminate() == 0

    tally = rig.ledger.prove()
    assert tally.causes() == {"finished": 1, "malformed": 2, "duplicate": 1}
    assert tally.endings() == {"completed": 2}


@pytest.mark.parametrize(
    ("key", "value"),
    [(b"run:r", b"\xc3\x01garbage-of-a-value"), (b"run:r", b""), (b"what:r", b"")],
    ids=["value", "empty-value", "key"],
)
def test_unreadable_changelog_record_is_fatal(
    kafka: KafkaBroker, topic_prefix: str, tmp_path: Path, key: bytes, value: bytes
) -> None:
    """A changelog record that cannot be read ends the relay, which names its offset; it is never skipped."""
    rig = Rig(kafka, topic_prefix, tmp_path)
    rig.create_topics()
    record = NewRecord(value, key, partition=1)
    rig.produce(0, whole_run("r", 3), judged=False)
    ((partition, offset),) = produce_all(kafka.bootstrap_servers, rig.outputs.changelog, [record])
    with rig.relay() as relay:
        assert relay.wait_exit() == FATAL
        assert f"{rig.outputs.changelog} partition {partition} offset {offset}" in relay.log()


def test_unreadable_relays_record_is_fatal(kafka: KafkaBroker, topic_prefix: str, tmp_path: Path) -> None:
    """A record of the relays topic that cannot be read ends the relay, which names its offset."""
    rig = Rig(kafka, topic_prefix, tmp_path)
    rig.create_topics()
    produce_all(kafka.bootstrap_servers, rig.outputs.relays, [NewRecord(b"garbage", b"some/relay")])
    with rig.relay() as relay:
        assert relay.wait_exit() == FATAL
        assert f"{rig.outputs.relays} partition 0 offset 0" in relay.log()
