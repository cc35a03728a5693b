"""The broker hangs in the midst of commits: nobody knows whether they were made until it goes on."""

import os
import random
import signal
import time
from pathlib import Path

import pytest

from deploy.kafka.kafka_local import cluster
from tests.support.kafka import KafkaBroker
from tests.support.load import Load
from tests.support.plan import SourcePlan
from tests.support.rig import Rig, wait_until

pytestmark = pytest.mark.broker

FREEZES = 3
CALL_TIMEOUT_S = 1


def freeze_under_load(rig: Rig, load: Load, broker_pid: int, after_s: float) -> None:
    """Stop the broker for longer than a commit may take, so long after the load began."""
    with rig.load(load, 0.02):
        time.sleep(after_s)  # The moment of the freeze is what is drawn.
        os.kill(broker_pid, signal.SIGSTOP)
        time.sleep(CALL_TIMEOUT_S + 1.0)
        os.kill(broker_pid, signal.SIGCONT)


def test_frozen_broker_leaves_commits_in_doubt(topic_prefix: str, tmp_path: Path, rng: random.Random) -> None:
    """A commit that times out may be made or not: the relay asks before it writes on, so nothing is lost or doubled.

    A broker of its own is stopped by signal under load for longer than a commit may take, so that commits time out;
    what it had received of them it carries out when it goes on.
    """
    with cluster.running(tmp_path / "broker") as state:
        broker_pid = state.brokers[0].process.pid
        kafka = KafkaBroker(state.bootstrap_servers, "local", state.version)
        config = {"relay": {"transaction_call_timeout": f"{CALL_TIMEOUT_S}s"}}
        rig = Rig(kafka, topic_prefix, tmp_path, (SourcePlan("a"), SourcePlan("b")), config=config)
        rig.create_topics()
        load = Load(rng, sources=2, records=30)
        with rig.relay() as relay:
            relay.wait_ready()
            doubts = 0.0
            for _ in range(FREEZES):
                freeze_under_load(rig, load, broker_pid, rng.uniform(0.5, 1.0))
                wait_until(lambda: relay.get("/readyz") is not None, 30, "the relay ready again")
                rig.ledger.wait_judged()
                doubts = relay.metrics().value("ethogram_relay_transactions_total", outcome="unknown")
            for source, planned in load.rest().items():
                rig.produce(source, planned)
            rig.ledger.wait_judged()
            assert relay.terminate() == 0
        assert doubts >= 1, "no commit timed out: the freeze proved nothing"
        tally = rig.ledger.prove()
    assert tally.endings() == {"completed": 1}
