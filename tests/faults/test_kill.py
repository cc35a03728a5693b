"""Relays are killed outright and started again; nothing may be lost, and nothing may come twice."""

import random
import time
from pathlib import Path

from tests.support.kafka import KafkaBroker
from tests.support.load import Load
from tests.support.plan import SourcePlan, event
from tests.support.relay_process import RelayProcess
from tests.support.rig import Rig

KILLS = 10
LEFT_OPEN_REASON = "without closing"


def kill_at_random(relay: RelayProcess, rng: random.Random, *, at_work: bool) -> None:
    """Kill a relay at a moment that is drawn: once it is at work, or from the moment it was started."""
    if at_work:
        relay.wait_ready()
    time.sleep(rng.uniform(0.2, 1.2))
    assert relay.process.poll() is None, relay.log_tail()
    relay.kill()


def test_killed_ten_times_under_load(kafka: KafkaBroker, topic_prefix: str, tmp_path: Path, rng: random.Random) -> None:
    """Killed ten times at random moments and started anew, the relay loses nothing and repeats nothing.

    Half of the kills come while it starts or restores, half while it is at work. Every own run that was left open is
    ended by its successor as failed, and a run that was finished before stays so.
    """
    rig = Rig(kafka, topic_prefix, tmp_path, (SourcePlan("a"), SourcePlan("b"), SourcePlan("c")), partitions=2)
    rig.create_topics()
    load = Load(rng, sources=3, records=25)
    relay = rig.relay()

    with relay:
        with rig.load(load, 0.05):
            for kill in range(KILLS):
                kill_at_random(relay, rng, at_work=bool(kill % 2))
                relay.start()
            relay.wait_ready()
        finished_before = {source: list(ended) for source, ended in enumerate(load.ended)}
        for source, planned in load.rest().items():
            rig.produce(source, planned)
        rig.ledger.wait_judged()
        relay.kill()
        for source, ended in finished_before.items():
            rig.produce(source, [event(run_id, seq) for run_id, seq in ended[:50]])
        relay.start()
        relay.wait_ready()
        rig.ledger.wait_judged()
        assert relay.terminate() == 0

    tally = rig.ledger.prove()
    assert tally.causes().keys() == {"malformed", "over_bound", "duplicate", "gap", "finished"}
    assert tally.causes()["finished"] == sum(len(ended[:50]) for ended in finished_before.values())
    # A process that was killed before it had opened its run left none; the last was stopped, all others were killed.
    assert tally.endings().keys() == {"failed", "completed"}
    assert tally.endings()["completed"] == 1
    assert KILLS // 2 + 1 <= tally.endings()["failed"] <= KILLS + 1
    assert all(LEFT_OPEN_REASON in run.ending["reason"] for run in tally.own_runs[:-1] if run.ending)
    assert tally.own_runs[-1].ending is not None
    assert tally.own_runs[-1].ending["outcome"] == "completed"


def test_killed_in_a_backlog(kafka: KafkaBroker, topic_prefix: str, tmp_path: Path, rng: random.Random) -> None:
    """Killed in the midst of large transactions before it is through with its backlog, the relay goes on as it was."""
    config = {"relay": {"commit_interval_ms": 400}}
    rig = Rig(kafka, topic_prefix, tmp_path, (SourcePlan("a"), SourcePlan("b")), config=config)
    rig.create_topics()
    load = Load(rng, sources=2, records=500, open_runs=100)
    for number in range(20):
        for source, planned in load(number).items():
            rig.produce(source, planned)

    relay = rig.relay()
    with relay:
        for kill in range(3):
            if kill:
                relay.start()
            relay.wait_ready()
            time.sleep(rng.uniform(0.0, 0.4))  # Inside or just behind the first transaction.
            relay.kill()
        relay.start()
        relay.wait_ready()
        rig.ledger.wait_judged()
        assert relay.terminate() == 0

    tally = rig.ledger.prove()
    assert tally.endings() == {"failed": 3, "completed": 1}
