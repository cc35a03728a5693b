"""What is done now and then: chores, gauges, forgetting, rejoining."""

from dataclasses import replace

import pytest
from structlog.testing import capture_logs

from relay.chores import Chore, Chores
from relay.errors import TransactionAborted
from relay.forgetting import Forgetting
from relay.gauges import Gauges
from relay.judge.run_state import RunState
from relay.partitions import Partition
from relay.records import TopicPartition
from relay.rejoining import Rejoining
from relay.telemetry.http import Health
from relay.telemetry.logging import get_log
from relay.telemetry.metrics import Metrics
from relay.topics import Layout
from tests.unit.relay.doubles import Rig
from tests.unit.relay.samples import NOW_MS, StillClock, event_record
from tests.unit.relay.telemetry.test_metrics import of, scrape

A0, B0, A1 = TopicPartition("a", 0), TopicPartition("b", 0), TopicPartition("a", 1)
CHANGELOG = "ethogram-relay.changelog"


def test_chores_are_done_when_due() -> None:
    """A chore is done once its interval has passed, first after one interval, and then again."""
    clock, done = StillClock(), list[str]()
    chores = Chores(
        clock, [Chore(1.0, lambda: done.append("often")), Chore(60.0, lambda: done.append("seldom"))], lambda: True
    )
    chores.tick()
    assert done == []
    clock.advance(1.0)
    chores.tick()
    chores.tick()
    assert done == ["often"]


def test_one_chore_a_tick() -> None:
    """A tick does at most one chore, the most urgent first, so that the loop turns in between."""
    clock, done = StillClock(), list[str]()
    chores = Chores(
        clock, [Chore(1.0, lambda: done.append("first")), Chore(1.0, lambda: done.append("second"))], lambda: True
    )
    clock.advance(5.0)
    chores.tick()
    assert done == ["first"]
    chores.tick()
    assert done == ["first", "second"]


def test_what_takes_time_is_done_between_transactions() -> None:
    """A chore that asks the cluster waits until the transaction in hand is committed, and stays due till then."""
    clock, done, settled = StillClock(), list[str](), [False, True]
    chore = Chore(1.0, lambda: done.append("asked"), between_transactions=True)
    chores = Chores(clock, [chore], lambda: settled.pop(0))
    clock.advance(1.0)
    chores.tick()
    assert done == []
    chores.tick()
    assert done == ["asked"]


class Ends:
    """Knows the end of one topic-partition."""

    def end_offset(self, entry: TopicPartition) -> int | None:
        """The last stable offset."""
        return 12 if entry == A0 else None


def gauges_of(rig: Rig) -> tuple[Gauges, Metrics, Health]:
    """Gauges over a rig, and what they set."""
    metrics, health = Metrics(["a", "b"]), Health(rig.clock)
    return Gauges(metrics, health, rig.partitions, rig.outbox, Ends(), rig.clock), metrics, health


def test_gauges_show_the_state_of_things() -> None:
    """Open, held and known runs, lag, phases and the age of what is in hand are what they are now."""
    rig = Rig([event_record("r", 1, offset=0), event_record("q", 2, offset=1)])
    gauges, metrics, health = gauges_of(rig)
    gauges.look()
    assert health.ready_answer()[1] == "not assigned yet"
    rig.assign(0)
    rig.loop.turn()
    rig.clock.advance(2)
    gauges.look()
    assert of(scrape(metrics), "oldest_unforwarded_age_seconds", source="a") == pytest.approx(2.005)
    assert of(scrape(metrics), "source_lag_records", source="a", partition="0") == 12
    rig.loop.commit()
    gauges.look()
    samples = scrape(metrics)
    assert of(samples, "open_runs") == 1
    assert of(samples, "held_runs") == 1
    assert of(samples, "state_runs") == 1
    assert of(samples, "source_lag_records", source="a", partition="0") == 10
    assert of(samples, "partitions", phase="running") == 1
    assert of(samples, "partitions", phase="halted") == 0
    assert health.ready_answer() == (200, "assigned and restored")
    assert not [name for name, _labels in samples if "age_seconds" in name]


def test_readiness_names_what_is_waited_for() -> None:
    """Whatever is not judged makes the relay unready, by phase and number."""
    rig = Rig()
    gauges, _metrics, health = gauges_of(rig)
    rig.assign(0, 1)
    rig.loop.assigned([TopicPartition("a", 3), TopicPartition("a", 2)])
    rig.loop.halt(rig.partition(), "why")
    gauges.tell_readiness()
    assert health.ready_answer() == (503, "halted partitions: 0; incomplete partitions: 2, 3")


LAYOUT = Layout(
    partition_count=1,
    keep_partition=True,
    record_bytes_max=1,
    state_bytes_max=1,
    quarantine_bytes_max=1,
    batch_bytes_max=1,
    forget_finished_ms=1000,
    forget_idle_ms=5000,
)


