"""Restores run states from the changelog, before the first record of a partition is judged.

For each partition number, in this order and no other:

1. read the committed offsets of every source, which waits for offsets that are still in a transaction;
2. then take the changelog's end, read uncommitted: what a read-committed consumer is told stops short of a
   transaction that is about to commit;
3. then read, committed, until the position is at that end.

Each `step` takes a bounded slice of that, so that the group member goes on polling however long it takes.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, Protocol

from relay.clock import Clock
from relay.codec import (
    CodecError,
    SourcePosition,
    changelog_subject,
    decode_run_state,
    decode_source_position,
)
from relay.errors import Fatal, NotAnswered
from relay.kafka.admin import Admin
from relay.kafka.log_reader import LogReader, LogRecord
from relay.partitions import Partition, Restored
from relay.records import TopicPartition
from relay.run_store import PartitionRuns

_SLICE_S: Final = 0.5
"""The longest that one question to the cluster blocks the loop."""


class CommittedOffsets(Protocol):
    """Where committed offsets are read: the group member."""

    def committed(
        self, partitions: Iterable[TopicPartition], timeout_s: float
    ) -> dict[TopicPartition, int | None] | None:
        """Committed next offsets, None for the whole when they are not known yet."""
        ...


@dataclass(slots=True)
class _Restore:
    """One partition's restore in hand."""

    partition: Partition
    started_s: float
    committed: dict[str, int | None] | None = None
    end: int | None = None
    topic_ids: dict[str, str] = field(default_factory=dict)
    starts: dict[str, int] = field(default_factory=dict)
    changelog_positions: dict[str, SourcePosition] = field(default_factory=dict)


