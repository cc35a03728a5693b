"""Relays of one group join, leave, hang and change their sources under load; the counts are those of one relay."""

import random
import time
from pathlib import Path

import pytest

from tests.support.kafka import KafkaBroker
from tests.support.load import Load
from tests.support.plan import SourcePlan, whole_run
from tests.support.relay_process import RelayProcess
from tests.support.rig import SESSION_TIMEOUT_MS, Rig, wait_until
from tests.support.tally import Tally

AB = (SourcePlan("a"), SourcePlan("b"))
ABC = (*AB, SourcePlan("c"))
TAKEOVER_TIMEOUT_S = 4 * SESSION_TIMEOUT_MS / 1000
HANG_S = 4.5
"""Past a transaction's time-out of 2 s and the broker's look for such, within the group's session."""
FENCED = 5
AT_WORK_S = 0.7
"""How long a new assignment is put under load before the next disturbance."""


def partitions_running(relay: RelayProcess) -> int:
    """How many partition numbers this relay judges, as it says itself; 0 while it does not answer."""
    if relay.get("/livez") is None:
        return 0
    return int(relay.metrics().total("ethogram_relay_partitions", phase="running"))


def wait_running(wanted: dict[RelayProcess, int], timeout_s: float = TAKEOVER_TIMEOUT_S) -> None:
    """Wait until each relay judges as many partition numbers as wanted."""
    for relay, count in wanted.items():
        said = f"{count} partitions running in {relay.log_path.stem}\n{relay.log_tail()}"
        wait_until(lambda relay=relay, count=count: partitions_running(relay) == count, timeout_s, said)  # type: ignore[misc] # bound at once


def settle(rig: Rig, load: Load) -> None:
    """Finish every open run, and wait until all is judged."""
    for source, planned in load.rest().items():
        rig.produce(source, planned)
    rig.ledger.wait_judged()


def assert_all_causes(tally: Tally) -> None:
    """The load's faults were all met."""
    assert tally.causes().keys() == {"malformed", "over_bound", "duplicate", "gap"}


def test_second_relay_joins_and_leaves(
    kafka: KafkaBroker, topic_prefix: str, tmp_path: Path, rng: random.Random
) -> None:
    """Partitions that move to a second relay and back, by a join, a stop and a kill, keep every count."""
    rig = Rig(kafka, topic_prefix, tmp_path, AB, partitions=4)
    rig.create_topics()
    load = Load(rng, sources=2, records=30)
    first, second = rig.relay("relay-0"), rig.relay("relay-1")
    with first, rig.load(load):
        wait_running({first: 4})
        time.sleep(AT_WORK_S)
        with second:
            wait_running({first: 2, second: 2})
            time.sleep(AT_WORK_S)
            assert second.terminate() == 0
            wait_running({first: 4})
            time.sleep(AT_WORK_S)
            second.start()
            wait_running({first: 2, second: 2})
            time.sleep(AT_WORK_S)
            first.kill()
            wait_running({second: 4})
            time.sleep(AT_WORK_S)
            first.start()
            wait_running({first: 2, second: 2})
            time.sleep(AT_WORK_S)
            assert first.terminate() == 0
            assert second.terminate() == 0
            # Whatever comes now waits for the next start.
    with first:
        settle(rig, load)
        assert first.terminate() == 0

    tally = rig.ledger.prove()
    assert_all_causes(tally)
    assert tally.endings() == {"completed": 4, "failed": 1}


def test_source_is_added_by_a_rolling_restart(
    kafka: KafkaBroker, topic_prefix: str, tmp_path: Path, rng: random.Random
) -> None:
    """Two relays are restarted one after the other with one source more; the old sources go on, the new one begins."""
    rig = Rig(kafka, topic_prefix, tmp_path, ABC, partitions=2)
    rig.create_topics()
    load = Load(rng, sources=3, records=20)
    before = rig.sources[:2]
    with rig.load(load), rig.relay("relay-0", before) as first, rig.relay("relay-1", before) as second:
        wait_running({first: 1, second: 1})
        time.sleep(AT_WORK_S)
        assert first.terminate() == 0
        with rig.relay("relay-0", life="-new") as first_new:
            wait_until(lambda: first_new.get("/readyz") is not None, 20, "an answer of the first relay")
            time.sleep(2 * AT_WORK_S)  # Both configurations are in the group now.
            assert second.terminate() == 0
            with rig.relay("relay-1", life="-new") as second_new:
                wait_running({first_new: 1, second_new: 1})
                first_new.wait_ready()
                second_new.wait_ready()
                time.sleep(AT_WORK_S)
                assert first_new.terminate() == 0
                assert second_new.terminate() == 0
    with rig.relay("relay-0", life="-last") as last:
        wait_running({last: 2})
        settle(rig, load)
        assert last.terminate() == 0

    tally = rig.ledger.prove()
    assert_all_causes(tally)
    assert tally.endings() == {"completed": 5}


