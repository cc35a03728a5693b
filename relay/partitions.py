"""Partition numbers under this relay's care, and the phases they go through.

State is kept per partition *number*: p of every source and p of the changelog belong together, and p is judged only
while p of all sources is assigned here and restored.

    INCOMPLETE --all sources assigned--> RESTORING --restored--> RUNNING
        any of them --revoked or lost--> gone (its committed run states are kept a while)
        RESTORING, RUNNING --a fault that must not be jumped over--> HALTED --revoked or lost--> gone
        RUNNING --a transaction's outcome is unknown--> RESTORING
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from relay.records import TopicPartition
from relay.run_store import PartitionRuns


class Phase(Enum):
    """Where a partition number stands."""

    INCOMPLETE = auto()
    RESTORING = auto()
    RUNNING = auto()
    HALTED = auto()


_LEGAL: Final = frozenset(
    {
        (Phase.INCOMPLETE, Phase.RESTORING),
        (Phase.RESTORING, Phase.RUNNING),
        (Phase.RESTORING, Phase.HALTED),
        (Phase.RUNNING, Phase.HALTED),
        (Phase.RUNNING, Phase.RESTORING),
    }
)

KEPT_STATE_MAX_S: Final = 3600.0
"""How long the run states of a partition that went away are kept for its return.

Far under the day for which a compacted topic keeps its tombstones, so that a replay from the remembered changelog
offset cannot miss one.
"""


class Partition:
    """One partition number: its phase, run states and committed positions."""

    __slots__ = ("changelog_next", "halt_reason", "number", "phase", "positions", "runs", "starts", "topic_ids")

    def __init__(self, number: int, runs: PartitionRuns, changelog_next: int | None) -> None:
        self.number = number
        self.phase = Phase.INCOMPLETE
        self.runs = runs
        self.positions: dict[str, int | None] = {}
        """Source topic to the next offset that is committed; None before the first commit."""
        self.starts: dict[str, int] = {}
        """Source topic to the first offset that its log still held when the partition was restored."""
        self.topic_ids: dict[str, str] = {}
        """Source and changelog topics to their ids, as they were when the partition was restored."""
        self.changelog_next = changelog_next
        """The changelog offset up to which `runs` is in step, None where it must be read from the start."""
        self.halt_reason = ""

    def reading_offset(self, topic: str) -> int:
        """Where a source is read on: at its committed position, else at the start of its log."""
        position = self.positions.get(topic)
        return self.starts[topic] if position is None else position

    def is_placed(self, topic: str) -> bool:
        """Whether it is known where a source is read on."""
        return self.positions.get(topic) is not None or topic in self.starts

    def enter(self, phase: Phase) -> None:
        """Change the phase; an illegal change is a fault of ours.

        Raises:
            RuntimeError: The table above does not have the change.
        """
        if (self.phase, phase) not in _LEGAL:
            raise RuntimeError(f"partition {self.number}: illegal phase change {self.phase.name} -> {phase.name}")
        self.phase = phase


@dataclass(frozen=True, slots=True)
class Restored:
    """A partition whose run states are restored."""

    partition: Partition
    duration_s: float
    faults: list[str]
    """Why it may not be judged all the same; empty where it may."""


class Partitions:
    """The partition numbers assigned here."""

    def __init__(self, sources: Iterable[str]) -> None:
        self._sources = frozenset(sources)
        self._assigned: set[TopicPartition] = set()
        self._numbers: dict[int, Partition] = {}
        self._kept: dict[int, tuple[Partition, float]] = {}
        self.heard = False
        """Whether the group has ever said what is assigned here, be it nothing."""
        self.foreign: set[str] = set()
        """Topics that were assigned here and are no source of ours: they stay paused."""
        self.running: dict[int, Partition] = {}
        """The partitions that are judged, by number."""

    def __iter__(self) -> Iterator[Partition]:
        """Every partition number of which something is assigned here."""
        return iter(list(self._numbers.values()))

    def __len__(self) -> int:
        """How many partition numbers have something assigned here."""
        return len(self._numbers)

    def get(self, number: int) -> Partition | None:
        """A partition number's state, None where nothing of it is assigned here."""
        return self._numbers.get(number)

    def topic_partitions(self, number: int) -> list[TopicPartition]:
        """The topic-partitions of one number that are assigned here."""
        return sorted(entry for entry in self._assigned if entry.partition == number)

    def assign(self, assigned: Iterable[TopicPartition], now_s: float) -> list[Partition]:
        """Take over topic-partitions.

        Args:
            assigned: What was assigned.
            now_s: The monotonic clock, seconds.

        Returns:
            The partition numbers to restore now, in phase RESTORING: those of which every source is here.
        """
        self.heard = True
        entries = set(assigned)
        self.foreign = {entry.topic for entry in entries} - self._sources
        self._assigned.update(entry for entry in entries if entry.topic in self._sources)
        complete = []
        for number in sorted({entry.partition for entry in self._assigned}):
            partition = self._numbers.get(number)
            if partition is None:
                partition = self._numbers[number] = self._returned(number, now_s)
            here = {entry.topic for entry in self._assigned if entry.partition == number}
            if partition.phase is Phase.INCOMPLETE and here == self._sources:
                partition.enter(Phase.RESTORING)
                complete.append(partition)
        return complete

    def release(self, released: Iterable[TopicPartition], now_s: float) -> None:
        """Give topic-partitions up; their numbers are no longer judged, their committed run states kept a while."""
        gone = set(released)
        self.foreign = set()
        self._assigned -= gone
        for number in {entry.partition for entry in gone}:
            partition = self._numbers.pop(number, None)
            self.running.pop(number, None)
            if partition is None:
                continue
            partition.runs.drop()
            if partition.phase in (Phase.RUNNING, Phase.RESTORING) and partition.changelog_next is not None:
                self._kept[number] = (partition, now_s)
            if any(entry.partition == number for entry in self._assigned):
                self._numbers[number] = Partition(number, PartitionRuns(), None)

    def run(self, partition: Partition) -> None:
        """A partition is restored: judge it from now on."""
        partition.enter(Phase.RUNNING)
        self.running[partition.number] = partition

    def restore_again(self) -> list[Partition]:
        """A transaction's outcome is unknown: every running partition goes back to its changelog."""
        again = list(self.running.values())
        for partition in again:
            partition.enter(Phase.RESTORING)
        self.running.clear()
        return again

    def halt(self, partition: Partition, reason: str) -> None:
        """Stop judging a partition until it is assigned anew (or the process restarted), and remember why."""
        partition.enter(Phase.HALTED)
        partition.halt_reason = reason
        self.running.pop(partition.number, None)

    def in_phase(self, phase: Phase) -> list[Partition]:
        """The partitions that stand in a phase."""
        return [partition for partition in self._numbers.values() if partition.phase is phase]

    def drop_kept(self, now_s: float) -> None:
        """Free the run states of partitions that stayed away for too long."""
        self._kept = {n: kept for n, kept in self._kept.items() if now_s - kept[1] <= KEPT_STATE_MAX_S}

    def _returned(self, number: int, now_s: float) -> Partition:
        kept, left_s = self._kept.pop(number, (None, 0.0))
        if kept is None or now_s - left_s > KEPT_STATE_MAX_S:
            return Partition(number, PartitionRuns(), None)
        returned = Partition(number, kept.runs, kept.changelog_next)
        returned.positions = kept.positions
        returned.topic_ids = kept.topic_ids
        return returned
