"""The restore: committed offsets first, then the changelog's end, then reading up to it."""

from collections.abc import Iterable
from typing import cast

import pytest

from relay.codec import SourcePosition, encode_run_state, encode_source_position, run_key, source_key
from relay.errors import Fatal, NotAnswered
from relay.judge.run_state import RunState
from relay.kafka.admin import Admin
from relay.kafka.log_reader import LogReader, LogRecord
from relay.kafka.restore import Restorer
from relay.partitions import Partition, Phase, Restored
from relay.records import TopicPartition
from relay.run_store import PartitionRuns
from tests.unit.relay.samples import StillClock

A3 = TopicPartition("a", 3)
OPEN = RunState(4, finished=False, source="a", changed_ms=9)


class Cluster:
    """A group member, an admin client and a reader of the changelog, in one; it notes what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.offsets: dict[TopicPartition, int | None] | None = {A3: 5}
        self.ends: dict[int, int] | None = {3: 2}
        self.starts = {A3: 0}
        self.ids = {"a": ("id-a", 4), "changelog": ("id-log", 4)}
        self.log: list[LogRecord] = []
        self.at: dict[int, int] = {}
        self.began_at: list[tuple[int, int | None]] = []
        self.stopped: list[int] = []
        self.cut_off: set[int] = set()

    def committed(
        self, partitions: Iterable[TopicPartition], timeout_s: float
    ) -> dict[TopicPartition, int | None] | None:
        """Committed offsets, None while they are in a transaction."""
        assert list(partitions) == [A3]
        assert timeout_s <= 0.5
        self.asked.append("committed")
        return self.offsets

    def log_ends(self, topic: str, partitions: Iterable[int], timeout_s: float) -> dict[int, int]:
        """The changelog's ends."""
        assert (topic, list(partitions)) == ("changelog", [3])
        assert timeout_s <= 0.5
        self.asked.append("end")
        if self.ends is None:
            raise NotAnswered("why")
        return self.ends

    def log_starts(self, _partitions: Iterable[TopicPartition], _timeout_s: float) -> dict[TopicPartition, int]:
        """The first offsets that are still there."""
        return self.starts

    def topic_ids(self, _topics: Iterable[str], _timeout_s: float) -> dict[str, tuple[str, int]]:
        """The topics' ids."""
        return self.ids

    def start(self, partition: int, offset: int | None) -> None:
        """Begin to read a partition."""
        self.began_at.append((partition, offset))
        self.at[partition] = offset or 0
        self.cut_off.discard(partition)

    def stop(self, partition: int) -> None:
        """Stop reading it."""
        self.stopped.append(partition)

    def position(self, partition: int) -> int:
        """How far it was read."""
        return self.at[partition]

    def out_of_range(self, partition: int) -> bool:
        """Whether the offset that reading began at is gone."""
        return partition in self.cut_off

    def read(self, _timeout_s: float) -> list[LogRecord]:
        """One record a call."""
        self.asked.append("read")
        following = [record for record in self.log if record.offset >= self.at[3]][:1]
        for record in following:
            self.at[3] = record.offset + 1
        return following


def state_at(offset: int, run_id: str = "r", state: RunState | None = OPEN) -> LogRecord:
    """A changelog record of a run."""
    return LogRecord(3, offset, run_key(run_id), None if state is None else encode_run_state(state))


def position_at(offset: int, next_offset: int, topic_id: str = "id-a", changelog_id: str = "id-log") -> LogRecord:
    """A changelog record of a source's position."""
    return LogRecord(
        3, offset, source_key("a"), encode_source_position(SourcePosition(next_offset, topic_id, changelog_id))
    )


class Restoring:
    """A restorer over a cluster, with one partition in hand."""

    def __init__(self, *, changelog_next: int | None = None) -> None:
        self.cluster = Cluster()
        self.clock = StillClock()
        reader, admin = cast("LogReader", self.cluster), cast("Admin", self.cluster)
        self.restorer = Restorer(("a",), "changelog", self.cluster, reader, admin, self.clock)
        self.partition = Partition(3, PartitionRuns(), changelog_next)
        self.partition.enter(Phase.RESTORING)

    def to_the_end(self) -> Restored:
        """Step until the partition is restored."""
        self.restorer.begin([self.partition])
        for _step in range(20):
            restored = self.restorer.step()
            if restored:
                return restored[0]
        raise AssertionError("the restore did not end")