def test_source_is_added_and_taken_away_by_a_restart(kafka: KafkaBroker, topic_prefix: str, tmp_path: Path) -> None:
    """One relay restarted within its session time-out reads the sources it is now told of, and no others."""
    rig = Rig(kafka, topic_prefix, tmp_path, AB)
    rig.create_topics()
    rig.produce(0, whole_run("a1", 3))
    with rig.relay(sources=rig.sources[:1]) as relay:
        relay.wait_ready()
        assert relay.terminate() == 0
    rig.produce(1, whole_run("b1", 3))
    with rig.relay(life="-more") as relay:
        relay.wait_ready(TAKEOVER_TIMEOUT_S)
        rig.ledger.wait_judged(10)
        assert relay.terminate() == 0
    with rig.relay(sources=rig.sources[:1], life="-less") as relay:
        relay.wait_ready(TAKEOVER_TIMEOUT_S)
        rig.produce(0, whole_run("a2", 3))
        rig.ledger.wait_judged(10)
        assert relay.terminate() == 0

    assert rig.ledger.prove().forwarded.total() == 9


def test_relay_that_hangs_past_its_session(
    kafka: KafkaBroker, topic_prefix: str, tmp_path: Path, rng: random.Random
) -> None:
    """A relay that hangs until another has its partitions, and then wakes up, loses nothing and repeats nothing.

    Where it hung with offsets in its open transaction, the other must wait for the end of that, and the woken one finds
    itself fenced; else it joins again.
    """
    rig = Rig(kafka, topic_prefix, tmp_path, AB, partitions=2)
    rig.create_topics()
    load = Load(rng, sources=2, records=60)
    with rig.relay("relay-0") as first, rig.relay("relay-1") as second:
        wait_running({first: 1, second: 1})
        with rig.load(load, 0.05):
            time.sleep(AT_WORK_S)
            first.pause()
            wait_running({second: 2})
            first.resume()
            wait_until(
                lambda: first.process.poll() is not None or partitions_running(second) == 1,
                TAKEOVER_TIMEOUT_S,
                "its end, or its coming back",
            )
            fenced = first.process.poll() is not None
            if fenced:
                assert first.wait_exit() == FENCED
                first.start()
            wait_running({first: 1, second: 1})
            time.sleep(AT_WORK_S)
        settle(rig, load)
        assert first.terminate() == 0
        assert second.terminate() == 0

    tally = rig.ledger.prove()
    assert_all_causes(tally)
    assert tally.endings() == ({"completed": 2, "failed": 1} if fenced else {"completed": 2})


def test_relay_that_hangs_past_its_transaction(
    kafka: KafkaBroker, topic_prefix: str, tmp_path: Path, rng: random.Random
) -> None:
    """A relay that hangs with an open transaction beyond the transaction's time-out loses nothing, repeats nothing.

    Whether its next call finds it fenced or only its records timed out is the client's choice; it ends with the code
    for that, or reads back what is true and goes on.
    """
    config = {"relay": {"commit_interval_ms": 330}, "kafka": {"transaction.timeout.ms": 2_000}}
    rig = Rig(kafka, topic_prefix, tmp_path, AB, partitions=2, config=config)
    rig.create_topics()
    load = Load(rng, sources=2, records=30)
    with rig.relay("relay-0") as relay:
        relay.wait_ready()
        with rig.load(load, 0.05):
            time.sleep(AT_WORK_S)
            relay.pause()
            time.sleep(HANG_S)
            committed = rig.ledger.committed()
            relay.resume()
            wait_until(
                lambda: relay.process.poll() is not None or rig.ledger.committed() != committed,
                TAKEOVER_TIMEOUT_S,
                "its end, or its going on",
            )
            time.sleep(AT_WORK_S)
            fenced = relay.process.poll() is not None
            if fenced:
                assert relay.wait_exit() == FENCED
                relay.start()
                relay.wait_ready()
        settle(rig, load)
        assert relay.terminate() == 0

    tally = rig.ledger.prove()
    assert_all_causes(tally)
    assert tally.endings() == ({"failed": 1, "completed": 1} if fenced else {"completed": 1})


@pytest.mark.parametrize("session_timeout_ms", [SESSION_TIMEOUT_MS, 30_000], ids=["past-session", "within-session"])
def test_relay_that_hangs_does_not_disturb_its_successor(
    kafka: KafkaBroker, topic_prefix: str, tmp_path: Path, rng: random.Random, session_timeout_ms: int
) -> None:
    """A relay that hung, was replaced under its own identity, and wakes up, ends as fenced; its successor goes on."""
    client = {"transaction.timeout.ms": 2_000, "session.timeout.ms": session_timeout_ms}
    config = {"relay": {"commit_interval_ms": 330}, "kafka": client}
    rig = Rig(kafka, topic_prefix, tmp_path, AB, partitions=2, config=config)
    rig.create_topics()
    load = Load(rng, sources=2, records=30)
    with rig.relay("relay-0", life="-old") as old, rig.load(load, 0.05):
        old.wait_ready()
        time.sleep(AT_WORK_S)
        old.pause()
        hung_s = time.monotonic()
        with rig.relay("relay-0", life="-new") as new:
            new.wait_ready()
            past = SESSION_TIMEOUT_MS / 1000 + 1 if session_timeout_ms == SESSION_TIMEOUT_MS else HANG_S
            time.sleep(max(0.0, hung_s + past - time.monotonic()))
            old.resume()
            assert old.wait_exit() == FENCED, old.log_tail()
            time.sleep(2 * AT_WORK_S)
            assert new.process.poll() is None, f"the successor was fenced\n{new.log_tail()}"
            assert new.terminate() == 0
    with rig.relay("relay-0", life="-last") as last:
        last.wait_ready()
        settle(rig, load)
        assert last.terminate() == 0

    tally = rig.ledger.prove()
    assert_all_causes(tally)
    assert tally.endings() == {"failed": 1, "completed": 2}
