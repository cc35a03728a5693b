"""The life of a relay and of its own run: probes, stop, rotation, fencing by a successor, and the end of the dead."""

import time
from pathlib import Path

from tests.support.kafka import KafkaBroker
from tests.support.plan import SourcePlan, event, started, whole_run
from tests.support.rig import SESSION_TIMEOUT_MS, Rig, wait_until

OK, FENCED = 0, 5
DRAIN_BUDGET_S = 10.0
REAPED_TIMEOUT_S = 6 * SESSION_TIMEOUT_MS / 1000


def test_stop_closes_the_own_run_and_probes_answer(kafka: KafkaBroker, topic_prefix: str, tmp_path: Path) -> None:
    """The probes and the metrics answer; on SIGTERM what was read is committed, the own run closed, and the code 0."""
    rig = Rig(kafka, topic_prefix, tmp_path, (SourcePlan("a"), SourcePlan("b")))
    rig.create_topics()
    with rig.relay() as relay:
        relay.wait_ready()
        assert (relay.get("/livez") or (0,))[0] == 200
        assert (relay.get("/nothing") or (0,))[0] == 404
        rig.produce(0, [*whole_run("r", 20), event("r", 7)])
        rig.ledger.wait_judged()
        metrics = relay.metrics()
        name = "ethogram_relay_"
        assert metrics.total(f"{name}build_info") == 1
        assert metrics.value(f"{name}transactions_total", outcome="committed") >= 2
        assert metrics.value(f"{name}transactions_total", outcome="unknown") == 0
        assert metrics.value(f"{name}last_commit_timestamp_seconds") > time.time() - 60
        assert metrics.value(f"{name}records_refused_total", source=rig.topics[1], cause="gap") == 0, "starts at 0"
        wait_until(lambda: relay.metrics().value(f"{name}state_runs") == 1, 10, "one run in the state")
        lag = f"{name}source_lag_records"
        wait_until(lambda: relay.metrics().total(lag) == 0, 10, "no lag")
        assert "r" not in {value for _sample, labels in metrics.samples for _label, value in labels}, (
            "a run id is no label"
        )
        begun = time.monotonic()
        assert relay.terminate() == OK
        assert time.monotonic() - begun < DRAIN_BUDGET_S
        assert relay.get("/livez") is None

    tally = rig.ledger.prove()
    rig.ledger.prove_metrics(tally, metrics)
    (own,) = tally.own_runs
    assert own.ending is not None
    assert own.ending["outcome"] == "completed"
    assert own.identity == f"{rig.name}/relay-0"


def test_stop_under_load_commits_or_leaves_whole_batches(kafka: KafkaBroker, topic_prefix: str, tmp_path: Path) -> None:
    """A relay stopped in a backlog ends in time with its own run closed, and the next one goes on where it was."""
    rig = Rig(kafka, topic_prefix, tmp_path, config={"relay": {"commit_records_max": 500}})
    rig.create_topics()
    rig.produce(0, [planned for number in range(800) for planned in whole_run(f"r{number}", 10)])
    for stop in range(3):
        with rig.relay(life=f"-{stop}") as relay:
            relay.wait_ready()
            assert relay.terminate() == OK
    with rig.relay(life="-last") as relay:
        relay.wait_ready()
        rig.ledger.wait_judged()
        assert relay.terminate() == OK

    tally = rig.ledger.prove()
    assert tally.endings() == {"completed": 4}


def test_second_of_an_identity_fences_the_first(kafka: KafkaBroker, topic_prefix: str, tmp_path: Path) -> None:
    """A second relay of the same identity takes over; the first ends with the code for it and touches nothing more."""
    rig = Rig(kafka, topic_prefix, tmp_path)
    rig.create_topics()
    with rig.relay(life="-first") as first, rig.relay(life="-second") as second:
        second.kill()
        first.wait_ready()
        rig.produce(0, [started(f"r{number}") for number in range(20)])
        rig.ledger.wait_judged()
        second.start()
        second.wait_ready()
        rig.produce(0, [event(f"r{number}", 2) for number in range(20)])
        assert first.wait_exit() == FENCED, first.log_tail()
        assert "relay.fenced" in first.log()
        rig.ledger.wait_judged()
        assert second.terminate() == OK

    tally = rig.ledger.prove()
    assert tally.endings() == {"failed": 1, "completed": 1}


def test_own_run_is_rotated(kafka: KafkaBroker, topic_prefix: str, tmp_path: Path) -> None:
    """An own run past its age is closed as completed and the next one opened, each gapless, under load and idle."""
    rig = Rig(kafka, topic_prefix, tmp_path, config={"relay": {"own_run_max_age": "1s"}})
    rig.create_topics()
    with rig.relay() as relay:
        relay.wait_ready()
        deadline = time.monotonic() + 2.5
        number = 0
        while time.monotonic() < deadline:
            rig.produce(0, [event("never-begun", 2 + number), *whole_run(f"r{number}", 2)])
            number += 1
            time.sleep(0.2)
        rig.ledger.wait_judged()
        under_load = len(rig.ledger.prove().own_runs)
        time.sleep(2.5)  # Nothing comes: it is age alone that closes a run.
        assert relay.terminate() == OK

    tally = rig.ledger.prove()
    assert tally.causes() == {"gap": number}
    assert tally.endings() == {"completed": len(tally.own_runs)}
    assert 2 <= under_load < len(tally.own_runs) <= 10
    assert len({run.run_id for run in tally.own_runs}) == len(tally.own_runs)


def test_run_of_an_identity_that_never_returns_is_closed(kafka: KafkaBroker, topic_prefix: str, tmp_path: Path) -> None:
    """The own run of a relay that was killed for good is closed as failed by the owner of partition 0, once.

    If that relay comes back after all, it has nothing to close.
    """
    rig = Rig(kafka, topic_prefix, tmp_path, (SourcePlan("a"),))
    rig.create_topics()
    with rig.relay("relay-0") as stays, rig.relay("relay-1") as dies:
        stays.wait_ready()
        dies.wait_ready()
        rig.produce(
            0, [planned for number in range(20) for planned in [event(f"gap{number}", 2), started(f"r{number}")]]
        )
        rig.ledger.wait_judged()
        dies.kill()
        wait_until(lambda: "own_run.closed" in stays.log(), REAPED_TIMEOUT_S, f"its run closed\n{stays.log_tail()}")
        rig.produce(0, [event(f"r{number}", 2) for number in range(20)])
        rig.ledger.wait_judged()
        dies.start()
        dies.wait_ready()
        assert dies.terminate() == OK
        assert stays.terminate() == OK

    tally = rig.ledger.prove()
    assert tally.endings() == {"completed": 2, "failed": 1}
    closed = next(run for run in tally.own_runs if run.ending and run.ending["outcome"] == "failed")
    assert closed.identity == f"{rig.name}/relay-1"