def test_states_and_positions_are_restored() -> None:
    """Run states, positions, ids, starts and the changelog offset are what the log and the group say."""
    restoring = Restoring()
    restoring.cluster.log = [state_at(0), position_at(1, 5)]
    restored = restoring.to_the_end()
    partition = restoring.partition
    assert (restored.partition, restored.faults) == (partition, [])
    assert partition.runs.get("r") == OPEN
    assert partition.positions == {"a": 5}
    assert partition.topic_ids == {"a": "id-a", "changelog": "id-log"}
    assert partition.starts == {"a": 0}
    assert partition.changelog_next == 2
    assert restoring.cluster.stopped == [3]
    assert restoring.restorer.step() == []


def test_the_order_is_committed_then_end_then_read() -> None:
    """The end is asked for only after the committed offsets are known, and reading begins only after that."""
    restoring = Restoring()
    cluster = restoring.cluster
    cluster.log = [state_at(0), position_at(1, 5)]
    known, cluster.offsets = cluster.offsets, None
    restoring.restorer.begin([restoring.partition])
    assert restoring.restorer.step() == []
    assert cluster.asked == ["committed"]
    cluster.offsets = known
    end, cluster.ends = cluster.ends, None
    assert restoring.restorer.step() == []
    assert cluster.asked == ["committed", "committed", "end"]
    assert cluster.began_at == []
    cluster.ends = end
    while not restoring.restorer.step():
        pass
    assert cluster.asked == ["committed", "committed", "end", "end", "read", "read"]


def test_an_empty_changelog_is_restored_at_once() -> None:
    """A partition that was never read has neither states nor a position, and that is no fault."""
    restoring = Restoring()
    restoring.cluster.offsets, restoring.cluster.ends = {A3: None}, {3: 0}
    restored = restoring.to_the_end()
    assert restored.faults == []
    assert restoring.partition.positions == {"a": None}
    assert len(restoring.partition.runs) == 0


def test_the_last_record_of_a_run_counts_and_tombstones_forget() -> None:
    """Later records win, a tombstone takes a run out, and a run may come back after it."""
    restoring = Restoring()
    restoring.cluster.ends = {3: 6}
    restoring.cluster.log = [
        state_at(0),
        state_at(1, state=OPEN._replace(next_seq=9)),
        state_at(2, "q"),
        state_at(3, "q", None),
        state_at(4, "unknown", None),
        position_at(5, 5),
    ]
    assert restoring.to_the_end().faults == []
    assert restoring.partition.runs.get("r") == OPEN._replace(next_seq=9)
    assert restoring.partition.runs.get("q") is None
    assert restoring.partition.runs.open_count == 1


def test_kept_state_is_replayed_from_where_it_was() -> None:
    """State that was kept is brought up to date from the remembered offset; what did not change is as it was left."""
    restoring = Restoring(changelog_next=2)
    restoring.partition.runs.load("kept", OPEN)
    restoring.partition.positions = {"a": 5}
    restoring.partition.topic_ids = {"a": "id-a"}
    restoring.cluster.log = [state_at(2)]
    restoring.cluster.ends = {3: 3}
    assert restoring.to_the_end().faults == []
    assert restoring.cluster.began_at == [(3, 2)]
    assert restoring.partition.runs.get("kept") == OPEN
    assert restoring.partition.runs.get("r") == OPEN


def test_kept_state_that_cannot_be_brought_up_to_date_is_read_anew() -> None:
    """Where the log no longer reaches back to the remembered offset, all of it is read and nothing kept is used."""
    restoring = Restoring(changelog_next=2)
    restoring.partition.runs.load("kept", OPEN)
    restoring.partition.positions = {"a": 99}
    restoring.cluster.log = [state_at(0), position_at(1, 5)]
    restoring.restorer.begin([restoring.partition])
    restoring.cluster.ends = {3: 2}

    started = restoring.cluster.start

    def start(partition: int, offset: int | None) -> None:
        started(partition, offset)
        if offset is not None:
            restoring.cluster.cut_off.add(partition)

    restoring.cluster.start = start  # type: ignore[method-assign]  # the log was cut off before the remembered offset
    assert restoring.to_the_end().faults == []
    assert restoring.cluster.began_at[-1] == (3, None)
    assert restoring.partition.runs.get("kept") is None
    assert restoring.partition.runs.get("r") == OPEN
    assert restoring.partition.positions == {"a": 5}


