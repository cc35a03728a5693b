"""Partition numbers and the phases they go through."""

from itertools import product

import pytest

from relay.judge.run_state import RunState
from relay.partitions import KEPT_STATE_MAX_S, Partition, Partitions, Phase
from relay.records import TopicPartition
from relay.run_store import PartitionRuns

A0, B0, A1, B1 = (TopicPartition(topic, number) for number in (0, 1) for topic in ("a", "b"))

LEGAL = {
    (Phase.INCOMPLETE, Phase.RESTORING),
    (Phase.RESTORING, Phase.RUNNING),
    (Phase.RESTORING, Phase.HALTED),
    (Phase.RUNNING, Phase.HALTED),
    (Phase.RUNNING, Phase.RESTORING),
}


def running(partitions: Partitions) -> Partition:
    """Bring the partition of number 0 to RUNNING."""
    (partition,) = partitions.assign([A0, B0], 0.0)
    partition.changelog_next = 7
    partition.positions = {"a": 5, "b": None}
    partition.runs.load("r", RunState(2, finished=False, source="a"))
    partitions.run(partition)
    return partition


@pytest.mark.parametrize(("before", "after"), list(product(Phase, Phase)))
def test_phases_change_by_the_table(before: Phase, after: Phase) -> None:
    """Every change of the table is taken, every other one is an error that names both phases and changes nothing."""
    partition = Partition(4, PartitionRuns(), None)
    partition.phase = before
    if (before, after) in LEGAL:
        partition.enter(after)
        assert partition.phase is after
        return
    with pytest.raises(RuntimeError, match=f"partition 4: illegal phase change {before.name} -> {after.name}"):
        partition.enter(after)
    assert partition.phase is before


def test_a_number_is_incomplete_until_every_source_is_here() -> None:
    """A partition number is restored only once its partition of all sources is assigned here."""
    partitions = Partitions(["a", "b"])
    heard = [partitions.heard]
    assert partitions.assign([A0, A1], 0.0) == []
    heard.append(partitions.heard)
    assert heard == [False, True]
    assert [p.number for p in partitions.in_phase(Phase.INCOMPLETE)] == [0, 1]
    assert [p.number for p in partitions.assign([B1], 0.0)] == [1]
    assert [p.number for p in partitions.in_phase(Phase.RESTORING)] == [1]
    assert [p.number for p in partitions] == [0, 1]
    assert len(partitions) == 2
    assert partitions.topic_partitions(1) == [A1, B1]


def test_nothing_assigned_was_heard_as_well() -> None:
    """An assignment of nothing is an answer of the group."""
    partitions = Partitions(["a"])
    assert partitions.assign([], 0.0) == []
    assert partitions.heard
    assert len(partitions) == 0


def test_foreign_topics_are_named_and_left_alone() -> None:
    """A topic that is no source makes no partition number and completes none."""
    partitions = Partitions(["a", "b"])
    assert partitions.assign([A0, TopicPartition("old", 0), TopicPartition("old", 9)], 0.0) == []
    assert partitions.foreign == {"old"}
    assert [p.number for p in partitions] == [0]
    assert partitions.topic_partitions(0) == [A0]
    partitions.release([A0, TopicPartition("old", 0), TopicPartition("old", 9)], 0.0)
    assert partitions.foreign == set()
    assert len(partitions) == 0


def test_running_partitions_are_judged() -> None:
    """Only a partition that is RUNNING is among those that are judged; halting takes it out and keeps the reason."""
    partitions = Partitions(["a", "b"])
    partition = running(partitions)
    assert partitions.running == {0: partition}
    partitions.halt(partition, "why")
    assert partitions.running == {}
    assert (partition.phase, partition.halt_reason) == (Phase.HALTED, "why")
    assert partitions.get(0) is partition
    assert partitions.get(5) is None


def test_restoring_again_takes_every_running_partition() -> None:
    """After an unknown outcome every running partition goes back to its changelog; a halted one stays halted."""
    partitions = Partitions(["a", "b"])
    partition = running(partitions)
    (other,) = partitions.assign([A1, B1], 0.0)
    partitions.halt(other, "why")
    assert partitions.restore_again() == [partition]
    assert partition.phase is Phase.RESTORING
    assert other.phase is Phase.HALTED
    assert partitions.running == {}


def test_kept_state_returns() -> None:
    """A partition that comes back in time finds its run states, positions and changelog offset, and is restored."""
    partitions = Partitions(["a", "b"])
    before = running(partitions)
    before.topic_ids = {"a": "id"}
    before.runs.staged["r"] = RunState(9, finished=False, source="a")
    partitions.release([A0, B0], 10.0)
    assert partitions.running == {}
    assert len(partitions) == 0
    (after,) = partitions.assign([A0, B0], 10.0 + KEPT_STATE_MAX_S)
    assert after is not before
    assert after.phase is Phase.RESTORING
    assert after.runs.get("r") == RunState(2, finished=False, source="a")
    assert (after.positions, after.topic_ids, after.changelog_next) == ({"a": 5, "b": None}, {"a": "id"}, 7)


def test_state_kept_too_long_is_not_used() -> None:
    """Past its time kept state is not brought back: tombstones may be gone from the changelog."""
    partitions = Partitions(["a", "b"])
    running(partitions)
    partitions.release([A0, B0], 10.0)
    (after,) = partitions.assign([A0, B0], 10.1 + KEPT_STATE_MAX_S)
    assert (len(after.runs), after.positions, after.changelog_next) == (0, {}, None)


def test_state_of_a_halted_partition_is_not_kept() -> None:
    """A halted partition that comes back is restored from the start of its changelog."""
    partitions = Partitions(["a", "b"])
    partitions.halt(running(partitions), "why")
    partitions.release([A0, B0], 10.0)
    (after,) = partitions.assign([A0, B0], 10.0)
    assert (len(after.runs), after.changelog_next, after.halt_reason) == (0, None, "")


def test_state_that_was_never_restored_is_not_kept() -> None:
    """A partition that goes while it is first restored leaves nothing half read behind."""
    partitions = Partitions(["a", "b"])
    (before,) = partitions.assign([A0, B0], 0.0)
    before.runs.load("r", RunState(2, finished=False, source="a"))
    partitions.release([A0, B0], 1.0)
    (after,) = partitions.assign([A0, B0], 2.0)
    assert len(after.runs) == 0


def test_losing_one_source_makes_a_number_incomplete() -> None:
    """Where one source's partition goes and another's stays, the number is judged no more until both are here."""
    partitions = Partitions(["a", "b"])
    running(partitions)
    partitions.release([B0], 10.0)
    (left,) = partitions
    assert left.phase is Phase.INCOMPLETE
    assert partitions.running == {}
    assert partitions.topic_partitions(0) == [A0]
    assert partitions.assign([B0], 11.0) == [left]


def test_reading_starts_at_the_committed_position() -> None:
    """A source is read on at its committed position, and at the start of its log where there is none."""
    partition = Partition(0, PartitionRuns(), None)
    partition.positions = {"a": 5, "b": None, "c": 0}
    partition.starts = {"a": 2, "b": 3, "c": 0}
    assert [partition.reading_offset(topic) for topic in "abc"] == [5, 3, 0]


def test_releasing_what_is_not_here_is_nothing() -> None:
    """A release of a number that was never assigned changes nothing."""
    partitions = Partitions(["a"])
    partitions.release([A1], 0.0)
    assert len(partitions) == 0