class Restorer:
    """Restores partitions, a slice at a time.

    Args:
        sources: The source topics.
        changelog: The changelog topic's name.
        member: Where committed offsets are read.
        reader: Reads the changelog.
        admin: Knows the changelog's ends and the topics' ids.
        clock: Measures durations.
    """

    def __init__(
        self,
        sources: tuple[str, ...],
        changelog: str,
        member: CommittedOffsets,
        reader: LogReader,
        admin: Admin,
        clock: Clock,
    ) -> None:
        self._sources = sources
        self._changelog = changelog
        self._member = member
        self._reader = reader
        self._admin = admin
        self._clock = clock
        self._restores: dict[int, _Restore] = {}
        self._interned = {source: source for source in sources}

    def begin(self, partitions: Iterable[Partition]) -> None:
        """Take partitions in hand; each must be in phase RESTORING."""
        for partition in partitions:
            self._restores[partition.number] = _Restore(partition, self._clock.monotonic_s())

    def cancel(self, numbers: Iterable[int]) -> None:
        """Let partitions go that are no longer ours (or are halted)."""
        for number in numbers:
            if self._restores.pop(number, None) is not None:
                self._reader.stop(number)

    def step(self) -> list[Restored]:
        """Go on for a bounded while.

        Returns:
            The partitions that are restored now.

        Raises:
            Fatal: The changelog holds a record that cannot be read; the message names its offset.
        """
        self._learn_committed()
        self._learn_ends()
        waiting = [restore for restore in self._restores.values() if restore.end is not None]
        if waiting:
            for record in self._reader.read(0.05):
                restore = self._restores.get(record.partition)
                if restore is not None:
                    self._load(record, restore)
        return [self._finish(restore) for restore in waiting if self._caught_up(restore)]

    def _learn_committed(self) -> None:
        asking = [restore for restore in self._restores.values() if restore.committed is None]
        if not asking:
            return
        asked = [TopicPartition(source, restore.partition.number) for restore in asking for source in self._sources]
        answers = self._member.committed(asked, _SLICE_S)
        if answers is None:
            return
        for restore in asking:
            number = restore.partition.number
            restore.committed = {source: answers.get(TopicPartition(source, number)) for source in self._sources}

    def _learn_ends(self) -> None:
        asking = [r for r in self._restores.values() if r.committed is not None and r.end is None]
        if not asking:
            return
        try:
            ends = self._admin.log_ends(self._changelog, [r.partition.number for r in asking], _SLICE_S)
            ids = self._admin.topic_ids((*self._sources, self._changelog), _SLICE_S)
            numbers = [restore.partition.number for restore in asking]
            entries = [TopicPartition(source, number) for source in self._sources for number in numbers]
            starts = self._admin.log_starts(entries, _SLICE_S)
        except NotAnswered:
            return
        for restore in asking:
            number = restore.partition.number
            restore.starts = {source: starts[TopicPartition(source, number)] for source in self._sources}
            restore.topic_ids = {topic: topic_id for topic, (topic_id, _count) in ids.items()}
            restore.end = ends[number]
            kept = restore.partition.changelog_next
            self._reader.start(number, kept)
            if kept is not None and kept > restore.end:
                self._start_over(restore)  # the log was cut or made anew: what was kept may not be in it

    def _caught_up(self, restore: _Restore) -> bool:
        number = restore.partition.number
        if self._reader.out_of_range(number):
            self._start_over(restore)  # the log no longer reaches back to what was kept
            return False
        return restore.end is not None and self._reader.position(number) >= restore.end

    def _start_over(self, restore: _Restore) -> None:
        """What was kept cannot be brought up to date: forget it, and read the whole log."""
        restore.partition.runs = PartitionRuns()
        restore.partition.changelog_next = None
        restore.partition.positions.clear()
        restore.changelog_positions.clear()
        self._reader.start(restore.partition.number, None)

    def _load(self, record: LogRecord, restore: _Restore) -> None:
        try:
            kind, name = changelog_subject(record.key)
            if kind == "source":
                if record.value is not None:
                    restore.changelog_positions[name] = decode_source_position(record.value)
            elif record.value is None:
                restore.partition.runs.forget([name])
            else:
                state = decode_run_state(record.value)
                source = self._interned.setdefault(state.source, state.source)
                restore.partition.runs.load(name, state._replace(source=source))
        except CodecError as error:
            place = f"{self._changelog} partition {record.partition} offset {record.offset}"
            raise Fatal(f"{place}: {error}; the changelog is the authority and is never skipped") from error

    def _finish(self, restore: _Restore) -> Restored:
        partition = restore.partition
        number = partition.number
        del self._restores[number]
        partition.changelog_next = self._reader.position(number)
        self._reader.stop(number)
        committed = restore.committed or {}
        known = {source: p.next_offset for source, p in restore.changelog_positions.items()}
        # A replay from a remembered offset sees only what changed since: the rest is as it was left.
        known = {**{s: o for s, o in partition.positions.items() if o is not None}, **known}
        known_ids = dict(partition.topic_ids)
        for source, position in restore.changelog_positions.items():
            known_ids |= {source: position.topic_id, self._changelog: position.changelog_id}
        faults = []
        for source in self._sources:
            faults += _position_faults(source, known.get(source), committed.get(source))
            faults += _retention_faults(source, restore.starts[source], committed.get(source))
        for topic in (*self._sources, self._changelog):
            faults += _topic_faults(topic, known_ids.get(topic, ""), restore.topic_ids.get(topic, ""))
        partition.positions = dict(committed)
        partition.starts = restore.starts
        partition.topic_ids = restore.topic_ids
        return Restored(partition, self._clock.monotonic_s() - restore.started_s, faults)


def _position_faults(source: str, known: int | None, committed: int | None) -> list[str]:
    """The group's committed offset and the changelog tell different stories."""
    if committed == known:
        return []
    fault = (
        f"{source}: the changelog says the next offset is {_said(known)}, the group's committed offset is "
        f"{_said(committed)}; restore the one that is wrong, nothing is jumped over"
    )
    return [fault]


def _retention_faults(source: str, start: int, committed: int | None) -> list[str]:
    """Records were deleted before they were read."""
    if committed is None or committed >= start:
        return []
    return [f"{source}: the committed offset is {committed}, retention has deleted all before {start}; they are lost"]


def _topic_faults(topic: str, known_id: str, live_id: str) -> list[str]:
    """The topic was deleted and made anew."""
    if not known_id or not live_id or known_id == live_id:
        return []
    return [
        f"{topic}: the topic was made anew (its id was {known_id}, is {live_id}); its old offsets mean nothing in it"
    ]


def _said(offset: int | None) -> str:
    return "none" if offset is None else str(offset)