@pytest.mark.parametrize(
    ("committed", "known", "said"),
    [(4, 5, ("5", "4")), (6, 5, ("5", "6")), (None, 5, ("5", "none")), (5, None, ("none", "5"))],
)
def test_a_changelog_that_disagrees_is_a_fault(committed: int | None, known: int | None, said: tuple[str, str]) -> None:
    """Where the group and the changelog tell different offsets, the partition is not judged, and both are told."""
    restoring = Restoring()
    restoring.cluster.offsets = {A3: committed}
    restoring.cluster.log = [] if known is None else [position_at(0, known)]
    restoring.cluster.ends = {3: len(restoring.cluster.log)}
    assert restoring.to_the_end().faults == [
        (
            f"a: the changelog says the next offset is {said[0]}, the group's committed offset is {said[1]}; restore "
            "the one that is wrong, nothing is jumped over"
        )
    ]


def test_retention_that_overtook_is_a_fault() -> None:
    """A committed offset before the start of the log is a fault that says what was lost."""
    restoring = Restoring()
    restoring.cluster.log = [position_at(0, 5)]
    restoring.cluster.ends, restoring.cluster.starts = {3: 1}, {A3: 8}
    assert restoring.to_the_end().faults == [
        "a: the committed offset is 5, retention has deleted all before 8; they are lost"
    ]


def test_a_topic_made_anew_is_a_fault() -> None:
    """A source topic with another id than the changelog remembers is not read on."""
    restoring = Restoring()
    restoring.cluster.log = [position_at(0, 5, "old")]
    restoring.cluster.ends = {3: 1}
    assert restoring.to_the_end().faults == [
        "a: the topic was made anew (its id was old, is id-a); its old offsets mean nothing in it"
    ]


@pytest.mark.parametrize(
    "unreadable",
    [
        LogRecord(3, 0, None, b"x"),
        LogRecord(3, 0, b"other:x", b"x"),
        LogRecord(3, 0, run_key("r"), b"x"),
        LogRecord(3, 0, source_key("a"), encode_run_state(OPEN)),
    ],
)
def test_what_cannot_be_read_is_fatal(unreadable: LogRecord) -> None:
    """A changelog record that cannot be read ends the process and names its offset; it is never skipped."""
    restoring = Restoring()
    restoring.cluster.log = [unreadable]
    with pytest.raises(Fatal, match=r"changelog partition 3 offset 0: .* never skipped"):
        restoring.to_the_end()


def test_a_cancelled_restore_is_let_go() -> None:
    """A partition that went away is no longer read, and is not told as restored."""
    restoring = Restoring()
    restoring.cluster.log = [state_at(0), position_at(1, 5)]
    restoring.restorer.begin([restoring.partition])
    restoring.restorer.step()
    restoring.restorer.cancel([3, 9])
    assert restoring.cluster.stopped == [3]
    for _step in range(5):
        assert restoring.restorer.step() == []


def test_a_changelog_made_anew_is_a_fault() -> None:
    """Positions that were written into another changelog of the same name forbid judging."""
    restoring = Restoring()
    restoring.cluster.log = [state_at(0), position_at(1, 5, changelog_id="id-old-log")]
    restored = restoring.to_the_end()
    assert any("changelog: the topic was made anew (its id was id-old-log" in fault for fault in restored.faults)


def test_what_was_kept_beyond_the_end_is_read_anew() -> None:
    """A remembered offset past the changelog's end proves nothing: everything kept is forgotten and read again."""
    restoring = Restoring(changelog_next=40)
    restoring.partition.runs.load("stale", OPEN)
    restoring.cluster.log = [state_at(0), position_at(1, 5)]
    restored = restoring.to_the_end()
    assert restoring.cluster.began_at == [(3, 40), (3, None)]
    assert restored.partition.runs.get("stale") is None
    assert restored.partition.runs.get("r") == OPEN