def forgetting_of(rig: Rig, layout: Layout = LAYOUT) -> Forgetting:
    """Forgetting over a rig."""
    return Forgetting(layout, rig.partitions, rig.outbox, rig.loop.commit, rig.clock)


def aged(rig: Rig) -> Partition:
    """A partition with a committed offset, and runs last changed half a second, 2, 2 and 6 seconds ago."""
    rig.assign(0)
    rig.loop.turn()
    rig.loop.commit()
    runs = rig.partition().runs
    runs.load("young", RunState(9, finished=True, source="a", changed_ms=NOW_MS - 500))
    runs.load("finished", RunState(9, finished=True, source="a", changed_ms=NOW_MS - 2000))
    runs.load("open", RunState(9, finished=False, source="a", changed_ms=NOW_MS - 2000))
    runs.load("idle", RunState(9, finished=False, source="a", changed_ms=NOW_MS - 6000))
    return rig.partition()


def test_runs_past_their_horizon_are_forgotten() -> None:
    """Finished and idle runs get tombstones in a transaction with an unchanged offset, and are gone from memory."""
    rig = Rig([event_record("r", 1, offset=0)])
    partition = aged(rig)
    forgetting_of(rig).forget()
    left = [name for name in ("young", "finished", "open", "idle") if partition.runs.get(name) is not None]
    assert left == ["young", "open"]
    transaction = rig.sink.committed[-1]
    assert [(record.key, record.value) for record in transaction.written if record.value is None] == [
        (b"run:finished", None),
        (b"run:idle", None),
    ]
    assert transaction.offsets == {A0: 1}
    assert rig.sink.compacted(CHANGELOG).keys() == {(0, b"run:r"), (0, b"source:a")}


def test_nothing_is_forgotten_where_events_are_kept_for_ever() -> None:
    """With unlimited retention forgetting is off."""
    rig = Rig([event_record("r", 1, offset=0)])
    partition = aged(rig)
    for layout in (replace(LAYOUT, forget_finished_ms=None), replace(LAYOUT, forget_idle_ms=None)):
        forgetting_of(rig, layout).forget()
    assert len(partition.runs) == 5


def test_forgetting_is_a_transaction_of_its_own() -> None:
    """What is in hand is committed first: a run is not judged and forgotten in the same transaction."""
    rig = Rig([event_record("r", 1, offset=0), event_record("idle", 9, offset=1)])
    rig.source.limits = [1, 1]
    partition = aged(rig)
    rig.loop.turn()
    forgetting_of(rig).forget()
    assert partition.runs.get("idle") is not None
    assert rig.sink.committed_offset(A0) == 2


def test_nothing_is_forgotten_before_what_is_in_hand_is_settled() -> None:
    """Where the transaction in hand is not committed, forgetting waits for the next time."""
    rig = Rig([event_record("r", 1, offset=0), event_record("r", 2, offset=1)])
    rig.source.limits = [1, 1]
    partition = aged(rig)
    rig.loop.turn()
    rig.sink.endings = [TransactionAborted("why")]
    forgetting_of(rig).forget()
    assert partition.runs.get("finished") is not None
    assert len(rig.sink.committed) == 2


def test_nothing_to_forget_writes_nothing() -> None:
    """Without a run past its horizon there is no transaction."""
    rig = Rig()
    rig.assign(0)
    rig.sink.calls.clear()
    forgetting_of(rig).forget()
    assert rig.sink.calls == []


def test_a_forgetting_that_fails_is_found_again() -> None:
    """A forgetting that is not committed forgets nothing; the next one does."""
    rig = Rig([event_record("r", 1, offset=0)])
    partition = aged(rig)
    rig.sink.endings = [TransactionAborted("why")]
    forgetting_of(rig).forget()
    assert partition.runs.get("finished") is not None
    forgetting_of(rig).forget()
    assert partition.runs.get("finished") is None


def test_a_member_joins_anew_where_its_assignment_is_stale() -> None:
    """Incomplete numbers and foreign topics make the member join anew, at once and then seldom."""
    rig, joined = Rig(), list[float]()
    rejoining = Rejoining(rig.partitions, lambda: joined.append(rig.clock.seconds), 10.0, rig.clock, get_log())
    with capture_logs() as lines:
        rejoining.look()
        rig.loop.assigned([A0, A1, TopicPartition("old", 0)])
        for _second in range(41):
            rejoining.look()
            rig.clock.advance(1)
        assert joined == [100.0, 140.0]
        rig.loop.assigned([B0, TopicPartition("b", 1)])
        rig.clock.advance(100)
        rejoining.look()
    assert joined == [100.0, 140.0]
    assert lines[0] == {
        "event": "group.rejoined",
        "log_level": "info",
        "incomplete": [0, 1],
        "foreign_topics": ["old"],
    }
